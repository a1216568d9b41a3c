"""The providers that profiles name: which dialect each speaks, and where."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from agentui.chat.request import VendorName
from agentui.chats.codes import failure
from agentui.jsonio import Json
from agentui.profiles.records import Provider
from agentui.secrets.origins import origin_of
from agentui.vendors.base import Vendors


class Way(NamedTuple):
    """A dialect, and the address that calls go to where a profile has none; "" where it has to have one."""

    vendor: VendorName
    base_url: str


PROVIDERS: Final[Mapping[Provider, Way]] = {
    "openai": Way("openai", "https://api.openai.com"),
    "anthropic": Way("claude", "https://api.anthropic.com"),
    "google": Way("gemini", "https://generativelanguage.googleapis.com"),
    "deepseek": Way("openai", "https://api.deepseek.com"),
    "xai": Way("openai", "https://api.x.ai"),
    "openai-compatible": Way("openai", ""),
}
_ENDS_IN_API = re.compile(r"/(?:v[0-9]+(?:alpha|beta)?[0-9]*|openai)/?$")
"""How an address ends that OpenAI's own packages take: their paths come behind it without a version."""
_IS_V1 = re.compile(r"/v1/?$")


def address_of(provider: Provider, base_url: str | None) -> str:
    """Where a profile calls. Raises 400 ``validation_error`` for openai-compatible without an address."""
    address = base_url or PROVIDERS[provider].base_url
    if not address:
        raise failure("validation_error", "base_url: a server that is openai-compatible has an address of its own; say which.")
    return address


def bound_origin(provider: Provider, base_url: str | None) -> str:
    """The origin that a profile's key may go to. Raises as ``address_of``, and BadRequest for what is no address."""
    return origin_of(address_of(provider, base_url))


def call_fields(vendors: Vendors, provider: Provider, base_url: str | None, model: str, secret: str) -> dict[str, Json]:
    """The fields of a ProviderCall that calls a profile's model with the secret of that name as its key.

    What is compatible with OpenAI speaks chat completions. An address that ends as OpenAI's packages take it (``/v4``,
    ``/v1beta/openai``) gets their path behind it, any other ``/v1/chat/completions``.
    """
    name = PROVIDERS[provider].vendor
    address = address_of(provider, base_url)
    has_version = name == "openai" and _ENDS_IN_API.search(address) and not _IS_V1.search(address)
    return {
        "provider": name,
        "base_url": address,
        "endpoint": "/chat/completions" if has_version else "",
        "headers": dict(vendors[name].auth_headers(f"[[SECRET:{secret}]]")),
        "proxy": "",
        "template": "",
        "capabilities": "",
        "model": model,
        "targets": [],
    }


def other_dialect(fields: dict[str, Json]) -> dict[str, Json] | None:
    """The same call in OpenAI's other dialect (Responses), which some models are served by alone; None for other providers."""
    if fields["provider"] != "openai":
        return None
    return {**fields, "provider": "openai_responses", "endpoint": "/responses" if fields["endpoint"] else ""}


def list_path(vendors: Vendors, provider: Provider, base_url: str | None) -> str:
    """The path and query of a provider's list of models."""
    name = PROVIDERS[provider].vendor
    address = address_of(provider, base_url)
    is_own = name == "openai" and _ENDS_IN_API.search(address) and not _IS_V1.search(address)
    return "/models" if is_own else vendors[name].models.endpoint()
