"""The four dialects in one place."""

from agentui.vendors.base import Vendors
from agentui.vendors.claude import Claude
from agentui.vendors.gemini import Gemini
from agentui.vendors.openai import OpenAI
from agentui.vendors.openai_responses import OpenAIResponses
from agentui.vendors.openai_responses.shelf import Shelf


def make_vendors() -> Vendors:
    """Every dialect by its name, with a shelf of its own for the answers made here."""
    responses = OpenAIResponses(Shelf())
    return Vendors({"openai": OpenAI(), "openai_responses": responses, "claude": Claude(), "gemini": Gemini()})
