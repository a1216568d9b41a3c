"""What the server speaks of: editor, provider presets."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ListedModel(TypedDict):
    """A model of a provider's list; ``display_name`` is null where it says none."""

    id: str
    display_name: str | None


class ModelsRequest(TypedDict):
    """Whose models are listed: the fields of a ProviderCall that say where it calls, templates and ``[[SECRET:name]]``
    too.
    """

    provider: str
    base_url: NotRequired[str]
    headers: NotRequired[dict[str, str]]
    proxy: NotRequired[str]
