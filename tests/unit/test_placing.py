"""Where a turn belongs, by the history that a client sends: what each thing that people do in a client comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from agentui.chat.fingerprints import fingerprint, spellings
from agentui.chat.messages import Message, ToolCall, ToolResult, text_message
from agentui.turns.placing.matching import Intent, Placement, Stop, Version, place
from agentui.turns.placing.sent import read_sent, repeats, words_of


@dataclass
class Chat:
    """What is kept of a chat: floors by id, each behind its parent, and the heads of its branches."""

    floors: dict[str, Stop] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    followed: str = "main"
    number: int = 0

    def path(self, floor_id: str) -> list[Stop]:
        """From the root to a floor."""
        stops: list[Stop] = []
        at: str | None = floor_id
        while at is not None:
            stop = self.floors[at]
            stops.append(
                Stop(stop.floor_id, stop.branch_id, stop.parent_id, self.heads[stop.branch_id] == at, stop.asked, stop.answers)
            )
            at = stop.parent_id
        return stops[::-1]

    def place(self, messages: Sequence[Message], intent: Intent | None = None) -> Placement:
        """Where a request belongs."""
        order = sorted(self.heads, key=lambda branch: branch != self.followed)
        paths = [self.path(self.heads[branch]) for branch in order]
        head = paths[0][-1] if paths and self.followed in self.heads else None
        return place(read_sent(messages), paths, head, intent)

    def play(self, messages: Sequence[Message], answer: str, intent: Intent | None = None) -> tuple[Placement, str | None]:
        """Place a request and keep its turn; the floor that it became."""
        to = self.place(messages, intent)
        asked = next((message.text for message in reversed(messages) if message.role == "user"), "")
        if to.kind == "background":
            return to, None
        self.number += 1
        version = Version(f"p{self.number}", fingerprint(answer) or 0, True)
        if to.kind in ("regenerate", "continue"):
            assert to.floor_id is not None
            stop = self.floors[to.floor_id]
            older = tuple(old._replace(is_active=False) for old in stop.answers)
            self.floors[to.floor_id] = Stop(stop.floor_id, stop.branch_id, stop.parent_id, True, stop.asked, (*older, version))
            self.followed = stop.branch_id
            return to, to.floor_id
        if to.page_id is not None:
            assert to.floor_id is not None
            stop = self.floors[to.floor_id]
            chosen = tuple(old._replace(is_active=old.page_id == to.page_id) for old in stop.answers)
            self.floors[to.floor_id] = Stop(stop.floor_id, stop.branch_id, stop.parent_id, True, stop.asked, chosen)
        branch = to.branch_id or "main"
        if to.kind == "fork":
            branch = f"main~{self.number}"
        id = f"f{self.number}"
        asked_number = fingerprint(asked)
        self.floors[id] = Stop(
            id, branch, to.floor_id, True, frozenset(() if asked_number is None else (asked_number,)), (version,)
        )
        self.heads[branch], self.followed = id, branch
        return to, id

    def depth(self, floor_id: str) -> int:
        """How many turns led to a floor, it among them."""
        return len(self.path(floor_id))


def said(*texts: str) -> list[Message]:
    """Messages of which ``u:`` are the user's, ``a:`` the model's and ``s:`` the system's."""
    roles: dict[str, Any] = {"u": "user", "a": "assistant", "s": "system", "t": "tool"}
    return [text_message(roles[text[0]], text[2:]) for text in texts]


def played(*turns: tuple[list[Message], str]) -> Chat:
    """A chat in which these were played."""
    chat = Chat()
    for messages, answer in turns:
        chat.play(messages, answer)
    return chat


GREETING = "a:Welcome to the inn."
TWO = (
    (said("s:Be kind.", GREETING, "u:I look."), "You see."),
    (said(GREETING, "u:I look.", "a:You see.", "u:I dig."), "A hole."),
)


@pytest.mark.parametrize(
    ("sent", "kind", "floor"),
    [
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole.", "u:More."], "new", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig."], "regenerate", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I sing."], "fork", "f1"),
        ([GREETING, "u:I look."], "fork", None),
        (["a:Another greeting.", "u:Hello?"], "fork", None),
        ([GREETING, "u:(rain)", "u:I look.", "a:You see, which I changed.", "u:I sing."], "fork", "f1"),
        (["a:You see.", "u:I dig.", "a:A hole.", "u:More."], "new", "f2"),
        (["a:A hole.", "u:More."], "new", "f2"),
        (["u:Me: I dig.", "a:Inn: *A hole.*", "u:Me: More."], "new", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole, which I changed.", "u:More."], "new", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:(rain)", "u:I dig.", "a:A hole.", "u:More.", "u:(sun)"], "new", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.\n\n(rain)", "a:A hole.", "u:More."], "new", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.", "s:[Write on.]"], "regenerate", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole."], "continue", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole.", "s:[Continue your last message]"], "continue", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole.", "s:Summarise the story."], "background", None),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole.", "s:[Write the next reply only as Bob.]"], "new", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:Sure, here it"], "regenerate", "f2"),
        ([GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole, which I changed.", "s:Sum it up."], "background", None),
        (["s:Describe the picture."], "background", None),
        (["u:I sleep."], "new", "f2"),
    ],
)
def test_what_people_do_in_a_client(sent: list[str], kind: str, floor: str | None) -> None:
    placement = played(*TWO).place(said(*sent))
    assert (placement.kind, placement.floor_id) == (kind, floor)


@pytest.mark.parametrize(
    ("intent", "kind"),
    [("quiet", "background"), ("impersonate", "background"), ("continue", "continue"), ("normal", "new")],
)
def test_an_intent_settles_what_looks_alike(intent: Intent, kind: str) -> None:
    sent = said(GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole.", "s:[Write what comes next]")
    assert played(*TWO).place(sent, intent).kind == kind


def test_a_swipe_back_goes_on_from_the_version_that_is_shown() -> None:
    chat = played(*TWO)
    swipe = said(GREETING, "u:I look.", "a:You see.", "u:I dig.")
    chat.play(swipe, "A stone.")
    shown = chat.place(said(GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole.", "u:More."))
    assert (shown.kind, shown.floor_id, shown.page_id) == ("new", "f2", "p2")
    assert chat.place(said(GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A stone.", "u:More.")).page_id is None


def test_rounds_of_tools_belong_to_the_floor_that_called() -> None:
    chat = played(*TWO)
    call = Message("assistant", (ToolCall("c", "dig"),))
    result = Message("tool", (ToolResult("c"),))
    asked = said(GREETING, "u:I look.", "a:You see.", "u:I dig.", "a:A hole.", "u:Deeper.")
    chat.play(asked, "")
    placement = chat.place([*asked, call, result])
    assert (placement.kind, placement.floor_id) == ("regenerate", "f3")


def test_a_lone_question_about_the_chat_is_no_turn_of_it() -> None:
    chat = played(*TWO)
    path = chat.path("f2")
    title = said("u:### Task: a title for <chat>USER: I dig. ASSISTANT: A hole in the ground.</chat>")
    last = ["I dig in the garden."], ['A "deep" hole in the *ground*.']
    assert repeats(words_of(said("u:### Task: a title for <chat>A deep hole in the ground.</chat>")), *last)
    # Who classifies an answer sends it alone; who asks again says the same.
    assert repeats(words_of(said("s:Which mood is it?", "u:A deep hole in the ground.")), *last)
    assert not repeats(words_of(said("u:I dig in the garden.")), *last)
    assert place(replace(read_sent(title), tells=True), [path], path[-1]).kind == "background"


@given(st.text())
def test_spellings_are_found_whatever_a_text_holds(text: str) -> None:
    number = fingerprint(text)
    assert number is None or (number in spellings(text) and number in spellings(f"Some One: {text}"))
    assert number is None or -(2**63) <= number < 2**63


class Client(RuleBasedStateMachine):
    """Somebody who chats in a client that sends its history; the chat holds a floor for each question on the screen."""

    def __init__(self) -> None:
        super().__init__()
        self.chat = Chat()
        self.screen: list[tuple[str, list[str], int]] = []
        """Of each turn on the screen the question, the answers that it was given, and which is shown."""
        self.saved: list[list[tuple[str, list[str], int]]] = []
        self.count = 0

    def word(self, kind: str) -> str:
        """A text that nobody said before."""
        self.count += 1
        return f"{kind} number {self.count} of the story"

    def send(self, question: str | None, keep: int, note: int) -> None:
        """Ask for the last question again, or a new one; ``keep`` is how much of the history the client still sends."""
        history = [
            f"{side}:{text}" for asked, answers, shown in self.screen for side, text in (("u", asked), ("a", answers[shown]))
        ]
        history = ["a:A greeting.", *history]
        if question is None:
            history = history[:-1]
        else:
            history.append(f"u:{question}")
        history = history[-keep:]
        if 0 < note < len(history):
            history.insert(len(history) - note, f"u:[A note of {note}]")
        answer = self.word("answer")
        _, floor = self.chat.play(said("s:You are an innkeeper.", *history), answer)
        if question is None:
            asked, answers, _ = self.screen[-1]
            self.screen[-1] = (asked, [*answers, answer], len(answers))
        else:
            self.screen.append((question, [answer], 0))
        assert floor is not None and self.chat.depth(floor) == len(self.screen)

    @initialize()
    def begin(self) -> None:
        """The first turn."""
        self.send(self.word("question"), 100, 0)

    @rule(keep=st.integers(4, 100), note=st.integers(0, 4))
    def ask(self, keep: int, note: int) -> None:
        """Go on."""
        self.send(self.word("question"), keep, note)

    @precondition(lambda self: self.screen)
    @rule(keep=st.integers(4, 100), note=st.integers(0, 4))
    def swipe(self, keep: int, note: int) -> None:
        """Ask for another answer."""
        self.send(None, keep, note)

    @precondition(lambda self: self.screen)
    @rule(data=st.data())
    def swipe_back(self, data: Any) -> None:
        """Look at one of the answers."""
        asked, answers, _ = self.screen[-1]
        self.screen[-1] = (asked, answers, data.draw(st.integers(0, len(answers) - 1)))

    @precondition(lambda self: self.screen)
    @rule(data=st.data())
    def edit(self, data: Any) -> None:
        """Ask something else in the middle, and go on from there."""
        del self.screen[data.draw(st.integers(0, len(self.screen) - 1)) :]
        self.send(self.word("edited"), 100, 0)

    @precondition(lambda self: len(self.screen) > 1)
    @rule(data=st.data())
    def cut(self, data: Any) -> None:
        """Remove the last turns."""
        del self.screen[data.draw(st.integers(1, len(self.screen) - 1)) :]

    @rule()
    def save(self) -> None:
        """Keep a copy of the chat."""
        self.saved.append(list(self.screen))

    @precondition(lambda self: self.saved)
    @rule(data=st.data())
    def load(self, data: Any) -> None:
        """Go on in a copy."""
        self.screen = list(data.draw(st.sampled_from(self.saved)))


def test_a_chat_has_as_many_turns_as_the_client_shows() -> None:
    run_state_machine_as_test(Client, settings=settings(max_examples=15, stateful_step_count=40, deadline=None))  # type: ignore[no-untyped-call]  # hypothesis gives it no types
