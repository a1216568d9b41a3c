"""The memory follows a client: where its turns belong is told by the history that it sends."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from sqlalchemy import update

from agentui.jsonio import dumps
from agentui.store.tables import generations
from agentui.turns.recovery import recover
from tests.faults.callers import Asked, ask, asking
from tests.faults.conftest import until
from tests.turns.conftest import StartHouse
from tests.turns.house import House, chain, forward, sets, target
from tests.turns.house import text as says
from tests.upstreams.step import Step

GOLD = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"), ("chat", "all", "json", "{{ all|default(0)|add(1) }}"))


@pytest.fixture
async def counting(start_house: StartHouse) -> House:
    """A server whose pipeline ``gold`` counts the turns of a chat."""
    house = await start_house(turn_matching=True)
    house.server.put("gold", chain(GOLD, target("caller", house.mock.origin)))
    return house


@dataclass
class Client:
    """Somebody who chats in a client that sends its history: ``screen`` is what it shows."""

    house: House
    session: str = "tale"
    screen: list[tuple[str, str]] = field(default_factory=list)
    count: int = 0
    told: Mapping[str, str] = field(default_factory=dict)

    async def send(self, messages: Sequence[tuple[str, str]], **headers: str) -> str:
        """Send a history and hear the answer, which no other is like."""
        self.count += 1
        answer = f"Answer {self.count} of the innkeeper."
        self.house.mock.script(Step(text=answer))
        body = {"model": "text", "messages": [{"role": role, "content": text} for role, text in messages]}
        caller = self.house.caller(pipeline="gold", **{"session": self.session, **headers})
        got = await caller.post("/v1/chat/completions", body)
        assert got.status == 200, got.body
        self.told = got.headers
        return answer

    async def ask(self, text: str, **headers: str) -> None:
        """The next turn."""
        self.screen.append(("user", text))
        self.screen.append(("assistant", await self.send(self.screen, **headers)))

    async def swipe(self, **headers: str) -> None:
        """Another answer to the last question."""
        self.screen[-1] = ("assistant", await self.send(self.screen[:-1], **headers))

    @property
    def turn(self) -> str:
        """What the last answer said that its request was."""
        return self.told["x-agentui-turn"]

    async def gold(self) -> tuple[Any, Any]:
        """What the branch and the chat count where the last turn was."""
        seen = await self.house.memory.seen(self.told["x-agentui-session"], self.told["x-agentui-branch"])
        return seen["gold"], seen["all"]


async def test_two_turns_and_two_swipes_count_two(counting: House) -> None:
    client = Client(counting)
    await client.ask("I look around.")
    await client.ask("I dig.")
    await client.swipe()
    assert client.turn == "regenerate"
    await client.swipe()
    assert await client.gold() == (2, 2)
    # The last turn removed, and another one played.
    del client.screen[-2:]
    await client.ask("I sing.")
    assert client.turn == "fork"
    assert (await client.gold())[0] == 2
    await client.ask("I go on.")
    assert client.turn == "new"
    assert (await client.gold())[0] == 3


async def test_a_turn_goes_on_from_the_version_that_is_shown(counting: House) -> None:
    client = Client(counting)
    await client.ask("I look around.")
    first = client.screen[-1]
    await client.swipe()
    client.screen[-1] = first
    await client.ask("I dig.")
    assert client.turn == "new"
    [floor, _] = await counting.memory.floors(client.told["x-agentui-session"])
    said = [page for page in await counting.memory.get(f"/pages?floor_id={floor['id']}") if page["page_kind"] == "output"]
    [shown] = [page for page in said if page["is_active"]]
    assert (await counting.memory.get(f"/messages?page_id={shown['id']}"))[0]["content"] == first[1]
    assert await client.gold() == (2, 2)


async def test_an_edit_in_the_middle_forks_and_the_client_may_come_back(counting: House) -> None:
    client = Client(counting)
    for text in ("One.", "Two.", "Three."):
        await client.ask(text)
    before = list(client.screen)
    client.screen = client.screen[:2]
    await client.ask("Other two.")
    assert (client.turn, client.told["x-agentui-branch"]) == ("fork", "main~2")
    assert (await client.gold())[0] == 2
    client.screen = before
    await client.ask("Four.")
    assert (client.turn, client.told["x-agentui-branch"]) == ("new", "main")
    assert (await client.gold())[0] == 4


async def test_what_is_no_turn_sees_the_variables_and_keeps_nothing(counting: House) -> None:
    client = Client(counting)
    await client.ask("I look around.")
    quiet = [*client.screen, ("system", "Say where we are.")]
    await client.send(quiet)
    assert client.turn == "background" and "x-agentui-floor" not in client.told
    title = [("user", f"### Task: a title for <chat>{client.screen[-1][1]}</chat>")]
    await client.send(title)
    assert client.turn == "background"
    await client.send(quiet, intent="quiet")
    await client.send([*client.screen, ("user", "Aside.")], turn="background")
    assert client.turn == "background"
    await client.ask("I dig.")
    assert await client.gold() == (2, 2)


def asides(screen: Sequence[tuple[str, str]], question: str) -> dict[str, list[tuple[str, str]]]:
    """What Open WebUI and LibreChat ask of a chat beside its turns, by the forms that their public sources give it: Open WebUI
    quotes the last messages within ``chat_history`` (two for a title, six for tags and follow-ups, and for a search also the
    ``question`` that is about to be asked), LibreChat the last turn in one message, older ones as JSON and by the system."""

    def told(messages: Sequence[tuple[str, str]]) -> str:
        lines = "\n".join(f"{role.upper()}: {text}" for role, text in messages)
        return f"### Task:\nDo this.\n### Output:\nJSON\n### Chat History:\n<chat_history>\n{lines}\n</chat_history>"

    asked, answer = screen[-2][1], screen[-1][1]
    return {
        "Open WebUI: a title": [("user", told(screen[-2:]))],
        "Open WebUI: tags": [("user", told(screen[-6:]))],
        "Open WebUI: a search": [("user", told([*screen[-5:], ("user", question)]))],
        "LibreChat: a title": [("user", f"Do this.\n\nConversation:\nUser: {asked}\nAI: {answer}")],
        "LibreChat: an older title": [("system", f'Do this.\n\n||>User:\n"{asked}"\n||>Response:\n{dumps(answer).decode()}')],
    }


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("session", ["tale", "auto"])
async def test_what_other_clients_ask_beside_a_chat_is_no_turn_of_it(counting: House, session: str) -> None:
    client = Client(counting, session)
    for number in range(1, 5):
        question = f'Say "{number}"\nto them all.'
        if number > 1:
            for name, messages in asides(client.screen, question).items():
                await client.send(messages)
                assert (client.turn, "x-agentui-floor" in client.told) == ("background", False), (number, name)
        await client.ask(question)
        assert client.turn == "new"
    await client.swipe()
    assert (client.turn, await client.gold()) == ("regenerate", (4, 4))
    assert len(await counting.memory.get("/sessions")) == 1


async def test_an_answer_that_is_continued_is_kept_whole(counting: House) -> None:
    client = Client(counting)
    await client.ask("I look around.")
    more = await client.send([*client.screen, ("system", "[Continue your last message.]")])
    assert client.turn == "regenerate"
    client.screen[-1] = ("assistant", f"{client.screen[-1][1]} {more}")
    said = await counting.memory.get(f"/messages?floor_id={client.told['x-agentui-floor']}&role=assistant")
    assert {message["content"] for message in said} >= {"Answer 1 of the innkeeper.Answer 2 of the innkeeper."}
    await client.ask("I dig.")
    assert client.turn == "new" and await client.gold() == (2, 2)


async def test_auto_finds_each_chat_of_a_client(counting: House) -> None:
    one, other = Client(counting, "auto"), Client(counting, "auto", count=100)
    for client, words in ((one, "Hello."), (other, "Good evening.")):
        await client.ask(words)
    assert one.told["x-agentui-session"] != other.told["x-agentui-session"]
    for _ in range(2):
        for client in (one, other):
            await client.ask(f"On {client.count}.")
            await client.swipe()
    for client in (one, other):
        assert (client.turn, await client.gold()) == ("regenerate", (3, 3))
    title = [("user", f"### Task: a title for <chat>{one.screen[-1][1]}</chat>")]
    before = one.told["x-agentui-session"]
    await one.send(title)
    assert (one.turn, one.told["x-agentui-session"]) == ("background", before)
    titles = {session["title"] for session in await counting.memory.get("/sessions")}
    assert titles == {"Hello.", "Good evening."}


async def test_who_waits_for_a_chat_keeps_no_other_chat_waiting(start_house: StartHouse) -> None:
    house = await start_house(turn_matching=True, generation_queue=100)
    house.server.put("gold", chain(GOLD, target("caller", house.mock.origin)))
    one, other = Client(house, "auto"), Client(house, "auto", count=100)
    for client in (one, other):
        await client.ask(f"Hello {client.count}.")
    said = [{"role": role, "content": text} for role, text in (*one.screen, ("user", "On."))]
    caller = house.caller(pipeline="gold", session="auto")
    house.mock.script(Step(hold="headers"))
    count = len(house.mock.requests)
    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        first = group.create_task(caller.post("/v1/chat/completions", {"model": "text", "messages": said}))
        await house.mock.was_asked(count + 1)
        second = group.create_task(caller.post("/v1/chat/completions", {"model": "text", "messages": said}))
        await until(lambda: house.server.state.turns.queue._waiting, 30)  # it is in the queue, which nobody tells
        await other.ask("I dig.")
        assert not first.done() and not second.done()
        house.mock.release()
    assert (other.turn, await other.gold()) == ("new", (2, 2))
    assert second.result().headers["x-agentui-turn"] == "regenerate"


async def test_a_caller_with_another_key_joins_nobodys_chat(start_house: StartHouse) -> None:
    house = await start_house({"gold": chain(GOLD, sets(says("Welcome to the inn."), id="says"))}, turn_matching=True)

    async def ask(key: str, *said: str) -> tuple[str, str]:
        """The session and the kind of turn of a history."""
        messages = [{"role": ("user", "assistant")[at % 2], "content": words} for at, words in enumerate(said)]
        caller = replace(house.caller(pipeline="gold", session="auto"), key=key)
        got = await caller.post("/v1/chat/completions", {"model": "text", "messages": messages})
        assert got.status == 200, got.body
        return got.headers["x-agentui-session"], got.headers["x-agentui-turn"]

    opening = "I enter.", "Welcome to the inn."
    mine, _ = await ask("key-of-ann", opening[0])
    assert await ask("key-of-ann", *opening, "I sit.") == (mine, "new")
    for others in ("key-of-bob", ""):
        theirs, kind = await ask(others, *opening, "I sit.")
        assert theirs != mine and kind == "new"
        assert await ask(others, *opening, "I sit.", "Welcome to the inn.", "I eat.") == (theirs, "new")
    assert await ask("key-of-ann", *opening, "I sit.") == (mine, "regenerate")
    assert (await house.memory.seen(mine))["gold"] == 2


async def test_a_chat_may_begin_with_any_character(counting: House) -> None:
    client = Client(counting, "auto")
    await client.ask("I look\0around.")
    assert [session["title"] for session in await counting.memory.get("/sessions")] == ["I look\ufffdaround."]


async def test_a_greeting_that_nobody_asked_for_is_continued(counting: House) -> None:
    snapshot = {"name": "Bob", "first_mes": "Welcome to the inn."}
    status, body = await counting.memory.call("POST", "/sessions", {"character_snapshot": snapshot})
    assert status == 201, body
    client = Client(counting, body["data"]["id"])
    more = await client.send([("assistant", "Welcome to the inn."), ("system", "[Continue your last message.]")])
    [floor] = await counting.memory.floors(client.session)
    assert (client.turn, client.told["x-agentui-floor"]) == ("regenerate", floor["id"])
    said = await counting.memory.get(f"/messages?floor_id={floor['id']}")
    assert {message["content"] for message in said} == {"Welcome to the inn.", f"Welcome to the inn.{more}"}


async def test_a_fork_that_failed_leaves_the_branch_before_it_alone(counting: House) -> None:
    client = Client(counting)
    for text in ("One.", "Two.", "Three."):
        await client.ask(text)
    client.screen = client.screen[:4]
    counting.mock.script(Step(status=400))
    messages = [{"role": role, "content": text} for role, text in (*client.screen, ("user", "Other three."))]
    caller = counting.caller(pipeline="gold", session="tale")
    failed = await caller.post("/v1/chat/completions", {"model": "text", "messages": messages})
    assert (failed.status, failed.headers["x-agentui-branch"]) == (400, "main~2")
    # The question is removed, and the answer before it is asked for again.
    await client.swipe()
    assert (client.turn, (await client.gold())[0]) == ("fork", 2)
    session = client.told["x-agentui-session"]
    assert (await counting.memory.seen(session))["gold"] == 3
    await client.ask("Go on.")
    assert (client.turn, (await client.gold())[0]) == ("new", 3)


async def test_a_fork_whose_process_died_leaves_no_branch(counting: House) -> None:
    client = Client(counting)
    for text in ("One.", "Two.", "Three."):
        await client.ask(text)
    client.screen = client.screen[:4]
    session = client.told["x-agentui-session"]
    messages = [{"role": role, "content": text} for role, text in (*client.screen, ("user", "Other three."))]
    counting.mock.script(Step(hold="headers"))
    async with asyncio.TaskGroup() as group:
        caller = counting.caller(pipeline="gold", session="tale")
        cut = group.create_task(caller.post("/v1/chat/completions", {"model": "text", "messages": messages}))
        await counting.mock.was_asked(4)
        store = counting.server.state.store
        await store.write(lambda db: db.execute(update(generations).values(owner="server_dead", expires_at=1)) and None)
        await store.write(recover, "server", 2)
        branches = await counting.memory.get(f"/sessions/{session}/branches")
        counting.mock.forget_steps()
        counting.mock.release()
    assert [branch["branch_id"] for branch in branches] == ["main"]
    assert (cut.result().status, (await counting.memory.seen(session))["gold"]) == (409, 3)
    await client.ask("Other three.")
    assert (client.turn, client.told["x-agentui-branch"], (await client.gold())[0]) == ("fork", "main~2", 3)


async def test_a_floor_that_its_branch_left_is_no_head(counting: House) -> None:
    client = Client(counting)
    for text in ("One.", "Two.", "Three.", "Four."):
        await client.ask(text)
    client.screen = client.screen[:6]
    await client.ask("Other four.")
    session = client.told["x-agentui-session"]
    [first, *_] = await counting.memory.floors(session)
    reset = {"target_floor_id": first["id"]}
    status, body = await counting.memory.call("POST", f"/sessions/{session}/branches/main/reset", reset)
    assert status == 200, body
    # The client is on its fork, whose past is no longer on main.
    await client.ask("Other five.")
    assert (client.turn, client.told["x-agentui-branch"]) == ("new", "main~2")
    shown = list(client.screen)
    client.screen = client.screen[:6]
    await client.swipe()
    assert (client.turn, (await client.gold())[0]) == ("fork", 3)
    client.screen = shown
    await client.ask("Other six.")
    assert (client.turn, client.told["x-agentui-branch"]) == ("new", "main~2")
    client.screen = client.screen[:4]
    await client.ask("Another three.")
    assert (client.turn, (await client.gold())[0]) == ("fork", 3)


async def test_rounds_of_tools_belong_to_the_floor_that_called(counting: House) -> None:
    client = Client(counting)
    await client.ask("I look around.")
    asked = [*client.screen, ("user", "How is the weather?")]
    await client.send(asked)
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    messages = [{"role": role, "content": text} for role, text in asked]
    messages += [{"role": "assistant", "content": None, "tool_calls": [call]}]
    messages += [{"role": "tool", "tool_call_id": "c", "content": "Sunny."}]
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
    caller = counting.caller(pipeline="gold", session="tale")
    got = await caller.post("/v1/chat/completions", {"model": "text", "messages": messages, "tools": [tool]})
    assert got.status == 200, got.body
    assert got.headers["x-agentui-floor"] == client.told["x-agentui-floor"]
    client.told = got.headers
    assert await client.gold() == (2, 2)


async def test_matching_can_be_turned_off(start_house: StartHouse) -> None:
    house = await start_house()
    house.server.put("gold", chain(GOLD, target("caller", house.mock.origin)))
    client = Client(house)
    await client.ask("I look around.")
    await client.swipe()
    assert (client.turn, await client.gold()) == ("new", (2, 2))
    await client.swipe(turn="regenerate")
    assert (client.turn, await client.gold()) == ("regenerate", (2, 2))


async def test_a_turn_that_nobody_knows_is_refused(counting: House) -> None:
    got = await counting.caller(session="tale", turn="swipe").ask()
    assert got.status == 400 and b"x-agentui-turn" in got.body


@pytest.mark.parametrize("pipeline", ["gold", "raw-gold"])
async def test_words_that_a_client_stopped_are_gone_on_from(counting: House, pipeline: str) -> None:
    counting.server.put("raw-gold", chain(GOLD, forward(counting.mock.origin)))
    client = Client(counting)
    await client.ask("I look around.")
    counting.mock.script(Step(text="again and ", forever=True, pause=0.002))
    client.screen.append(("user", "I dig."))
    messages = [{"role": role, "content": text} for role, text in client.screen]
    plain = ask("openai", "text", stream=True)
    headers = {**plain.headers, "x-agentui-session": client.session}
    question = Asked(f"/p/{pipeline}/v1/chat/completions", headers, {**plain.body, "messages": messages})
    async with asking(counting.server.origin, question) as (reader, _):
        await reader.readuntil(b"again")
    session = client.told["x-agentui-session"]
    await counting.memory.becomes(f"/sessions/{session}/timeline", lambda found: len(found["floors"]) == 2)
    page = (await counting.memory.get(f"/sessions/{session}/timeline"))["floors"][1]["pages"][-1]
    assert page["is_partial"]
    words = page["messages"][0]["content"]
    assert words.startswith("again")
    assert await client.gold() == (1, 1)
    client.screen.append(("assistant", words))
    await client.ask("I go on.")
    assert client.turn == "new"
    assert await client.gold() == (2, 2)
    assert len((await counting.memory.get(f"/sessions/{session}/timeline"))["floors"]) == 3
