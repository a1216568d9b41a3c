"""What each model takes, by its name: one table for all dialects.

A row of ``capabilities.json`` says for which dialects and names it holds, and what differs from the defaults of
``Capabilities``. All rows that fit count, a later one over an earlier one. A node may say otherwise of its own model
(``ChatRequest.differences``), and what no row knows is learnt from the vendor's refusal (``vendors.amending``).

Sources: OpenAI's pages of models and the refusals that its chat completions give for tools beside an effort (gpt-5.4 to 5.6);
Anthropic's migration guides of Claude 4.6, 4.7 and 5 (sampling, ``thinking.type``, prefill) and its list of models; Google's
page on thinking; DeepSeek's and Moonshot's guides to thinking mode.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, cast

from agentui.chat.capabilities import Capabilities, Differences, Effort
from agentui.chat.request import ChatRequest, ThinkingConfig, VendorName
from agentui.jsonio import Json, loads

TABLE: Final = Path(__file__).with_suffix(".json")
_MAX_NAME: Final = 1000


@cache
def _rows() -> tuple[tuple[frozenset[str], re.Pattern[str], Differences], ...]:
    """The table as it is looked through: the dialects, the names, and what differs."""
    return tuple(
        (frozenset(row["dialects"]), re.compile(row["models"]), _differences(row["takes"])) for row in loads(TABLE.read_bytes())
    )


def _differences(takes: Mapping[str, Json]) -> Differences:
    """A row's fields, its lists as tuples."""
    return cast(Differences, {name: tuple(value) if isinstance(value, list) else value for name, value in takes.items()})


def known_capabilities(vendor: VendorName, model: str) -> Capabilities:
    """What the table knows of a model in a dialect."""
    return _known(vendor, model[:_MAX_NAME].lower())


@lru_cache(maxsize=1024)  # of names that are cut: a caller's may have megabytes
def _known(vendor: VendorName, name: str) -> Capabilities:
    known = Capabilities()
    for vendors, pattern, row in _rows():
        if vendor in vendors and pattern.search(name):
            known = known.but(row)
    return known


def capabilities_of(vendor: VendorName, chat: ChatRequest) -> Capabilities:
    """What the model of a request takes: what the table knows, and what the node says over it."""
    return known_capabilities(vendor, chat.model).but(chat.differences)


def without_refused(vendor: VendorName, chat: ChatRequest, given: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """The parameters that are given (None: not) and that the model takes, and the names of those that it does not; a value that
    is the model's default anyway is left out without a word."""
    refused = capabilities_of(vendor, chat).refused
    said = {name: value for name, value in given.items() if value is not None}
    taken = {name: value for name, value in said.items() if name not in refused}
    lost = [name for name, value in said.items() if name in refused and value != _DEFAULTS.get(name)]
    return taken, [name for name in lost if name != "top_k" or chat.params.limiting_top_k is not None]


_DEFAULTS: Final[Mapping[str, Json]] = {
    "temperature": 1,
    "top_p": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "min_p": 0,
    "repetition_penalty": 1,
    "logprobs": False,
    "top_logprobs": 0,
}


def clamped_limit(limit: int | None, model: Capabilities) -> tuple[int | None, list[str]]:
    """A limit of tokens that the model takes, and its name where it is less than was asked for."""
    if limit is None or model.max_output is None or limit <= model.max_output:
        return limit, []
    return model.max_output, ["max_tokens"]


def effort_for(thinking: ThinkingConfig | None, model: Capabilities) -> tuple[Effort | None, list[str]]:
    """The effort to tell a model, and ``thinking`` where it cannot be told.

    Models that always reason refuse "none", and leaving the member out is the nearest to it that they take; models that do not
    reason refuse the member altogether.
    """
    if thinking is None:
        return None, []
    effort = thinking.effort or _effort_of(thinking)
    is_off = effort == "none" or (effort is None and (thinking.mode == "disabled" or thinking.budget == 0))
    if not model.thinking:
        return None, [] if is_off or effort is None else ["thinking"]
    if is_off and model.thinking == ("effort",):
        return ("none", []) if "none" in model.efforts else (None, ["thinking"])
    if effort is None:
        return None, []
    nearest = model.nearest_effort(effort)
    return nearest, [] if nearest is not None else ["thinking"]


def _effort_of(thinking: ThinkingConfig) -> Effort | None:
    """A budget of tokens as an effort; None for off, for "as much as you like" and for the model's own choice."""
    if thinking.mode == "disabled" or thinking.budget is None or thinking.budget <= 0:
        return None
    if thinking.budget <= 2048:
        return "low"
    return "medium" if thinking.budget <= 8192 else "high"
