"""Whatever a client does to its chat before it sends it, the memory holds what the client's screen shows: one session for each
chat, a floor for each question, and the questions as they were said."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentui.chat.messages import Message, text_message
from agentui.chats.lineage import ancestors
from agentui.chats.parts import Content, content_of, input_parts
from agentui.chats.questions import find_question
from agentui.jobs.runner import JobRunner
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.sqlite import SqliteStore
from agentui.turns.placing.matching import Intent
from agentui.turns.placing.placed import AUTO, OtherQuestion, Placer
from agentui.turns.placing.sent import read_sent, words_of
from agentui.turns.request import Outcome, TurnRequest
from agentui.turns.service import Turn, TurnService

NUMBERS = count()
Processing = Literal["none", "merge", "semi", "strict", "single"]
Said = tuple[str, str]
"""Role and text."""
NUDGE = "[Continue your last message without repeating its original content.]"


@dataclass(frozen=True)
class Habits:
    """How a client makes its requests. ``ends``: its preset ends with a text in the user's name; ``behind``: with one of the
    system's. ``answers`` is what its regular expressions make of stored answers."""

    processing: Processing = "none"
    ends: bool = False
    behind: bool = False
    dice: bool = False
    answers: Literal["as they are", "status", "block", "smile"] = "as they are"
    says: bool = False


@dataclass
class Exchange:
    """A question on the screen, its answers, and which is shown."""

    question: str
    answers: list[str] = field(default_factory=list)
    shown: int = 0


def processed(messages: Sequence[Said], way: Processing) -> list[Said]:
    """What SillyTavern's prompt post-processing makes of messages (``mergeMessages`` of its ``prompt-converters.js``)."""
    if way == "none":
        return list(messages)
    names = {"user": "Ann: ", "assistant": "Bob: "}
    if way == "single":
        messages = [("user", names.get(role, "") + text) for role, text in messages]
    merged = _merged(messages)
    if way == "merge":
        return merged
    merged = [("user" if role == "system" and at else role, text) for at, (role, text) in enumerate(merged)]
    if way == "strict" and len(merged) > 1 and merged[1][0] != "user":
        merged.insert(1, ("user", "[Start a new chat]"))
    return _merged(merged)


def _merged(messages: Sequence[Said]) -> list[Said]:
    merged: list[Said] = []
    for role, text in messages:
        if merged and merged[-1][0] == role:
            merged[-1] = (role, f"{merged[-1][1]}\n\n{text}")
        else:
            merged.append((role, text))
    return merged


class Client:
    """Somebody who chats; every text that is said is said once."""

    def __init__(self, runner: asyncio.Runner, turns: TurnService, habits: Habits) -> None:
        self.runner, self.turns, self.habits = runner, turns, habits
        self.number = next(NUMBERS)
        self.screen: list[Exchange] = []
        self.saved: list[list[Exchange]] = []
        self.session: str | None = None
        self.has_grown = False
        self.said = 0

    @property
    def can_ask_the_first_again(self) -> bool:
        """Many chats begin with the same words. A first question alone is the old chat's only if nothing followed it there, or
        the client says that it swipes; with dice behind it no two are the same."""
        return not self.habits.dice and (self.habits.says or not self.has_grown)

    @property
    def can_go_on(self) -> bool:
        """Words in the user's name behind an answer are a question, unless the client says that it continues. A first answer
        that is continued on a branch of its own has nothing of how the chat began by which a swipe of it would be known."""
        is_first = len(self.screen) == 1 and self.has_grown
        return not is_first and (self.habits.says or not (self.habits.dice or self.habits.ends))

    def words(self, kind: str) -> str:
        """Words that nobody said before, some of them in paragraphs."""
        number = next(NUMBERS)
        self.said += 1
        more = f"\n\nAnd the {kind} goes on, {number} times." if self.said % 3 == 0 else ""
        return f"The {kind} number {number} of the tale is told.{more}"

    def sent(self, history: Sequence[Said], nudge: str | None = None) -> list[Message]:
        """The request that asks for more."""
        habits = self.habits
        messages: list[Said] = [
            ("system", f"You are innkeeper {self.number}."),
            ("assistant", f"Welcome to inn {self.number}."),
        ]
        messages += [(role, self._changed(text) if role == "assistant" else text) for role, text in history]
        if habits.dice:
            messages.append(("user", f"(The dice show {next(NUMBERS)} and the moon.)"))
        if habits.ends:
            # Everybody's own: before a chat's second request it may be all that is known of its first question, and a lone
            # question that quotes another chat's last words is about that one.
            messages.append(("user", f"Now write the next scene of inn {self.number}.\n\nBe vivid."))
        if habits.behind:
            messages.append(("system", f"Stay in your role at inn {self.number}."))
        if nudge is not None:
            messages.append(("system", nudge))
        roles: Any = {"user": "user", "assistant": "assistant", "system": "system"}
        return [text_message(roles[role], text) for role, text in processed(messages, habits.processing)]

    def _changed(self, answer: str) -> str:
        match self.habits.answers:
            case "status":
                return f"{answer}\n\n[Gold: 12, mood: calm]"
            case "block":
                return answer.partition("<UpdateVariable>")[0].strip() + "\n\n<StatusPlaceHolderImpl/>"
            case "smile":
                return answer.replace("nods", "smiles")
        return answer

    def history(self) -> list[Said]:
        """What the screen shows."""
        return [said for one in self.screen for said in (("user", one.question), ("assistant", one.answers[one.shown]))]

    def send(self, messages: Sequence[Message], intent: Intent) -> str:
        """Play a turn; its answer."""
        answer = f"{self.words('answer')} The innkeeper nods. It is late.\n<UpdateVariable>\nx\n</UpdateVariable>"

        async def play() -> Turn:
            placer = Placer(read_sent(messages), words_of(messages), intent if self.habits.says else None, None)
            while True:
                last = next(message.text for message in reversed(messages) if message.role == "user")
                said = await content_of(last, input_parts(messages)) if placer.own is None else Content(placer.own[-1])
                try:
                    turn = await self.turns.begin(TurnRequest(DEFAULT_ACCOUNT, "run", AUTO, user=said, place=placer))
                except OtherQuestion:
                    continue
                begun = self.history()[-1][1] if placer.continues else ""
                await turn.commit(Outcome(Content(begun + answer)))
                return turn

        turn = self.runner.run(play())
        self._check(turn)
        return answer

    def _check(self, turn: Turn) -> None:
        """The floor of the turn is where the screen shows it, in the chat's own session."""
        place = turn.place
        assert self.session in (None, place.session_id)
        self.session = place.session_id

        def kept(db: Any) -> list[str]:
            ids = [place.floor_id, *(id for some in ancestors(db, DEFAULT_ACCOUNT, place.floor_id) for id in some)]
            found = [find_question(db, DEFAULT_ACCOUNT, id) for id in reversed(ids)]
            return [question.text for question in found if question is not None]

        questions = self.runner.run(self.turns.store.read(kept))
        assert len(questions) == len(self.screen)
        # What the last one really said shows with the next request.
        assert questions[:-1] == [one.question for one in self.screen[:-1]]

    def ask(self, keep: int) -> None:
        """The next question, of which the client sends the last ``keep`` messages."""
        self.screen.append(Exchange(self.words("question")))
        answered = self.screen[:-1]
        self.has_grown = self.has_grown or bool(answered)
        history = [said for one in answered for said in (("user", one.question), ("assistant", one.answers[one.shown]))]
        history = [*history, ("user", self.screen[-1].question)]
        self.screen[-1].answers.append(self.send(self.sent(history[-keep:]), "normal"))

    def swipe(self) -> None:
        """Another answer to the last question."""
        last = self.screen[-1]
        last.answers.append(self.send(self.sent(self.history()[:-1]), "swipe"))
        last.shown = len(last.answers) - 1

    def go_on(self) -> None:
        """The last answer continued."""
        last = self.screen[-1]
        last.answers[last.shown] += self.send(self.sent(self.history(), NUDGE), "continue")


MOVES = st.tuples(
    st.sampled_from(["ask"] * 4 + ["swipe", "swipe", "back", "edit", "cut", "copy", "return", "restart", "rewrite", "go on"]),
    st.integers(0, 5),
)
FLAGS = [st.booleans()] * 3
ANSWERS = st.sampled_from(["as they are", "status", "block", "smile"])
JOINED: st.SearchStrategy[Processing] = st.sampled_from(["none", "none", "merge", "semi", "strict"])
HABITS = st.one_of(
    st.builds(Habits, JOINED, *FLAGS, ANSWERS, st.booleans()),
    # Within a chat that is one message nothing but the names tells a preset's texts from what was said, and paragraphs that a
    # client adds to answers from the answers themselves.
    st.builds(Habits, st.just("single"), *[st.just(False)] * 3, st.just("as they are"), st.booleans()),
)


def move(client: Client, what: str, number: int) -> None:
    """One thing that the person does."""
    screen = client.screen
    match what:
        case "swipe" if len(screen) > 1 or (screen and client.can_ask_the_first_again):
            client.swipe()
        case "go on" if screen and client.can_go_on:
            client.go_on()
        case "back" if screen:
            screen[-1].shown = number % len(screen[-1].answers)
        # The only answer, written anew as a whole, leaves one known question, with which many chats begin.
        case "rewrite" if len(screen) > 1:
            last = screen[-1]
            last.answers[last.shown] = client.words("rewritten answer")
        case "edit" if len(screen) > 1:
            del screen[1 + number % (len(screen) - 1) :]
            client.ask(100)
        case "cut" if len(screen) > 1:
            del screen[1 + number % (len(screen) - 1) :]
        case "copy":
            client.saved.append([Exchange(one.question, list(one.answers), one.shown) for one in screen])
        case "return" if client.saved and client.saved[-1]:
            client.screen = client.saved.pop()
        case _:
            client.ask(100 if number < 4 else 5)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[tuple[asyncio.Runner, SqliteStore]]:
    """A store that chats are played on, and who runs them."""
    store = SqliteStore(tmp_path / "agentui.db")
    with asyncio.Runner() as runner:
        yield runner, store
        runner.run(store.close())


def test_the_memory_holds_what_the_screens_show(table: tuple[asyncio.Runner, SqliteStore]) -> None:
    runner, store = table

    def service() -> TurnService:
        return TurnService(store, JobRunner(store, "test"), "test", queue_seconds=0, is_alone=True)

    @settings(max_examples=25, deadline=None, report_multiple_bugs=False)
    @given(every=st.lists(HABITS, min_size=1, max_size=2), moves=st.lists(MOVES, min_size=5, max_size=25))
    def are_held(every: list[Habits], moves: list[tuple[str, int]]) -> None:
        turns = service()
        clients = [Client(runner, turns, habits) for habits in every]
        for client in clients:
            client.ask(100)
        for at, (what, number) in enumerate(moves):
            client = clients[at % len(clients)]
            if what == "restart":
                runner.run(turns.close())
                turns = service()
                for one in clients:
                    one.turns = turns
            else:
                move(client, what, number)
        assert len({client.session for client in clients}) == len(clients)
        runner.run(turns.close())

    are_held()
