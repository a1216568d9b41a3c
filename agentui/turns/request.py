"""What a turn is asked for, and what it comes to.

respond              a new floor at the head of the branch; a branch that is new is forked first
regenerate_page      a new floor in the place of the branch's newest one, with the same question
retry_turn           another version of a floor's answer; the older ones stay, inactive
edit_and_regenerate  a new branch that goes on with other words in the place of a message
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection

from agentui.chats.parts import Content
from agentui.chats.policies import NO_POLICIES, StoredPolicies
from agentui.chats.records import SessionMemory
from agentui.chats.state.records import Write as StateWrite
from agentui.chats.tools.executions import CountedExecution
from agentui.jsonio import Json
from agentui.memories.writing.modes import TurnMemories
from agentui.profiles.service import NO_MODELS, BoundModels
from agentui.prompt.policy import sees_all
from agentui.tools.vars.system import Change as WorkingChange
from agentui.turns.repeats import Claim, Saved
from agentui.turns.transactions import OpenedFloor

TurnKind: TypeAlias = Literal["respond", "regenerate_page", "retry_turn", "edit_and_regenerate"]


@dataclass(frozen=True, slots=True)
class ChatFacts:
    """What is known of a turn's session; ``bindings`` are its optional fields under the API's names (``model_name``,
    ``character_snapshot``, ``pipeline_id`` ...), those that were never set left out. ``policies`` are those that hold for the
    prompts of its branch, ``models`` the LLM profiles that are bound in it and everywhere."""

    id: str
    name: str | None
    title: str | None
    bindings: Mapping[str, Json]
    metadata: Mapping[str, Json]
    policies: StoredPolicies = NO_POLICIES
    models: BoundModels = NO_MODELS

    @property
    def character_snapshot(self) -> Mapping[str, Json] | None:
        """The character as the session keeps it."""
        snapshot: Mapping[str, Json] | None = self.bindings.get("character_snapshot")
        return snapshot

    @property
    def user_snapshot(self) -> Mapping[str, Json] | None:
        """The user as the session keeps it."""
        snapshot: Mapping[str, Json] | None = self.bindings.get("user_snapshot")
        return snapshot

    @property
    def prompt_mode(self) -> str | None:
        """The session's prompt mode."""
        mode: str | None = self.bindings.get("prompt_mode")
        return mode

    @property
    def model_name(self) -> str | None:
        """The session's model."""
        name: str | None = self.bindings.get("model_name")
        return name


@dataclass(frozen=True, slots=True)
class Reach:
    """How much of a chat's past is read: ``most`` characters of the floors that are seen, by id and number; and no more floors
    once their texts have more characters than ``fits``, of which older messages are only counted (all floors are seen then)."""

    most: int
    is_seen: Callable[[str, int], bool] = sees_all
    fits: int | None = None


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The ids of what may be done once more: calls of tools, and writes to Session State."""

    executions: frozenset[str] = frozenset()
    mutations: frozenset[str] = frozenset()


NOTHING_CONFIRMED = Confirmed()


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A turn that is wanted, of a chat of ``account``.

    ``session`` is an id or a name; a new name makes a session unless it ``must_exist``. A retry's session is that of
    ``target_floor_id``, an edit's that of ``source_message_id``. ``branch`` is main where none is named; that of an edit is
    new, and gets a name where it has none. ``source_floor_id`` is where a new branch is forked.

    ``user`` is what the user says. Who regenerates or retries says nothing: the question is there.
    ``names`` are the variables that the turn may read or write, by the beginning of their names (``load_layers``); what it
    does not name it must not touch. None reads all. A ``claim`` is taken together with the floor.
    ``history`` says how much of the chat's past the turn needs, from what is known of the session; where it is None nothing of
    the chat is read.
    ``place`` makes this request, in the transaction that opens it, the one that its client's history asks for
    (``turns/placed.py``); ``sent_past`` is how many answers that history holds, ``sent_notes`` what else it told
    (``note_sent``), and ``is_new_branch`` says that the branch was made for the turn. ``state_writes`` go to the Session State
    with the turn's commit, and ``confirmed`` is what an older answer's turn did that does not keep this one from taking its
    place.
    """

    account: str
    run_id: str
    session: str | None = None
    branch: str | None = None
    kind: TurnKind = "respond"
    user: Content | None = None
    source_floor_id: str | None = None
    source_message_id: str | None = None
    target_floor_id: str | None = None
    names: Set[str] | None = None
    claim: Claim | None = None
    must_exist: bool = False
    history: Callable[[ChatFacts], Reach] | None = None
    place: "Place | None" = None
    sent_past: int | None = None
    sent_notes: tuple[tuple[str, int], ...] = ()
    is_new_branch: bool = False
    state_writes: tuple[StateWrite, ...] = ()
    confirmed: Confirmed = NOTHING_CONFIRMED


Place: TypeAlias = Callable[[Connection, str, TurnRequest, int], TurnRequest]
"""Finds a request's place, in the transaction of an account and at a time, and gives the request with it."""


@dataclass(frozen=True, slots=True)
class TurnPlace:
    """Where a turn happens and whose it is, and what it comes from: ``previous_floor_id`` is the floor that a regenerated one
    takes the place of, the sources are those of a fork. ``memory`` is what its session says of memories."""

    account: str
    session_id: str
    branch_id: str
    run_id: str
    kind: TurnKind
    floor: OpenedFloor
    previous_floor_id: str | None = None
    source_floor_id: str | None = None
    source_message_id: str | None = None
    memory: SessionMemory | None = None

    @property
    def floor_id(self) -> str:
        """The floor that generates."""
        return self.floor.floor_id

    @property
    def replaced_floor_id(self) -> str | None:
        """The floor whose answer the turn makes anew."""
        return self.floor.floor_id if self.kind == "retry_turn" else self.previous_floor_id


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a turn came to: the answer and its tokens, and what the page keeps beside it (``explain`` as JSON). ``saved`` is
    what the caller gets, where the request had a key; ``calls`` are those of tools, ``working`` is what its models wrote to the
    working variables; the turn adds both, and whether much was read for the latter (``is_working_long``). ``others`` are
    further answers that the model gave at once: inactive versions of the first. ``memories`` is what the turn writes of these;
    None: none. ``used_memories`` are the items that its prompt had."""

    answer: Content
    tokens_in: int = 0
    tokens_out: int = 0
    summaries: tuple[str, ...] = ()
    verifier: Json = None
    explain: str | None = None
    saved: Saved | None = None
    calls: tuple[CountedExecution, ...] = ()
    working: tuple[WorkingChange, ...] = ()
    is_working_long: bool = False
    others: tuple[Content, ...] = ()
    memories: TurnMemories | None = None
    used_memories: tuple[str, ...] = ()
