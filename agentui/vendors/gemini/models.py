"""Model lists, token counts and embeddings."""

import base64
import struct
from collections.abc import Sequence

from agentui.chat.request import WireRequest
from agentui.errors import BadRequest, UnsupportedFeature, UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.base import ModelInfo
from agentui.vendors.gemini.parts import GEMINI
from agentui.vendors.gemini.protojson import Malformed, integer, items, member, obj
from agentui.vendors.gemini.request import default_endpoint, resource


def models_endpoint() -> str:
    """The whole list in one page: Google gives at most 1000 at a time."""
    return "/v1beta/models?pageSize=1000"


def parse_models(body: Json) -> list[ModelInfo]:
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


def render_models(models: Sequence[ModelInfo]) -> Json:
    """All models in one page."""
    return {"models": [render_model(model) for model in models]}


def render_model(model: ModelInfo) -> Json:
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


def parse_token_count(body: Json) -> int:
    """``totalTokens``; proto JSON leaves a zero out. Raises UpstreamInvalid."""
    try:
        if isinstance(body, dict) and "error" not in body:
            return integer(body, "totalTokens") or 0
    except Malformed as error:
        raise UpstreamInvalid("The upstream's token count is not a number.") from error
    raise UpstreamInvalid("The upstream answered a token count with something else.")


def render_token_count(tokens: int) -> Json:
    """``{"totalTokens": n}``."""
    return {"totalTokens": tokens}


def render_embeddings_request(wire: WireRequest) -> WireRequest:
    """An OpenAI embeddings request as ``batchEmbedContents``, one request a text.

    Raises BadRequest for an input that is neither, UnsupportedFeature for token numbers.
    """
    size = wire.body.get("dimensions")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
        raise BadRequest("dimensions must be a whole number.", param="dimensions")
    extra: dict[str, Json] = {} if size is None else {"outputDimensionality": size}
    name = resource(wire.model)
    requests = [{"model": name, "content": {"parts": [{"text": words}]}, **extra} for words in _inputs(wire.body.get("input"))]
    return WireRequest(
        vendor="gemini",
        operation="embeddings",
        model=wire.model,
        stream=False,
        path=default_endpoint(wire.model, "embeddings", stream=False),
        body={"requests": requests},
        dropped=("user",) if wire.body.get("user") is not None else (),
    )


def _inputs(value: Json) -> list[str]:
    """The texts to embed."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        raise BadRequest("input must be a string or a list of strings.", param="input")
    if all(isinstance(words, str) for words in texts):
        return texts
    if all(isinstance(tokens, int | list) for tokens in texts):
        raise UnsupportedFeature("Gemini embeds texts, not token numbers: send input as strings.", param="input")
    raise BadRequest("input must be a string or a list of strings.", param="input")


def parse_embeddings_reply(body: Json, wire: WireRequest) -> Json:
    """The embeddings as OpenAI's list; base64 little-endian float32 where ``wire`` asked for it. Raises UpstreamInvalid."""
    packed = wire.body.get("encoding_format") == "base64"
    try:
        vectors = [_vector(entry) for entry in items(body if isinstance(body, dict) else {}, "embeddings")]
        tokens = (integer(obj(body, "usageMetadata"), "promptTokenCount") or 0) if vectors else 0
    except Malformed as error:
        raise UpstreamInvalid(f"The upstream's embeddings are not Gemini's: {error.message}") from error
    if len(vectors) != len(_inputs(wire.body.get("input"))):
        raise UpstreamInvalid(f"The upstream answered {len(vectors)} embeddings, which is not one for each input.")
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": place, "embedding": _pack(vector) if packed else vector}
            for place, vector in enumerate(vectors)
        ],
        "model": wire.model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _vector(entry: Json) -> list[float]:
    values = items(entry, "values") if isinstance(entry, dict) else []
    if not values or not all(isinstance(value, int | float) for value in values):
        raise Malformed("every embedding needs a list of numbers.", "values")
    return values


def _pack(vector: list[float]) -> str:
    """Little-endian float32 in base64, as openai-python unpacks it."""
    try:
        return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
    except OverflowError as error:
        raise UpstreamInvalid("The upstream's embedding holds a number that is no float32.") from error
