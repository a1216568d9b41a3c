"""Where a secret may be sent: origins, each a scheme, a host and a port."""

from collections.abc import Iterable, Mapping

from yarl import URL

from agentui.errors import BadRequest

KNOWN_ORIGINS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("https://api.anthropic.com",),
    "deepseek": ("https://api.deepseek.com",),
    "gemini": ("https://generativelanguage.googleapis.com",),
    "mistral": ("https://api.mistral.ai",),
    "openai": ("https://api.openai.com",),
    "openrouter": ("https://openrouter.ai",),
}
"""The origins that a secret of such a name is bound to when nobody says otherwise."""


def origin_of(url: str) -> str:
    """The URL's origin in one spelling: lower case, without the scheme's own port. Raises BadRequest for what has none.

    The URL is read by the parser that also makes the connection, so that both see the same host.
    """
    try:
        parsed = URL(url)
        origin = str(parsed.origin())
    except ValueError as error:
        raise BadRequest("An origin looks like https://host or http://host:port.", param="origins") from error
    if parsed.scheme not in ("http", "https"):
        raise BadRequest("An origin begins with http:// or https://.", param="origins")
    return origin


def read_origins(origins: Iterable[str] | None) -> frozenset[str] | None:
    """Origins in one spelling; None (bound to nothing, free to go anywhere) stays None."""
    return None if origins is None else frozenset(map(origin_of, origins))
