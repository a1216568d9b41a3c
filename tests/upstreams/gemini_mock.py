"""Gemini's generateContent and its neighbours: how a step is answered. What is refused stands in ``gemini_rules``."""

import json
from collections.abc import Iterator

from tests.upstreams import gemini_rules
from tests.upstreams.exchange import Exchange, Refused, dumps, halves
from tests.upstreams.gemini_shapes import COUNT, EMBED, GENERATE, camel
from tests.upstreams.shapes import Json
from tests.upstreams.step import Step

_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "stop_sequence": "STOP", "content_filter": "SAFETY"}


class GeminiMock:
    """The dialect of POST /{version}/models/{model}:{operation}."""

    name = "gemini"

    def content_type(self, exchange: Exchange) -> str:
        """Events where the caller asked for them, else a JSON array that grows."""
        return "text/event-stream" if exchange.query.get("alt") == "sse" else "application/json; charset=UTF-8"

    def check(self, exchange: Exchange) -> None:
        """Raise Refused as Gemini would."""
        gemini_rules.check(exchange)

    def tool_names(self, body: Json) -> tuple[str, ...]:
        """The names of the declared functions."""
        tools = gemini_rules.read(GENERATE, body).get("tools", ()) if "tools" in body else ()
        return tuple(one["name"] for tool in tools for one in tool.get("functionDeclarations", ()))

    def tool_results(self, body: Json) -> list[str]:
        """The function responses of the last content, as JSON text."""
        contents = body.get("contents") or [{}]
        parts = [{camel(key): value for key, value in part.items()} for part in contents[-1].get("parts", ())]
        return [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]

    def refusal(self, exchange: Exchange) -> Refused:
        """The error that the step asks for; waiting times stand in RetryInfo, not in a header."""
        step = exchange.step
        details: list[Json] = []
        if step.retry_after is not None:
            details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{step.retry_after}s"})
        if step.quota:
            failure = {"quotaMetric": "requests", "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}
            details.append({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [failure]})
        return gemini_rules.refuse(step.message, step.status, details)

    def answer(self, exchange: Exchange) -> Json:
        """A whole answer."""
        match exchange.operation:
            case "countTokens":
                tokens = exchange.step.tokens.input
                gemini_rules.read(COUNT, exchange.body)
                return {"totalTokens": tokens, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}]}
            case "batchEmbedContents":
                return {"embeddings": [{"values": _vector(one)} for one in exchange.body["requests"]]}
            case "embedContent":
                return {"embedding": {"values": _vector(exchange.body)}}
        return _whole(exchange)

    def events(self, exchange: Exchange) -> Iterator[bytes]:
        """A streamed answer: events, or the members of an array."""
        if exchange.query.get("alt") == "sse":
            for chunk in _chunks(exchange):
                yield frame(chunk)
            return
        opening = "["
        for chunk in _chunks(exchange):
            yield f"{opening}{dumps(chunk)}".encode()
            opening = ",\r\n"
        yield b"]"

    def failure(self, exchange: Exchange) -> bytes:
        """The error in the middle of a stream."""
        error = gemini_rules.refuse(exchange.step.message, 503).body
        return frame(error) if exchange.query.get("alt") == "sse" else f",\r\n{dumps(error)}]".encode()


def frame(value: Json) -> bytes:
    """One server-sent event; Google ends lines with CR LF."""
    return f"data: {dumps(value)}\r\n\r\n".encode()


def _vector(request: Json) -> list[float]:
    """Three numbers for a text."""
    content = gemini_rules.read(EMBED, request)["content"]
    return [0.5, -0.25, float(sum(len(part.get("text", "")) for part in content["parts"]))]


def _extra(step: Step, value: dict[str, Json]) -> dict[str, Json]:
    """The value, with a field nobody knows where the step wants that."""
    return {**value, "xUnknown": {"new": "✓", "none": None}} if step.extras else value


def _config(exchange: Exchange) -> dict[str, Json]:
    """The generation config with camelCase names."""
    config: dict[str, Json] = gemini_rules.read(GENERATE, exchange.body).get("generationConfig", {})
    return config


def _usage(step: Step) -> Json:
    """Usage; candidates leave the thoughts out, the total does not."""
    tokens = step.tokens
    usage = {
        "promptTokenCount": tokens.input,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "totalTokenCount": tokens.input + tokens.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens.input}],
    }
    if tokens.reasoning:
        usage["thoughtsTokenCount"] = tokens.reasoning
    if tokens.cache_read:
        usage["cachedContentTokenCount"] = tokens.cache_read
    return usage


def _head(exchange: Exchange) -> dict[str, Json]:
    """The fields that every chunk carries."""
    return {"modelVersion": exchange.model, "responseId": f"mock-response-{exchange.serial}"}


def _blocked(exchange: Exchange) -> dict[str, Json]:
    """The answer to a prompt that the filter stopped: no candidates."""
    usage = {"promptTokenCount": exchange.step.tokens.input, "totalTokenCount": exchange.step.tokens.input}
    return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage, **_head(exchange)}


def _ending(exchange: Exchange, spoken: list[str]) -> dict[str, Json]:
    """Why a candidate ends, with ratings and log probabilities."""
    step = exchange.step
    ending: dict[str, Json] = {"finishReason": _FINISH[step.finish]}
    if step.finish == "content_filter":
        ending["safetyRatings"] = [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}]
    config = _config(exchange)
    if config.get("responseLogprobs"):
        rivals = config.get("logprobs", 0)
        ending["avgLogprobs"] = -0.25
        ending["logprobsResult"] = {
            "chosenCandidates": [{"token": piece, "tokenId": 1, "logProbability": -0.25} for piece in spoken],
            "topCandidates": [{"candidates": _rivals(piece, rivals)} for piece in spoken],
        }
    return ending


def _rivals(piece: str, count: int) -> list[Json]:
    """The most probable tokens in a place, the chosen one first."""
    names = [piece, *(f"rival{number}" for number in range(1, count))][:count]
    return [{"token": name, "tokenId": n, "logProbability": -0.25 * (n + 1)} for n, name in enumerate(names)]


def _leading_parts(exchange: Exchange) -> list[Json]:
    """The thought before the answer, where the request wants to see it."""
    shows = _config(exchange).get("thinkingConfig", {}).get("includeThoughts")
    return [{"text": piece, "thought": True} for piece in halves(exchange.step.thinking or "")] if shows else []


def _call_parts(exchange: Exchange) -> list[Json]:
    """The calls; the first one carries the signature of the step's thought."""
    parts: list[Json] = []
    for number, call in enumerate(exchange.step.calls):
        function: dict[str, Json] = {"name": exchange.tool_name(call.name), "args": json.loads(call.arguments or "{}")}
        if exchange.model.startswith("gemini-3") or call.id:
            function["id"] = call.id or f"fc-mock{exchange.serial}-{number}"
        part: dict[str, Json] = {"functionCall": function}
        if number == 0 and _signs(exchange):
            part["thoughtSignature"] = exchange.vault.issue("gemini", exchange.step.thinking or "")
        parts.append(part)
    return parts


def _signs(exchange: Exchange) -> bool:
    """Whether this answer carries a signature: always on Gemini 3, elsewhere only beside a thought."""
    return exchange.step.thinking is not None or exchange.model.startswith("gemini-3")


def _closing_parts(exchange: Exchange) -> list[Json]:
    """A signed empty text part after an answer without calls that was thought about."""
    if not exchange.step.thinking or exchange.step.calls:
        return []
    return [{"text": "", "thoughtSignature": exchange.vault.issue("gemini", exchange.step.thinking)}]


def _candidate(exchange: Exchange, number: int, parts: list[Json], **more: Json) -> dict[str, Json]:
    """One candidate of a chunk or of a whole answer."""
    candidate: dict[str, Json] = {"content": {"parts": parts, "role": "model"}, "index": number, **more}
    return _extra(exchange.step, candidate)


def _whole(exchange: Exchange) -> Json:
    """An answer that is not streamed."""
    step = exchange.step
    if step.blocked:
        return _blocked(exchange)
    candidates = []
    for number in range(_config(exchange).get("candidateCount", 1)):
        text = step.refusal or step.words(number)
        parts = _leading_parts(exchange)
        parts += [{"text": text}] if text else []
        parts += [*_call_parts(exchange), *_closing_parts(exchange)]
        candidates.append(_candidate(exchange, number, parts, **_ending(exchange, _spoken(step, number))))
    return _extra(step, {"candidates": candidates, "usageMetadata": _usage(step), **_head(exchange)})


def _spoken(step: Step, number: int) -> list[str]:
    """The pieces of one candidate's text."""
    return [] if step.forever else list(step.pieces(number))


def _chunks(exchange: Exchange) -> Iterator[Json]:
    """The chunks of a streamed answer; usage so far stands in each, the reason only in the last."""
    step = exchange.step
    if step.blocked:
        yield _blocked(exchange)
        return
    tail: dict[str, Json] = {"usageMetadata": {"promptTokenCount": step.tokens.input, "totalTokenCount": step.tokens.input}}
    tail.update(_head(exchange))
    numbers = range(_config(exchange).get("candidateCount", 1))
    for number in numbers:
        for part in _leading_parts(exchange):
            yield _extra(step, {"candidates": [_candidate(exchange, number, [part])], **tail})
    for number in numbers:
        for piece in halves(step.refusal) if step.refusal else step.pieces(number):
            yield _extra(step, {"candidates": [_candidate(exchange, number, [{"text": piece}])], **tail})
    for number in numbers:
        for part in _call_parts(exchange):
            yield _extra(step, {"candidates": [_candidate(exchange, number, [part])], **tail})
    for number in numbers:
        parts = _closing_parts(exchange) or [{"text": ""}]
        ending = _ending(exchange, _spoken(step, number))
        chunk = {"candidates": [_candidate(exchange, number, parts, **ending)], **tail, "usageMetadata": _usage(step)}
        yield _extra(step, chunk)
