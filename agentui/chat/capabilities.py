"""What a model takes, in the things in which models of one dialect differ. ``vendors.capabilities`` has the table by model."""

from dataclasses import dataclass, replace
from typing import Literal, TypedDict

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""All efforts, the least first."""

ThinkingForm = Literal["budget", "adaptive", "effort"]
"""How a model is told how much to think: a budget of tokens, its own choice (with an effort), an effort alone."""
ToolEffort = Literal["any", "leave_out", "none"]
ThoughtsBack = Literal["own", "required", "never"]
PenaltyName = Literal["repetition_penalty", "repeat_penalty", "rep_pen"]
"""vLLM, SGLang, TabbyAPI and OpenRouter; llama.cpp and LM Studio; KoboldCpp (which knows the others, too)."""
SystemPlace = Literal["anywhere", "joined", "marked", "top"]


class Differences(TypedDict, total=False):
    """Some fields of ``Capabilities``: a row of the table, and what a node says of its own model."""

    refused: tuple[str, ...]
    thinking: tuple[ThinkingForm, ...]
    thinking_off: bool
    efforts: tuple[Effort, ...]
    tool_effort: ToolEffort
    budget: tuple[int, int]
    prefill: bool
    max_output: int
    limit_name: Literal["max_tokens", "max_completion_tokens"]
    thoughts: ThoughtsBack
    system: SystemPlace
    object_root: bool
    search_options: bool
    penalty_name: PenaltyName


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one model takes. The defaults are what is tried with a model that nothing is known of.

    ``refused`` are parameters, by the names that ``Params`` has for them, that the model refuses at any value but its default.
    ``thinking`` are the forms that it takes, () for a model that never thinks; ``thinking_off`` is whether it can be switched
    off. ``efforts`` are the words that it takes. ``tool_effort`` is what becomes of an effort beside tools: "any" goes along,
    "leave_out" is not said, and "none" is what it has to be. ``budget`` is the least and the most. ``prefill`` is whether a
    conversation may end with an answer begun. ``max_output`` is the most tokens that it writes, thoughts included (None: not
    known). ``thoughts`` is which thoughts go back to it: those of the same server, some in every answer, or none.
    ``system`` is where system texts may stand: "anywhere"; anywhere, but those at the front as one message ("joined"); at the
    front, and the others "marked" as the user's (see ``vendors.system_place``); at the front, to which the others move ("top").
    ``object_root`` is whether schemas of tools and of answers must be a plain object at their root (``vendors.schema_roots``).
    ``search_options`` is whether chat completions of it take ``web_search_options`` (``vendors.web_search``).
    ``penalty_name`` is what a local server calls the penalty on repetitions.
    """

    refused: tuple[str, ...] = ()
    thinking: tuple[ThinkingForm, ...] = ("budget", "adaptive", "effort")
    thinking_off: bool = True
    efforts: tuple[Effort, ...] = EFFORTS
    tool_effort: ToolEffort = "any"
    budget: tuple[int, int] | None = None
    prefill: bool = True
    max_output: int | None = None
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    thoughts: ThoughtsBack = "own"
    system: SystemPlace = "anywhere"
    object_root: bool = False
    search_options: bool = False
    penalty_name: PenaltyName = "repetition_penalty"

    def but(self, differences: Differences) -> "Capabilities":
        """These, with some of them otherwise."""
        return replace(self, **differences) if differences else self

    def nearest_effort(self, effort: Effort) -> Effort | None:
        """The effort to say where this one is wished: itself, else the nearest one below, else the nearest above; "none" only
        for itself, for that is no thought at all. None where the model takes no word for it."""
        if effort in self.efforts:
            return effort
        if effort == "none":
            return None
        thinking = [word for word in self.efforts if word != "none"]
        at = EFFORTS.index(effort)
        below = [word for word in thinking if EFFORTS.index(word) < at]
        above = [word for word in thinking if EFFORTS.index(word) > at]
        ordered = [*sorted(below, key=EFFORTS.index, reverse=True), *sorted(above, key=EFFORTS.index)]
        return ordered[0] if ordered else None
