"""What a prompt holds of long-term memory: as texts, and as what is told of them (TavernHeadless' contract, 3.8 and 3.9).

Pinned memories are a block near the top that seldom changes; recalled ones stand within the chat, behind what a provider has
cached of it. All of it is data: no macro in it is replaced.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from agentui.jsonio import Json

MemoryKind: TypeAlias = Literal["fact", "open_loop", "micro_summary", "macro_summary", "summary", "turn"]
MemoryForm: TypeAlias = Literal["flat", "dual"]
MemoryPlace: TypeAlias = Literal["chat", "system"]
"""Where recalled memories stand: within the chat at a depth, or behind the first system text, as TavernHeadless puts them."""
RuntimeMode: TypeAlias = Literal["disabled", "legacy_sync", "async_primary"]

MEMORY: Final = "memory"
"""The source and the group of these texts, and the marker of presets."""
MACROS: Final = frozenset({"memory", "summary"})
"""The macros that give the text. Where one is used, the text is not put in a second time."""
MOST_LEFT_OUT: Final = 50
"""Memories of which it is told that they were left out, the best first."""
_SCOPES: Final = ("global", "chat", "branch", "floor")
_SECTIONS: Final[tuple[tuple[str, frozenset[MemoryKind]], ...]] = (
    ("[Memory Facts]", frozenset({"fact"})),
    ("[Open Loops]", frozenset({"open_loop"})),
    ("[Recent Micro Summaries]", frozenset({"micro_summary", "summary"})),
    ("[Macro Summary]", frozenset({"macro_summary"})),
    ("[Said Before]", frozenset({"turn"})),
)
"""The sections of the dual form, in their order. The last is not the contract's: it has no turns."""
_TYPES: Final[Mapping[MemoryKind, str]] = {"micro_summary": "summary", "macro_summary": "summary"}


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """A memory that stands in the prompt: why (``reason``: words, keys, edge, pinned, importance; ``detail`` the key or the
    item that led to it), and the floor that says it. ``id`` is an item's, or the page's of a ``turn``."""

    id: str
    kind: MemoryKind
    text: str
    reason: str
    tokens: int
    score: float = 1.0
    detail: str = ""
    floor_id: str | None = None
    scope: str | None = None
    scope_id: str | None = None

    @property
    def line(self) -> str:
        """What it says, in one line."""
        return " ".join(part for line in self.text.splitlines() if (part := line.strip()))


@dataclass(frozen=True, slots=True)
class LeftOutMemory:
    """A memory that was found and is not in the prompt, and why (``ranking.LeftOutReason``)."""

    id: str
    kind: str
    score: float
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PromptMemory:
    """The memories of one prompt. ``writes``: its turn writes memories; ``budget`` is in tokens. ``fallback`` says why they
    were chosen by their importance, where they were."""

    mode: RuntimeMode = "disabled"
    writes: bool = False
    form: MemoryForm = "flat"
    place: MemoryPlace = "chat"
    depth: int = 4
    budget: int = 0
    branch_id: str | None = None
    pinned: tuple[MemoryLine, ...] = ()
    recalled: tuple[MemoryLine, ...] = ()
    left_out: tuple[LeftOutMemory, ...] = ()
    fallback: str | None = None

    @property
    def pinned_text(self) -> str:
        """The block of what a person pinned; "" where there is none."""
        return _listed("[Pinned Memory]", self.pinned)

    @property
    def recalled_text(self) -> str:
        """The text of what was recalled; "" where nothing was."""
        if self.form == "flat":
            return _listed("[Memory]", self.recalled)
        sections = []
        for title, kinds in _SECTIONS:
            lines = [f"- {each.line}" for each in self.recalled if each.kind in kinds]
            if lines:
                sections.append("\n".join((title, *lines)))
        return "\n\n".join(sections)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join(text for text in (self.pinned_text, self.recalled_text) if text)

    @property
    def item_ids(self) -> tuple[str, ...]:
        """The items among them."""
        return tuple(each.id for each in (*self.pinned, *self.recalled) if each.kind != "turn")

    def macros(self) -> dict[str, str]:
        """``{{memory}}`` and ``{{summary}}``, where the chat has memories on."""
        return {} if self.mode == "disabled" else dict.fromkeys(sorted(MACROS), self.text)


NO_PROMPT_MEMORY: Final = PromptMemory()
"""That of a chat whose memories are off."""


def _listed(title: str, lines: Sequence[MemoryLine]) -> str:
    """The flat form."""
    return "\n".join((title, *(f"- ({_TYPES.get(each.kind, each.kind)}) {each.line}" for each in lines))) if lines else ""


def memory_document(memory: PromptMemory) -> dict[str, Json]:
    """What is told of them. Beside the contract's members: of each its ``detail``, ``floor_id`` and whether it is ``pinned``,
    and what was ``left_out``."""
    text, lines = memory.text, (*memory.pinned, *memory.recalled)
    is_on = memory.mode != "disabled"
    told: dict[str, Json] = {
        "summary_injected": bool(text),
        "runtime_mode": memory.mode,
        "requested_write": memory.writes,
        "effective_write": memory.writes,
        "strategy": "none" if not text else "dual_summary" if memory.form == "dual" else "direct_items",
        "summary_text": text or None,
        "summary_text_hash": f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}" if text else None,
        "selected_items": [_selected(each, memory.branch_id, is_pinned=each in memory.pinned) for each in lines],
        "token_stats": _token_stats(memory, lines) if is_on else None,
        "scope_resolution": {
            "mode": "branch_aware" if is_on else "strict_empty",
            "strict": not is_on,
            "requested_scopes": list(_SCOPES) if is_on else [],
            "resolved_scopes": list(_SCOPES) if is_on else [],
            "requested_branch_id": memory.branch_id,
            "resolved_branch_id": memory.branch_id,
            "fallback_reason": memory.fallback,
        },
    }
    if is_on:
        told["left_out"] = [
            {"memory_id": each.id, "kind": each.kind, "score": each.score, "reason": each.reason, "detail": each.detail or None}
            for each in memory.left_out[:MOST_LEFT_OUT]
        ]
    return told


def _selected(line: MemoryLine, branch_id: str | None, *, is_pinned: bool) -> dict[str, Json]:
    sources = {"open_loop": "open_loop", "fact": "store", "turn": "turn"}
    return {
        "memory_id": line.id,
        "scope": line.scope,
        "scope_id": line.scope_id,
        "branch_id": branch_id if line.scope == "branch" else None,
        "kind": line.kind,
        "source": sources.get(line.kind, "summary"),
        "score": line.score,
        "token_count": line.tokens,
        "selected_reason": line.reason,
        "detail": line.detail or None,
        "floor_id": line.floor_id,
        "pinned": is_pinned,
    }


def _token_stats(memory: PromptMemory, lines: Sequence[MemoryLine]) -> dict[str, Json]:
    """Tokens by what they were taken for."""
    micro = sum(each.tokens for each in lines if each.kind in ("micro_summary", "summary"))
    macro = sum(each.tokens for each in lines if each.kind == "macro_summary")
    used = sum(each.tokens for each in lines)
    return {
        "budget": memory.budget,
        "used": used,
        "micro_summary": micro,
        "macro_summary": macro,
        "direct_items": used - micro - macro,
    }
