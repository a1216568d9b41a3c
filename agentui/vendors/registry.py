"""The four dialects in one place."""

from agentui.vendors.base import Vendors
from agentui.vendors.claude import Claude
from agentui.vendors.gemini import Gemini
from agentui.vendors.openai import OpenAI
from agentui.vendors.openai_responses import OpenAIResponses


def make_vendors() -> Vendors:
    """Every dialect by its name."""
    return Vendors({"openai": OpenAI(), "openai_responses": OpenAIResponses(), "claude": Claude(), "gemini": Gemini()})
