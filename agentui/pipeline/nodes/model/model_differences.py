"""What a node says of its model against the table of capabilities: JSON in a field, checked when the pipeline is read."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentui.chat.capabilities import Differences, Effort, PenaltyName, SystemPlace, ThinkingForm, ThoughtsBack, ToolEffort
from agentui.jsonio import InvalidJson, loads
from agentui.pipeline.node import Build

Parameter = Literal[
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "banned_strings",
    "stop",
]
Tokens = Annotated[int, Field(ge=1, le=10_000_000)]


class _Written(BaseModel):
    """The members that the field may have; ``Capabilities`` says what each means."""

    model_config = ConfigDict(extra="forbid")

    refused: list[Parameter] | None = None
    thinking: list[ThinkingForm] | None = None
    thinking_off: bool | None = None
    efforts: list[Effort] | None = None
    tool_effort: ToolEffort | None = None
    budget: tuple[Tokens, Tokens] | None = None
    prefill: bool | None = None
    max_output: Tokens | None = None
    limit_name: Literal["max_tokens", "max_completion_tokens"] | None = None
    thoughts: ThoughtsBack | None = None
    system: SystemPlace | None = None
    object_root: bool | None = None
    search_options: bool | None = None
    penalty_name: PenaltyName | None = None


def compile_differences(build: Build, written: str, field: str = "capabilities") -> Differences:
    """What the field says, {} for an empty one. What is wrong with it is a problem of the node."""
    if not written.strip():
        return {}
    try:
        told = _Written.model_validate(loads(written))
    except InvalidJson as error:
        build.problem("capabilities.wrong", f"This is not JSON: {error}", "capabilities", facts={"reason": "json"})
        return {}
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        text = f"{where or 'capabilities'}: {first['msg']}"
        build.problem("capabilities.wrong", text, "capabilities", facts={"reason": "member", "name": where or "capabilities"})
        return {}
    differences: Differences = {}
    for name, value in told.model_dump(exclude_none=True).items():
        differences[name] = tuple(value) if isinstance(value, list) else value  # type: ignore[literal-required]
    return differences
