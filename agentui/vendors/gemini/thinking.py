"""How much to think: ``thinkingConfig``, both ways, within what each family of models takes."""

from collections.abc import Mapping
from typing import Final

from agentui.chat.capabilities import Capabilities, Effort
from agentui.chat.request import ThinkingConfig
from agentui.jsonio import Json
from agentui.vendors.gemini.protojson import flag, integer, obj, text

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


def render_thinking(wanted: ThinkingConfig | None, model: Capabilities, dropped: list[str]) -> dict[str, Json] | None:
    """A budget that the model takes, and whether thoughts are shown. An effort becomes a budget, which every thinking model
    takes; models that always think are asked to think least, models that never do are asked nothing."""
    if wanted is None:
        return None
    budget = wanted.budget
    if budget is None and wanted.effort is not None:
        budget = _BUDGET[wanted.effort]
    is_off = wanted.mode == "disabled" or budget == 0
    if not model.thinking:
        dropped.extend([] if is_off else ["thinking"])
        return None
    if is_off:
        return {"thinkingBudget": _least(model, dropped)}
    if budget is None and wanted.mode == "adaptive":
        budget = -1
    shown = {"includeThoughts": wanted.include is not False}
    return shown if budget is None else {"thinkingBudget": _clamped(budget, model), **shown}


def _least(model: Capabilities, dropped: list[str]) -> int:
    """The budget that is nearest to no thought."""
    if model.thinking_off or model.budget is None:
        return 0
    dropped.append("thinking")
    return model.budget[0]


def _clamped(budget: int, model: Capabilities) -> int:
    """A budget within the model's bounds; -1 leaves it to the model."""
    if budget <= 0 or model.budget is None:
        return budget
    least, most = model.budget
    return min(max(budget, least), most)
