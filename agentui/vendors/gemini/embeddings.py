"""Embeddings: ``embedContent`` and ``batchEmbedContents``."""

import base64
import struct
from dataclasses import replace

from agentui.chat.request import WireRequest
from agentui.errors import BadRequest, UnsupportedFeature, UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.fields import told_count
from agentui.vendors.gemini.protojson import Malformed, integer, items, member, obj
from agentui.vendors.gemini.request import method_path, resource

_ONE = ":embedContent"


def endpoint(wire: WireRequest) -> str:
    """The method that was asked for; several texts at once elsewhere. Raises BadRequest."""
    method = "embedContent" if wire.path.endswith(_ONE) else "batchEmbedContents"
    return method_path("v1beta", wire.model, method)


def parse_request(wire: WireRequest) -> WireRequest:
    """A caller's request as OpenAI's. Raises BadRequest without texts, UnsupportedFeature for pictures and several sizes."""
    asked = [wire.body] if wire.path.endswith(_ONE) else wire.body.get("requests")
    if not isinstance(asked, list) or not asked or not all(isinstance(one, dict) for one in asked):
        raise BadRequest("requests must be a list of objects with content.", param="requests")
    try:
        texts = [_words(one) for one in asked]
        sizes = {integer(one, "outputDimensionality") for one in asked}
    except Malformed as error:
        raise BadRequest(error.message, param=error.where or "content") from error
    if len(sizes) > 1:
        raise UnsupportedFeature("The texts of one request must be embedded in one size here.", param="outputDimensionality")
    size = sizes.pop()
    extra: dict[str, Json] = {} if size is None else {"dimensions": size}
    dropped = tuple(name for name in ("taskType", "title") if any(member(one, name) is not None for one in asked))
    body: dict[str, Json] = {"model": wire.model, "input": texts, "encoding_format": "float", **extra}
    return replace(wire, path="", body=body, query={}, headers={}, dropped=dropped)


def _words(asked: dict[str, Json]) -> str:
    parts = items(obj(asked, "content"), "parts")
    if not parts:
        raise Malformed("content must have parts.", "content")
    if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts):
        raise UnsupportedFeature("Only texts can be embedded by this provider.", param="content")
    return "".join(part["text"] for part in parts)


def render_reply(answer: Json, wire: WireRequest) -> Json:
    """OpenAI's vectors as ``embedding`` or ``embeddings``. Raises UpstreamInvalid."""
    data = answer.get("data") if isinstance(answer, dict) else None
    try:
        entries = sorted(data or [], key=lambda entry: entry["index"])
        vectors: list[Json] = [{"values": [float(value) for value in entry["embedding"]]} for entry in entries]
    except (KeyError, TypeError, ValueError) as error:
        raise UpstreamInvalid(
            "The upstream's embeddings are not OpenAI's: each needs an index and a list of numbers."
        ) from error
    if not vectors:
        raise UpstreamInvalid("The upstream answered without embeddings.")
    usage = answer.get("usage")
    tokens = told_count(usage, "prompt_tokens")
    told: dict[str, Json] = {} if tokens is None else {"usageMetadata": {"promptTokenCount": tokens}}
    return {"embedding": vectors[0], **told} if wire.path.endswith(_ONE) else {"embeddings": vectors, **told}


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
        path=method_path("v1beta", wire.model, "batchEmbedContents"),
        body={"requests": requests},
        dropped=(*wire.dropped, *(("user",) if wire.body.get("user") is not None else ())),
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
