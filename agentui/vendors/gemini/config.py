"""``generationConfig``: sampling, limits, the answer's format and thinking."""

from collections.abc import Mapping
from typing import Final

from agentui.chat.request import ChatRequest, Effort, Params, ResponseFormat, ThinkingConfig
from agentui.errors import UnsupportedFeature
from agentui.jsonio import Json
from agentui.vendors.gemini.protojson import Malformed, flag, integer, items, label_of, member, number, obj, text
from agentui.vendors.gemini.schema import to_json_schema

MAX_STOPS: Final = 5

_MODELLED: Final = {
    "temperature",
    "topP",
    "topK",
    "maxOutputTokens",
    "stopSequences",
    "candidateCount",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "thinkingConfig",
    "responseLogprobs",
    "logprobs",
}

# How many tokens an effort is worth: compatibility notes, part 1 "Thinking".
_BUDGET: Final[dict[Effort, int]] = {
    "none": 0,
    "minimal": 1024,
    "low": 1024,
    "medium": 4096,
    "high": 16384,
    "xhigh": 32768,
    "max": 32768,
}
_EFFORT: Final[dict[str, Effort]] = {"MINIMAL": "minimal", "LOW": "low", "MEDIUM": "medium", "HIGH": "high", "XHIGH": "xhigh"}


def parse_params(config: Mapping[str, Json]) -> Params:
    """Sampling and limits. Raises Malformed."""
    stops = items(config, "stopSequences")
    if not all(isinstance(stop, str) for stop in stops):
        raise Malformed("stopSequences must hold strings.", "stopSequences")
    return Params(
        temperature=number(config, "temperature"),
        top_p=number(config, "topP"),
        top_k=integer(config, "topK"),
        max_tokens=integer(config, "maxOutputTokens"),
        stop=tuple(stops) or None,
        n=integer(config, "candidateCount"),
        seed=integer(config, "seed"),
        presence_penalty=number(config, "presencePenalty"),
        frequency_penalty=number(config, "frequencyPenalty"),
        logprobs=flag(config, "responseLogprobs"),
        top_logprobs=integer(config, "logprobs"),
    )


def parse_format(config: Mapping[str, Json]) -> ResponseFormat | None:
    """JSON with or without a schema; ``text/x.enum`` has no neutral counterpart. Raises Malformed."""
    mime = (text(config, "responseMimeType") or "").lower()
    if mime and mime != "application/json":
        return ResponseFormat("text") if mime == "text/plain" else None
    schema = member(config, "responseJsonSchema")
    if schema is None:
        schema = to_json_schema(member(config, "responseSchema"))
    if schema is None:
        return ResponseFormat("json") if mime else None
    if not isinstance(schema, dict):
        raise Malformed("The response's schema must be an object.", "responseSchema")
    return ResponseFormat("schema", schema)


def parse_thinking(config: Mapping[str, Json]) -> ThinkingConfig | None:
    """``thinkingConfig``: budget 0 is off and -1 as the model sees fit; thoughts are hidden unless asked for.

    A config that only hides thoughts asks for nothing. Raises Malformed.
    """
    thinking = obj(config, "thinkingConfig")
    include, budget = flag(thinking, "includeThoughts"), integer(thinking, "thinkingBudget")
    effort = _EFFORT.get((text(thinking, "thinkingLevel") or "").upper())
    if budget == 0:
        return ThinkingConfig(include=include, mode="disabled")
    if budget is not None and budget > 0:
        return ThinkingConfig(effort, budget, include)
    if effort is not None:
        return ThinkingConfig(effort, None, include)
    return ThinkingConfig(include=include, mode="adaptive") if budget is not None or include else None


def unmodelled_config(config: Mapping[str, Json]) -> list[str]:
    """What is said here and modelled nowhere, by name."""
    names = [label_of(key) for key, value in config.items() if value not in (None, [], {}, "")]
    kept = [name for name in names if name not in _MODELLED]
    if str(member(config, "responseMimeType") or "").startswith("text/x."):
        kept.append("responseMimeType")
    return [f"generationConfig.{name}" for name in kept]


def render_config(chat: ChatRequest, dropped: list[str]) -> dict[str, Json]:
    """``generationConfig`` for a request of another dialect, {} when nothing was asked.

    Raises UnsupportedFeature for more stop sequences than Gemini takes.
    """
    params = chat.params
    if params.stop and len(params.stop) > MAX_STOPS:
        raise UnsupportedFeature(f"Gemini takes at most {MAX_STOPS} stop sequences, not {len(params.stop)}.", param="stop")
    if params.user is not None:
        dropped.append("user")
    members: dict[str, Json] = {
        "temperature": params.temperature,
        "topP": params.top_p,
        "topK": params.top_k,
        "maxOutputTokens": params.max_tokens,
        "stopSequences": list(params.stop) if params.stop else None,
        "candidateCount": params.n,
        "seed": params.seed,
        "presencePenalty": params.presence_penalty,
        "frequencyPenalty": params.frequency_penalty,
        "responseLogprobs": params.logprobs or None,
        "logprobs": params.top_logprobs or None if params.logprobs else None,
        **_format(chat.response_format, dropped),
        "thinkingConfig": _thinking(chat.thinking),
    }
    return {name: value for name, value in members.items() if value is not None}


def _format(wanted: ResponseFormat | None, dropped: list[str]) -> dict[str, Json]:
    if wanted is None or wanted.kind == "text":
        return {}
    if wanted.kind == "json" or wanted.schema is None:
        return {"responseMimeType": "application/json"}
    if wanted.strict:
        dropped.append("response_format.strict")
    return {"responseMimeType": "application/json", "responseJsonSchema": wanted.schema}


def _thinking(wanted: ThinkingConfig | None) -> dict[str, Json] | None:
    """A budget, and whether thoughts are shown. An effort becomes a budget, which every thinking model takes."""
    if wanted is None:
        return None
    budget = wanted.budget
    if budget is None and wanted.effort is not None:
        budget = _BUDGET[wanted.effort]
    if wanted.mode == "disabled" or budget == 0:
        return {"thinkingBudget": 0}
    if budget is None and wanted.mode == "adaptive":
        budget = -1
    shown = {"includeThoughts": wanted.include is not False}
    return shown if budget is None else {"thinkingBudget": budget, **shown}
