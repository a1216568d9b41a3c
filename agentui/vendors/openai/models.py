"""The list of models: ``{"object": "list", "data": [{"id", "object": "model", "created", "owned_by"}]}``."""

from collections.abc import Sequence

from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.base import ModelInfo
from agentui.vendors.openai.messages import VENDOR


def endpoint() -> str:
    """Where the list is."""
    return "/v1/models"


def parse_list(body: Json) -> list[ModelInfo]:
    """The models of a list, or of a bare array, which some compatible servers send. Raises UpstreamInvalid.

    Entries without an id are skipped: there is nothing to call them by.
    """
    entries = body.get("data") if isinstance(body, dict) else body
    if not isinstance(entries, list):
        raise UpstreamInvalid("The upstream's answer is not an OpenAI model list: it has no list named data.")
    return [_parse_model(entry) for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]


def render_list(models: Sequence[ModelInfo]) -> Json:
    """The list for a caller."""
    return {"object": "list", "data": [render_entry(model) for model in models]}


def render_entry(model: ModelInfo) -> Json:
    """One entry; the upstream's own where it was of this dialect."""
    if model.raw_vendor == VENDOR and model.raw is not None:
        return model.raw
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": model.owner}


def _parse_model(entry: dict[str, Json]) -> ModelInfo:
    """One entry. ``name`` is OpenRouter's title for people."""
    name, created, owner = entry.get("name"), entry.get("created"), entry.get("owned_by")
    return ModelInfo(
        entry["id"],
        name if isinstance(name, str) else None,
        created if isinstance(created, int) else 0,
        owner if isinstance(owner, str) else "agentui",
        entry,
        VENDOR,
    )
