"""Embeddings: ``batchEmbedContents``."""

import base64
import struct

from agentui.chat.request import WireRequest
from agentui.errors import BadRequest, UnsupportedFeature, UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.gemini.protojson import Malformed, integer, items, obj
from agentui.vendors.gemini.request import method_path, resource


def endpoint(model: str) -> str:
    """The method of the model. Raises BadRequest."""
    return method_path("v1beta", model, "batchEmbedContents")


def render_request(wire: WireRequest) -> WireRequest:
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
        path=endpoint(wire.model),
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


def parse_reply(body: Json, wire: WireRequest) -> Json:
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
