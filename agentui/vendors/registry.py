"""The four dialects in one place.

Each is some fifteen modules, and few servers speak all four: so the code of a dialect is loaded when somebody first speaks it,
which takes about a hundredth of a second.
"""

from agentui.vendors.base import Vendor, Vendors


def make_vendors() -> Vendors:
    """Every dialect by its name."""
    return Vendors({"openai": _openai, "openai_responses": _openai_responses, "claude": _claude, "gemini": _gemini})


def _openai() -> Vendor:
    from agentui.vendors.openai import OpenAI

    return OpenAI()


def _openai_responses() -> Vendor:
    """With a shelf of its own for the answers made here."""
    from agentui.vendors.openai_responses import OpenAIResponses
    from agentui.vendors.openai_responses.shelf import Shelf

    return OpenAIResponses(Shelf())


def _claude() -> Vendor:
    from agentui.vendors.claude import Claude

    return Claude()


def _gemini() -> Vendor:
    from agentui.vendors.gemini import Gemini

    return Gemini()
