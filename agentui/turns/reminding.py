"""``Reminder``: what of its chat's memories a turn is told, before its prompt is made.

    off, or the policy switches it off ──▶ nothing is read
    what was just said ──▶ recall ──▶ ``PromptMemory``: pinned, recalled, left out and why
    nobody said anything ──▶ what weighs most

A dry run asks the same and writes nothing; a turn that is committed notes what it used (``memories.used``).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agentui.chat.estimates import text_tokens
from agentui.chats.records import SessionMemory
from agentui.memories.choosing import find_pinned, find_weightiest
from agentui.memories.items import find_items
from agentui.memories.ranking import Ranking, RecallKind, RecallSettings
from agentui.memories.reading import Spot
from agentui.memories.recall import Question, Recall
from agentui.memories.records import Item
from agentui.memories.sights import Sights
from agentui.memories.writing.modes import HouseMode, WritingRules
from agentui.prompt.history import HistoryEntry
from agentui.prompt.memory import (
    NO_PROMPT_MEMORY,
    LeftOutMemory,
    MemoryForm,
    MemoryKind,
    MemoryLine,
    MemoryPlace,
    PromptMemory,
    RuntimeMode,
)
from agentui.prompt.policy import ResolvedPolicy, sees_all
from agentui.store.base import Store

_MODES: Final[dict[HouseMode, RuntimeMode]] = {"off": "disabled", "sync": "legacy_sync", "async": "async_primary"}
_SHARES: Final[dict[RecallKind, float]] = {"fact": 0.35, "open_loop": 0.2, "summary": 0.45}
"""The contract's shares of the dual form; turns get what those leave."""
_LINE: Final = 2
"""Tokens of what stands around a memory in its line."""
_LONGEST_ASKED: Final = 4000
"""Characters of a line, from its end, that are searched for."""
_MACRO: Final = re.compile(r"\{\{[^{}]*\}\}")


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """How a server's turns read memories: where they stand (``place``, ``depth``), how (``form``), and how many tokens they may
    take (``budget``). Whether they are read at all is said by the rules of writing and the session: one switch is for both."""

    form: MemoryForm = "flat"
    place: MemoryPlace = "chat"
    depth: int = 4
    budget: int = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """For what a turn is to be reminded: its place, what is said in it and what was said before (oldest first), its policy, and
    how many tokens of the history its window may show; ``memory`` is what its session says of memories."""

    account: str
    spot: Spot
    history: Sequence[HistoryEntry]
    message: str
    policy: ResolvedPolicy
    limit: int
    memory: SessionMemory | None = None
    is_anew: bool = False
    """Whether it makes the answer of its branch's first floor anew: nothing was said before that."""


class Reminder:
    """Tells turns what they are reminded of. Safe for many at once."""

    def __init__(self, store: Store, sights: Sights, recall: Recall, rules: ReadingRules, writing: WritingRules) -> None:
        self.rules = rules
        self._writing = writing
        self._store = store
        self._sights = sights
        self._recall = recall

    async def remind(self, asked: Asked) -> PromptMemory:
        """The memories of a prompt. Where memories are off nothing is read. Raises the store's errors, and 404 for a place that
        is not there."""
        rules, is_incognito = self.rules, asked.memory == "incognito"
        mode = self._writing.mode_of("on" if is_incognito else asked.memory)
        if mode == "off":
            return NO_PROMPT_MEMORY
        how = rules.form, rules.place, rules.depth, rules.budget
        empty = PromptMemory(_MODES[mode], not is_incognito, *how, asked.spot.branch_id)
        if not asked.policy.source_selection.memory.enabled or asked.is_anew:
            return empty
        account, spot = asked.account, asked.spot
        sight = await self._sights.at(account, spot)
        found = await self._store.read(find_pinned, account, sight, of_chat_only=is_incognito)
        pinned, over = _fitting(found, rules.budget, "pinned")
        if is_incognito:
            return replace(empty, pinned=pinned)
        left = rules.budget - sum(line.tokens for line in pinned)
        ids = [line.id for line in (*pinned, *over)]
        question = _question(asked)
        ranking = Ranking()
        if any(question.lines):
            settings = RecallSettings(
                budget=left,
                # Which floors a person hides from prompts is known of those alone whose numbers were read with the history.
                with_turns=asked.policy.visibility.sight() is sees_all,
                shares=_SHARES if rules.form == "dual" else {},
            )
            ranking = await self._recall.recall(account, spot, question, settings, shown=_shown(asked), not_items=ids)
        recalled = await self._lines(account, ranking)
        left_out = tuple(LeftOutMemory(each.id, each.kind, each.score, each.reason, each.detail) for each in ranking.left_out)
        missed = tuple(LeftOutMemory(each.id, each.kind, each.score, "budget") for each in over)
        made = replace(empty, pinned=pinned, recalled=recalled, left_out=(*missed, *left_out))
        if recalled or (any(question.lines) and rules.place == "chat"):
            return made
        weighty, rest = _fitting(await self._store.read(find_weightiest, account, sight, ids), left, "importance")
        known = {each.id for each in weighty}
        others = tuple(each for each in left_out if each.id not in known)
        missed += tuple(LeftOutMemory(each.id, each.kind, each.score, "budget") for each in rest)
        why = "nothing_recalled" if any(question.lines) else "no_question"
        return replace(made, recalled=weighty, left_out=(*missed, *others), fallback=why)

    async def _lines(self, account: str, ranking: Ranking) -> tuple[MemoryLine, ...]:
        """What was recalled, with what is told of each."""
        ids = sorted(each.id for each in ranking.recalled if each.kind != "turn")
        items = await self._store.read(find_items, account, ids) if ids else {}
        lines = []
        for each in ranking.recalled:
            item = items.get(each.id)
            if item is not None:
                lines.append(replace(_line(item, each.reason, each.score), detail=each.detail))
            elif each.kind == "turn":
                said = each.text, each.reason, each.tokens, each.score, each.detail, each.floor_id
                lines.append(MemoryLine(each.id, "turn", *said))
        return tuple(lines)


def _question(asked: Asked) -> Question:
    """What was just said; greetings and hidden messages are no answers."""
    spoken = [each for each in asked.history if not each.is_hidden and each.text.strip()]
    users = [each.text for each in spoken if each.role == "user"]
    answer = next((each.text for each in reversed(spoken) if each.role == "assistant"), "")
    line = asked.message if asked.message.strip() else users.pop() if users else ""
    before = users[-1] if users else ""
    plain = [_MACRO.sub(" ", text[-_LONGEST_ASKED:]).strip() for text in (line, answer, before)]
    return Question(*plain)


def _shown(asked: Asked) -> set[str]:
    """The pages that the window shows anyway: the newest ones that it has room for."""
    selection, is_seen = asked.policy.source_selection.history, asked.policy.visibility.sight()
    most = None if selection.mode == "full" else selection.max_messages
    room, count, shown = asked.limit, 0, set[str]()
    for entry in reversed(asked.history):
        if entry.is_hidden or not is_seen(entry.floor_id, entry.floor_no):
            continue
        room, count = room - text_tokens(entry.text), count + 1
        if room < 0 or (most is not None and count > most):
            break
        shown.add(entry.page_id)
    return shown


def _fitting(items: Sequence[Item], budget: int, reason: str) -> tuple[tuple[MemoryLine, ...], tuple[MemoryLine, ...]]:
    """The first of these that fit, up to the first that does not, and the rest (contract, 3.8)."""
    lines = [_line(item, reason, item.importance) for item in items]
    used = 0
    for at, line in enumerate(lines):
        used += line.tokens
        if used > budget:
            return tuple(lines[:at]), tuple(lines[at:])
    return tuple(lines), ()


def _line(item: Item, reason: str, score: float) -> MemoryLine:
    kind: MemoryKind = item.type
    if item.type == "summary" and item.summary_tier is not None:
        kind = "macro_summary" if item.summary_tier == "macro" else "micro_summary"
    text = item.text
    if item.fact_key is not None and not text.casefold().startswith(item.fact_key.casefold()):
        text = f"{item.fact_key}: {text}"
    floor_id = item.sources[-1].floor_id if item.sources else item.source_floor_id
    tokens = text_tokens(text) + _LINE
    return MemoryLine(item.id, kind, text, reason, tokens, score, "", floor_id, item.scope, item.scope_id)
