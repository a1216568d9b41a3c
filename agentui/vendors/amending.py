"""The same request once more, without what the model refuses: learnt from its words, for models that no table knows.

    400 Unsupported parameter: 'temperature' is not supported with this model.     the same without temperature
    400 Use 'max_completion_tokens' instead.                                        the limit under that name
    400 "thinking.type.enabled" is not supported for this model. Use adaptive       adaptive thinking
    400 max_tokens: 100000 > 64000, which is the maximum allowed number             64000
    400 The reasoning_content in the thinking mode must be passed back              a thought in every answer of the history

Only what may go without changing what was asked is left out; any other refusal is the caller's to hear. So is one of a value
that the model takes at another size ("Invalid 'temperature': ... Expected a value <= 2"): the caller said what no model does,
and without it would get another answer than the one that it asked for.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agentui.chat.request import WireRequest
from agentui.errors import UpstreamRefused
from agentui.jsonio import Json

_SAMPLING: Final = frozenset(
    ("temperature", "top_p", "top_k", "min_p", "seed", "logprobs", "top_logprobs", "logit_bias", "banned_strings")
)
_PENALTIES: Final = frozenset(("presence_penalty", "frequency_penalty", "repetition_penalty"))
_THINKING: Final = frozenset(("reasoning_effort", "reasoning", "thinking", "thinkingConfig"))
_REST: Final = frozenset(("verbosity", "parallel_tool_calls", "user", "safety_identifier", "store", "stream_options"))
_GEMINIS: Final = frozenset(("topP", "topK", "presencePenalty", "frequencyPenalty", "responseLogprobs"))
_DISPENSABLE: Final = _SAMPLING | _PENALTIES | _THINKING | _REST | _GEMINIS
"""Members without which a request still asks the same."""
_NAMES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:unsupported|unknown|unrecognized|invalid|extra) (?:request )?(?:parameter|argument|value|field)s?[^:]{0,40}:"
        r" *['\"`]?([\w.]+)",
        r"['\"`]([\w.]+)['\"`] (?:is|are) (?:not supported|deprecated|not permitted|unsupported|not allowed)",
        r"(?:^|\s)([\w.]+): extra inputs are not permitted",
        r"unknown name ['\"](\w+)['\"]",
        r"does not support (?:the )?['\"`]?([\w.]+)['\"`]?(?: parameter| argument|$|[.,])",
    )
)
_QUOTED: Final = re.compile(r"[`']([\w.]+)[`']")
_LIMIT: Final = re.compile(
    r"max_(?:completion_|output_)?tokens?\b[^0-9]{0,40}\d+ > (\d+)|supports? at most (\d+) (?:completion|output) tokens"
    r"|max_(?:completion_|output_)?tokens?\b.{0,80}(?:less than or equal to|at most|<=|maximum(?: value)? (?:is|of)) (\d+)",
    re.IGNORECASE,
)
_LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_LOOKED_AT: Final = 2000


def amended(wire: WireRequest, error: UpstreamRefused, *, is_own: bool) -> WireRequest | None:
    """The request as the upstream may take it, whose ``dropped`` names what changed; None where its refusal names nothing that
    may change. ``is_own`` is whether a caller wrote it for this very model in this dialect: of that only thoughts are put
    right, which its client could not keep."""
    if error.status not in (400, 422) or error.kind != "invalid_request":
        return None
    message = error.message[:_LOOKED_AT]
    ways: tuple[Callable[[WireRequest, str], WireRequest | None], ...] = (_with_thoughts,)
    if not is_own:
        ways = (_with_thoughts, _with_effort, _with_thinking, _with_limit, _named_otherwise)
    for way in ways:
        if (changed := way(wire, message)) is not None:
            return changed
    return None if is_own else _without(wire, message, error.upstream_param)


_NEVER: Final = re.compile(
    r"unsupported|not supported|not permitted|unrecognized|unknown|deprecated|does not support|extra inputs|supports? at most"
    r"|maximum allowed|must be passed back",
    re.IGNORECASE,
)
"""What a refusal says that holds for every request to the model, whatever its values."""


_OUT_OF_RANGE: Final = re.compile(
    r"[<>]=|(?:above|below|exceeds?) (?:the )?(?:maximum|minimum)|(?:less|greater|smaller|larger|more|lower|higher) than"
    r"|\bat (?:most|least)\b|\bbetween\b|\brange\b",
    re.IGNORECASE,
)
"""What a refusal of a value says of those that would be taken."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What of a refusal holds for the next request, too: its words, and the parameter that it names."""

    message: str
    param: str | None = None


def lasting(error: UpstreamRefused) -> Refusal | None:
    """What to remember of a refusal that a request was amended for; None where it was of this request's values alone."""
    message = error.message[:_LOOKED_AT]
    return Refusal(message, error.upstream_param) if _NEVER.search(message) else None


def foreseen(wire: WireRequest, refusal: Refusal, *, is_own: bool) -> WireRequest:
    """The request without what its upstream refused before. How a model thinks is left as it is: which form it takes cannot be
    told by one refusal."""
    message = refusal.message
    ways: tuple[Callable[[WireRequest, str], WireRequest | None], ...] = (_with_thoughts,)
    if not is_own:
        ways = (_with_thoughts, _with_limit, _named_otherwise)
    for way in ways:
        if (changed := way(wire, message)) is not None:
            return changed
    if is_own or "reasoning_content" in message or _THOUGHT.search(message):
        return wire
    return _without(wire, message, refusal.param) or wire


_THOUGHT: Final = re.compile("thinking|reasoning|effort", re.IGNORECASE)


def _changed(wire: WireRequest, body: dict[str, Json], *dropped: str) -> WireRequest:
    return replace(wire, body=body, dropped=tuple(dict.fromkeys([*wire.dropped, *dropped])))


def _with_thoughts(wire: WireRequest, message: str) -> WireRequest | None:
    """DeepSeek and Kimi want a thought in every answer; where none is known a space will do."""
    if "reasoning_content" not in message or not isinstance(wire.body.get("messages"), list):
        return None
    lacking = [
        isinstance(said, dict) and said.get("role") == "assistant" and not said.get("reasoning_content")
        for said in wire.body["messages"]
    ]
    if not any(lacking):
        return None
    messages = [
        {**said, "content": said.get("content") or "", "reasoning_content": " "} if lacks else said
        for said, lacks in zip(wire.body["messages"], lacking, strict=True)
    ]
    return _changed(wire, {**wire.body, "messages": messages})


def _with_effort(wire: WireRequest, message: str) -> WireRequest | None:
    """Tools beside an effort in chat completions: without it, or with "none" where the model reasons unasked."""
    if "reasoning_effort" not in message or not wire.body.get("tools"):
        return None
    effort = wire.body.get("reasoning_effort")
    if effort == "none":
        return None
    rest = {name: value for name, value in wire.body.items() if name != "reasoning_effort"}
    if effort is None or "'none'" in message:
        rest["reasoning_effort"] = "none"
    return _changed(wire, rest, "thinking")


def _with_thinking(wire: WireRequest, message: str) -> WireRequest | None:
    """Claude's two forms of thinking: what one model refuses is the only one that another takes."""
    thinking = wire.body.get("thinking")
    if not isinstance(thinking, dict) or "thinking" not in message.lower():
        return None
    if "prefill" in message or "signature" in message or "final `assistant` message" in message:
        return None
    rest = {name: value for name, value in wire.body.items() if name not in ("thinking", "temperature", "top_p", "top_k")}
    if thinking.get("type") == "enabled" and "adaptive" in message:
        return _changed(wire, {**rest, "thinking": {"type": "adaptive"}})
    return _changed(wire, rest, "thinking")


def _with_limit(wire: WireRequest, message: str) -> WireRequest | None:
    """A limit above what the model writes."""
    found = _LIMIT.search(message)
    if found is None:
        return None
    most = int(next(number for number in found.groups() if number is not None))
    over = {name: most for name in _LIMITS if isinstance(limit := wire.body.get(name), int) and limit > most > 0}
    return _changed(wire, {**wire.body, **over}, "max_tokens") if over else None


def _named_otherwise(wire: WireRequest, message: str) -> WireRequest | None:
    """Reasoning models know the limit by its newer name, compatible servers by its older one."""
    for old, new in (("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")):
        told = re.search(rf"['\"`]?{old}['\"`]?[^.]*(?:not supported|unsupported|unrecognized|unknown)", message, re.IGNORECASE)
        if old in wire.body and new not in wire.body and (told or f"Use '{new}' instead" in message):
            rest = {name: value for name, value in wire.body.items() if name != old}
            return _changed(wire, {**rest, new: wire.body[old]})
    return None


def _without(wire: WireRequest, message: str, param: str | None) -> WireRequest | None:
    """A member that is named as the one at fault, left out; not one whose value alone is at fault."""
    if _OUT_OF_RANGE.search(message) and not _NEVER.search(message):
        return None
    names = [param, *(found[1] for pattern in _NAMES if (found := pattern.search(message)) is not None)]
    # In the order in which they are told, so that every process leaves out the same. "user" is quoted as a role is.
    names += [name for name in _QUOTED.findall(message) if name in _DISPENSABLE and name != "user"]
    for name in names:
        if name is None:
            continue
        for place, member in _places(wire.body, name):
            rest = {key: value for key, value in place.items() if key != member}
            if place is wire.body:
                return _changed(wire, rest, member)
            return _changed(wire, {**wire.body, "generationConfig": rest}, f"generationConfig.{member}")
    return None


def _places(body: Mapping[str, Json], name: str) -> list[tuple[Mapping[str, Json], str]]:
    """Where a dispensable member of this name stands: in the body, or in Gemini's ``generationConfig``."""
    short = name.rpartition(".")[2] if name.rpartition(".")[2] in _DISPENSABLE else name.partition(".")[0]
    camel = re.sub(r"_([a-z])", lambda letter: letter[1].upper(), short)
    config = body.get("generationConfig")
    holders = [body, *([config] if isinstance(config, dict) else [])]
    return [(holder, one) for holder in holders for one in (short, camel) if one in holder and one in _DISPENSABLE]
