"""Somebody who does in a client what people do there: after each request the variables are those of the chat on the screen.

A chat has up to 200 turns. Answers are swiped, there and back, questions edited, turns removed, copies of the chat saved and
opened again, a second chat begun; the client drops the beginning of what it sends, and injects notes. The plain model is the
screen itself: the branch's variables hold each of its questions once, in their order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import aiohttp

from tests.api.callers import Caller
from tests.campaigns.campaign import Campaign, Trial
from tests.conftest import servers
from tests.turns.house import Memory, chain, sets, target
from tests.upstreams.server import Mock, start_mock
from tests.upstreams.step import Step

MOST_TURNS = 200
LEAST_SENT = 4
COUNTS = sets(
    ("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"),
    ("branch", "said", "string", "{{ said|default('') }}/{{ chat.last_user }}"),
)
DEEDS = (
    ("ask",) * 8 + ("swipe",) * 4 + ("swipe back",) * 2 + ("edit", "cut", "save", "open", "begin", "change an answer", "aside")
)


@dataclass
class Shown:
    """A turn on the screen: its question, its answers, and which of them is shown."""

    question: str
    answers: tuple[str, ...]
    at: int = 0

    @property
    def answer(self) -> str:
        """The answer that is shown."""
        return self.answers[self.at]


@dataclass
class Client:
    """One person and one session."""

    trial: Trial
    memory: Memory
    mock: Mock
    session: str
    chance: Random
    screen: list[Shown] = field(default_factory=list)
    saved: list[list[Shown]] = field(default_factory=list)
    number: int = 0

    def words(self, kind: str) -> str:
        """A text that nobody has said before."""
        self.number += 1
        return f"{kind} {self.number} of {self.session}"

    async def do(self, deed: str) -> None:
        """One of the things that people do; nothing where it cannot be done now."""
        last = self.screen[-1] if self.screen else None
        match deed:
            case "ask" if len(self.screen) < MOST_TURNS:
                await self.ask(self.words("Question"))
            case "swipe" if last is not None:
                answer = await self.send(self.history()[:-1], len(self.screen))
                self.screen[-1] = Shown(last.question, (*last.answers, answer), len(last.answers))
            case "swipe back" if last is not None:
                self.screen[-1] = Shown(last.question, last.answers, self.chance.randrange(len(last.answers)))
            case "edit" if last is not None:
                del self.screen[self.chance.randrange(len(self.screen)) :]
                await self.ask(self.words("Edited"), whole=True)
            case "cut" if len(self.screen) > 1:
                del self.screen[self.chance.randrange(1, len(self.screen)) :]
            case "save":
                self.saved.append(list(self.screen))
            case "open" if self.saved:
                self.screen = list(self.chance.choice(self.saved))
            case "begin":
                self.saved.append(self.screen)
                self.screen = []
            case "change an answer" if last is not None:
                self.screen[-1] = Shown(last.question, (*last.answers, self.words("Changed")), len(last.answers))
            case "aside" if last is not None:
                await self.aside()

    async def ask(self, question: str, *, whole: bool = False) -> None:
        """The next turn."""
        history = [*self.history(), ("user", question)]
        self.screen.append(Shown(question, ("",)))
        self.screen[-1] = Shown(question, (await self.send(history, len(self.screen), whole=whole),))

    def history(self) -> list[tuple[str, str]]:
        """What the client would send of its screen."""
        turns = [said for turn in self.screen for said in (("user", turn.question), ("assistant", turn.answer))]
        return [("assistant", f"Welcome to {self.session}."), *turns]

    async def send(self, history: list[tuple[str, str]], turns: int, *, whole: bool = False) -> str:
        """Send a history as clients do; what is left behind is that of so many turns on the screen."""
        # A history that says nothing but what is new tells nobody where it belongs.
        kept = history if whole or turns < LEAST_SENT else history[-self.chance.randint(LEAST_SENT, 2 * MOST_TURNS) :]
        depth = self.chance.randrange(6)
        if 0 < depth < len(kept):
            kept = [*kept[:-depth], ("user", f"[A note, {depth} before the end]"), *kept[-depth:]]
        answer = self.words("Answer")
        got, seen = await self.request([("system", "You keep an inn."), *kept], answer)
        wanted = {"gold": turns, "said": "".join(f"/{turn.question}" for turn in self.screen[:turns])}
        if seen != wanted:
            self.trial.fail(f"{self.session}, after {self.number} texts: {got.get('x-agentui-turn')} gave {seen}, not {wanted}")
        return answer

    async def aside(self) -> None:
        """What is about the chat, and no turn of it."""
        got, _ = await self.request([*self.history(), ("system", "Sum it up.")], self.words("Summary"))
        if got.get("x-agentui-turn") != "background":
            self.trial.fail(f"{self.session}: a summary was {got.get('x-agentui-turn')}")

    async def request(self, messages: list[tuple[str, str]], answer: str) -> tuple[Mapping[str, str], Mapping[str, object]]:
        """Post, and look at the branch's variables: the answer's headers, and what is seen."""
        self.trial.counts["requests"] += 1
        self.mock.script(Step(text=answer))
        caller = Caller("openai", self.memory.origin, headers={"x-agentui-session": self.session})
        body = {"model": "text", "messages": [{"role": role, "content": text} for role, text in messages]}
        got = await caller.post("/v1/chat/completions", body)
        if got.status != 200:
            self.trial.fail(f"{self.session}: {got.status} {got.body[:300]!r}")
            return {}, {}
        self.trial.counts[got.headers["x-agentui-turn"]] += 1
        if "x-agentui-branch" not in got.headers:
            return got.headers, {}
        return got.headers, await self.memory.seen(got.headers["x-agentui-session"], got.headers["x-agentui-branch"])


async def clients(trial: Trial) -> None:
    """One chat after the other, until enough was asked."""
    mock = await start_mock()
    try:
        async with servers(trial.folder) as start, aiohttp.ClientSession() as http:
            server = await start({"count": chain(COUNTS, target("caller", mock.origin))}, active="count")
            while trial.counts["requests"] < trial.size and not trial.is_over() and not trial.failures:
                chance = Random(trial.random.random())
                trial.counts["chats"] += 1
                client = Client(trial, Memory(server.origin, http), mock, f"chat {trial.counts['chats']}", chance)
                for _ in range(chance.choice((5, 20, 60, 400))):
                    if trial.is_over() or trial.failures or trial.counts["requests"] >= trial.size:
                        break
                    await client.do(chance.choice(DEEDS))
    finally:
        await mock.close()


CAMPAIGNS = [Campaign("turns.clients", clients, counted="requests", short=250, long=100_000, short_seconds=60)]
