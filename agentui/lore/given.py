"""What decides which entries join: the settings, the texts that are looked through, and chance."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Final, Literal, Protocol, Self, TypeAlias

from agentui.assets.lorebook import BoundBook, LoreSource
from agentui.assets.values import flag, number, whole
from agentui.chat.estimates import text_tokens
from agentui.jsonio import Json

LoreStrategy: TypeAlias = Literal["evenly", "character_first", "global_first"]
"""Which of the character's and the global entries come first."""

MAX_SCAN_DEPTH: Final = 1000
"""Messages that are looked through at most."""
_STRATEGIES: Final[tuple[LoreStrategy, ...]] = ("evenly", "character_first", "global_first")


@dataclass(frozen=True, slots=True)
class LoreSettings:
    """SillyTavern's settings of world info, with its defaults.

    Depths count messages. ``budget`` is in percent of the context, ``budget_cap`` in tokens, 0 for none.
    ``max_recursion_steps`` counts sweeps, the first as well, 0 for no bound.
    """

    depth: int = 2
    min_activations: int = 0
    min_activations_depth: int = 0
    budget: float = 25
    budget_cap: int = 0
    is_naming: bool = True
    is_recursive: bool = False
    max_recursion_steps: int = 0
    is_case_sensitive: bool = False
    is_whole_words: bool = False
    is_group_scored: bool = False
    strategy: LoreStrategy = "character_first"

    @classmethod
    def of(cls, content: Mapping[str, Json]) -> Self:
        """The settings in SillyTavern's members (``world_info_depth`` ...); what is missing or odd is the default."""
        budget = number(content.get("world_info_budget"), 25) or 0
        strategy = whole(content.get("world_info_character_strategy"), 1)
        return cls(
            depth=whole(content.get("world_info_depth"), 2),
            min_activations=max(whole(content.get("world_info_min_activations"), 0), 0),
            min_activations_depth=max(whole(content.get("world_info_min_activations_depth_max"), 0), 0),
            budget=budget if 0 <= budget <= 100 else 25,
            budget_cap=max(whole(content.get("world_info_budget_cap"), 0), 0),
            is_naming=flag(content.get("world_info_include_names"), True),
            is_recursive=flag(content.get("world_info_recursive")),
            max_recursion_steps=max(whole(content.get("world_info_max_recursion_steps"), 0), 0),
            is_case_sensitive=flag(content.get("world_info_case_sensitive")),
            is_whole_words=flag(content.get("world_info_match_whole_words")),
            is_group_scored=flag(content.get("world_info_use_group_scoring")),
            strategy=_STRATEGIES[strategy] if 0 <= strategy < len(_STRATEGIES) else "evenly",
        )

    def with_books(self, books: Sequence[BoundBook]) -> Self:
        """The settings where books say for themselves: one that recurses makes all recurse, and the tightest bound holds."""
        steps = [bound.book.max_recursion_steps for bound in books if bound.book.max_recursion_steps]
        if not self.max_recursion_steps and steps:
            return replace(self, is_recursive=self._recurses(books), max_recursion_steps=min(steps))
        return replace(self, is_recursive=self._recurses(books))

    def _recurses(self, books: Sequence[BoundBook]) -> bool:
        return self.is_recursive or any(bound.book.is_recursive for bound in books)

    def budget_of(self, max_context: int) -> int:
        """The tokens that entries may take of a context."""
        tokens = int(self.budget * max_context / 100 + 0.5) or 1
        return min(tokens, self.budget_cap) if self.budget_cap else tokens


@dataclass(frozen=True, slots=True)
class LoreMessage:
    """A message of the chat, and who said it."""

    text: str
    name: str = ""


class Rolls(Protocol):
    """Where chance comes from."""

    def roll(self, subject: str) -> float:
        """A number from 0 up to 1. ``subject`` is what is decided: an entry's name, or a group's."""


@dataclass(frozen=True, slots=True)
class SeededRolls:
    """Chance that comes out the same for the same seed and subject, in whatever order things are asked."""

    seed: str = ""

    def roll(self, subject: str) -> float:
        """A number from 0 up to 1."""
        asked = f"{self.seed}\0{subject}".encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(asked, digest_size=6).digest(), "big") / 2**48


@dataclass(frozen=True, slots=True)
class LoreInput:
    """Everything that decides.

    ``messages`` are newest last. ``injections`` are texts that others put into the prompt and want looked through.
    ``character_tags`` is None where nobody knows them: filters by tag then let all through. ``trigger`` is the intent of the
    turn (normal, continue, ...). ``chat_length`` is what timed effects count by, None for the number of messages. ``timed`` is
    what ``LoreResult.timed`` was the last time. ``expand`` replaces macros, in keys and in contents.
    """

    books: Sequence[BoundBook] = ()
    settings: LoreSettings = LoreSettings()
    messages: Sequence[LoreMessage] = ()
    sources: Mapping[LoreSource, str] = field(default_factory=dict)
    injections: Sequence[str] = ()
    character_name: str = ""
    character_tags: Collection[str] | None = None
    trigger: str = "normal"
    chat_length: int | None = None
    timed: Mapping[str, Json] = field(default_factory=dict)
    rolls: Rolls = SeededRolls()
    max_context: int = 8192
    count_tokens: Callable[[str], int] = text_tokens
    expand: Callable[[str], str] = str
