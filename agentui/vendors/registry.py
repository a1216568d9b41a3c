"""The four dialects in one place."""

from collections.abc import Mapping

from agentui.chat.request import VendorName
from agentui.vendors.base import Vendors
from agentui.vendors.claude import Claude
from agentui.vendors.gemini import Gemini
from agentui.vendors.openai import OpenAI
from agentui.vendors.openai_responses import OpenAIResponses

VENDOR_TITLES: Mapping[VendorName, str] = {kind.name: kind.title for kind in (OpenAI, OpenAIResponses, Claude, Gemini)}
"""Every dialect's name for people."""


def make_vendors() -> Vendors:
    """Every dialect by its name; those that keep something (see ``OpenAIResponses``) keep it for this registry alone."""
    return {vendor.name: vendor for vendor in (OpenAI(), OpenAIResponses(), Claude(), Gemini())}
