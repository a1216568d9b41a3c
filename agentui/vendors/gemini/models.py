"""Model lists."""

from collections.abc import Sequence

from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.base import ModelInfo
from agentui.vendors.gemini.parts import GEMINI
from agentui.vendors.gemini.protojson import member


def endpoint() -> str:
    """The whole list in one page: Google gives at most 1000 at a time."""
    return "/v1beta/models?pageSize=1000"


def parse_list(body: Json) -> list[ModelInfo]:
    """``models`` without their ``models/`` prefix. Raises UpstreamInvalid."""
    entries = body.get("models") if isinstance(body, dict) else None
    # Proto JSON leaves an empty list out.
    if isinstance(body, dict) and not body:
        return []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UpstreamInvalid("The upstream's model list is not Gemini's: it has no list of models.")
    return [_parse_model(entry) for entry in entries if isinstance(entry.get("name"), str)]


def _parse_model(entry: dict[str, Json]) -> ModelInfo:
    title = member(entry, "displayName")
    return ModelInfo(
        id=entry["name"].removeprefix("models/"),
        display_name=title if isinstance(title, str) else None,
        owner="google",
        raw=entry,
        raw_vendor=GEMINI,
    )


def render_list(models: Sequence[ModelInfo]) -> Json:
    """All models in one page."""
    return {"models": [render_entry(model) for model in models]}


def render_entry(model: ModelInfo) -> Json:
    """One model: Gemini's own entry where it came from there."""
    if model.raw_vendor == GEMINI and model.raw is not None:
        return model.raw
    # Names that the proxy serves need not fit a URL (pipeline/x), so nothing is checked here.
    name = model.id if model.id.startswith(("models/", "tunedModels/")) else f"models/{model.id}"
    return {
        "name": name,
        "displayName": model.display_name or model.id,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
    }
