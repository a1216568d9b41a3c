"""How many tokens a turn took, whatever its members are called."""

from collections.abc import Mapping
from typing import TypedDict

from agentui.sdk.helpers.fields import number, record

_INPUT = ("input_tokens", "prompt_tokens", "inputTokens", "promptTokens")
_OUTPUT = ("output_tokens", "completion_tokens", "outputTokens", "completionTokens")
_TOTAL = ("total_tokens", "totalTokens")


class NormalizedUsage(TypedDict):
    """Tokens by both names that they go by: ``prompt_tokens`` are ``input_tokens``, ``completion_tokens`` ``output_tokens``."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    prompt_tokens: int
    completion_tokens: int


def resolve_usage(usage: Mapping[str, object] | None) -> NormalizedUsage:
    """One shape for every spelling of usage: ``prompt_tokens`` or ``input_tokens``, in snake case or camel case.

    What is not said is 0; a total that is not said is the sum. ``input_tokens`` wins where both names are there.

    >>> resolve_usage({"prompt_tokens": 12, "completion_tokens": 8})["total_tokens"]
    20
    """
    said = record(usage)
    given, made = _first(said, _INPUT) or 0, _first(said, _OUTPUT) or 0
    total = _first(said, _TOTAL)
    return {
        "input_tokens": given,
        "output_tokens": made,
        "total_tokens": given + made if total is None else total,
        "prompt_tokens": given,
        "completion_tokens": made,
    }


def _first(usage: Mapping[str, object], names: tuple[str, ...]) -> int | None:
    """The first of these members that is a number."""
    return next((found for name in names if (found := number(usage.get(name))) is not None), None)
