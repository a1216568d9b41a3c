"""How many tokens a run has cost so far."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.pipeline.run import Run


@dataclass(frozen=True, slots=True)
class Tokens:
    """Input and output tokens; None where nobody told."""

    input: int | None
    output: int | None


def tokens_of(run: Run) -> Tokens:
    """The tokens of all calls that the run made, as the providers counted them; pinned nodes made none."""
    told = [usage_of(run, out) for node, out in tuple(run.out.items()) if node not in run.pins and isinstance(out, Mapping)]
    return Tokens(_sum([usage.input for usage in told]), _sum([usage.output for usage in told]))


def told_tokens(run: Run) -> tuple[int | None, int | None]:
    """The input and output tokens of the calls whose answers were read anyway. One that was forwarded unread is not read for
    this."""
    input = output = None
    for node, out in run.out.items():
        usage = out.get("usage")
        if type(usage) is dict and node not in run.pins:
            if (count := _count(usage.get("input_tokens"))) is not None:
                input = count + (input or 0)
            if (count := _count(usage.get("output_tokens"))) is not None:
                output = count + (output or 0)
    return input, output


def usage_of(run: Run, out: Mapping[str, Json]) -> Tokens:
    """The tokens that a node's OUT tells of: its ``usage``, else those in an answer that was passed through unread, if it is
    one in the caller's dialect."""
    usage, result, vendor = out.get("usage"), out.get("result"), run.incoming.vendor
    if isinstance(usage, Mapping):
        return Tokens(_count(usage.get("input_tokens")), _count(usage.get("output_tokens")))
    if "usage" in out or vendor is None or not isinstance(result, Mapping):
        return Tokens(None, None)
    try:
        told = run.services.vendors[vendor].parse_reply(dict(result)).usage
    except AgentUIError:
        return Tokens(None, None)
    return Tokens(None, None) if told is None else Tokens(told.input, told.output)


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
