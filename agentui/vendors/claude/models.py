"""Model lists in Claude's dialect."""

from collections.abc import Sequence
from datetime import UTC, datetime

from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.base import ModelInfo
from agentui.vendors.capabilities import known_capabilities

_LAST_SECOND = 253_402_300_799
"""The end of the year 9999: dates go no further."""


def goes_on(model: str | None) -> bool:
    """Whether a model, by its name, is of the kind that begins its answer with the words that a prompt ends with."""
    return "claude" in (model or "").lower() and takes_prefill(model)


def takes_prefill(model: str | None) -> bool:
    """Whether a prompt may end with words of the model's, as far as its name tells: Claude has refused them since 4.6."""
    return known_capabilities("claude", model or "").prefill


def endpoint() -> str:
    """The list, with as many entries as one page may hold."""
    return "/v1/models?limit=1000"


def parse_list(body: Json) -> list[ModelInfo]:
    """Take the dialect off a list. Raises UpstreamInvalid."""
    entries = body.get("data") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        raise UpstreamInvalid("The upstream's answer is not a Claude model list: it has no list of data.")
    return [_parse_model(entry) for entry in entries]


def _parse_model(entry: Json) -> ModelInfo:
    """One model."""
    if not isinstance(entry, dict) or not isinstance(id := entry.get("id"), str):
        raise UpstreamInvalid("The upstream's answer is not a Claude model list: an entry has no id.")
    name = entry.get("display_name")
    return ModelInfo(
        id, name if isinstance(name, str) else None, _seconds(entry.get("created_at")), "anthropic", entry, "claude"
    )


def render_list(models: Sequence[ModelInfo]) -> Json:
    """A list on one page."""
    return {
        "data": [render_entry(model) for model in models],
        "has_more": False,
        "first_id": models[0].id if models else None,
        "last_id": models[-1].id if models else None,
    }


def render_entry(model: ModelInfo) -> Json:
    """One model; an unknown date is the start of 1970, as Claude's own list has it."""
    if model.raw_vendor == "claude":
        return model.raw
    created = datetime.fromtimestamp(max(0, min(model.created, _LAST_SECOND)), UTC)
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.display_name or model.id,
        "created_at": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lifecycle": "active",
    }


def _seconds(created_at: Json) -> int:
    """Seconds since 1970 of a date in RFC 3339, 0 where there is none."""
    if not isinstance(created_at, str):
        return 0
    try:
        moment = datetime.fromisoformat(created_at)
    except ValueError:
        return 0
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
