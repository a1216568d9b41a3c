"""What SillyTavern and its like do to a chat before they send it again, and what the memory makes of it."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.turns.conftest import StartHouse
from tests.turns.house import House, chain, target
from tests.turns.test_following import GOLD, Client
from tests.upstreams.step import Step

Texts = Sequence[tuple[str, str]]
ENDS = ("user", "Now write the next scene, with care.")


@pytest.fixture
async def house(start_house: StartHouse) -> House:
    """A server whose pipeline ``gold`` counts the turns of a chat."""
    house = await start_house(turn_matching=True)
    house.server.put("gold", chain(GOLD, target("caller", house.mock.origin)))
    return house


async def asked(house: House, session: str) -> list[str]:
    """What the chat's floors ask, from its root on."""
    floors = (await house.memory.get(f"/sessions/{session}/timeline"))["floors"]
    pages = [page for floor in floors for page in floor["pages"] if page["page_kind"] == "input"]
    return [message["content"] for page in pages for message in page["messages"]]


class Tavern(Client):
    """A client that adds and changes before it sends: ``around`` makes what is sent of what the screen shows."""

    around: Callable[[Texts], Texts] = staticmethod(lambda screen: screen)

    async def send(self, messages: Texts, **headers: str) -> str:
        return await super().send(self.around(messages), **headers)


@pytest.mark.parametrize("session", ["tale", "auto"])
async def test_a_preset_that_ends_with_a_users_text_hides_no_question(house: House, session: str) -> None:
    client = Tavern(house, session)
    client.around = lambda screen: [("system", "Be kind."), *screen, ENDS]
    for text in ("I look around.", "I dig a hole.", "I go on.", "I go on."):
        await client.ask(text)
    assert client.turn == "new" and await client.gold() == (4, 4)
    found = client.told["x-agentui-session"]
    assert await asked(house, found) == ["I look around.", "I dig a hole.", "I go on.", "I go on."]
    await client.swipe()
    assert client.turn == "regenerate" and await client.gold() == (4, 4)
    sessions = await house.memory.get("/sessions")
    assert [session["id"] for session in sessions] == [found]
    if session == "auto":
        assert sessions[0]["title"] == "I look around."


async def test_dice_behind_the_question_are_none_of_it(house: House) -> None:
    client = Tavern(house)
    rolls = iter(range(100))
    client.around = lambda screen: [*screen, ("user", f"[The dice show {next(rolls)} and a bird.]")]
    await client.ask("I look around.")
    await client.ask("I dig a hole.", intent="normal")
    await client.swipe(intent="swipe")
    assert client.turn == "regenerate"
    session = client.told["x-agentui-session"]
    assert await asked(house, session) == ["I look around.", "I dig a hole."]
    client.screen[-1] = ("assistant", "Something else, by hand.")
    client.around = lambda screen: [*screen, ("user", "[The dice show 2 and a bird.]")]
    await client.ask("I sleep.", intent="normal")
    assert client.turn == "new" and await client.gold() == (3, 3)


async def test_pictures_stay_with_the_question_that_stood_beside_others(house: House) -> None:
    picture = "data:image/png;base64,iVBORw0KGgo="
    looked = [{"type": "text", "text": "I show it."}, {"type": "image_url", "image_url": {"url": picture}}]

    async def send(*messages: tuple[str, Any]) -> str:
        house.mock.script(Step(text=f"Answer {len(messages)}."))
        body = {"model": "text", "messages": [{"role": role, "content": content} for role, content in messages]}
        got = await house.caller(pipeline="gold", session="tale").post("/v1/chat/completions", body)
        assert got.status == 200, got.body
        return f"Answer {len(messages)}."

    first = [("user", "I look around."), ("assistant", await send(("user", "I look around."), ENDS))]
    second = [*first, ("user", looked), ENDS]
    answer = await send(*second)
    third = [*first, ("user", looked), ("assistant", answer), ("user", "And?"), ENDS]
    await send(*third)
    [_, shown, _] = await floors_of(house, "tale")
    assert [part["type"] for part in shown["parts"]] == ["image", "text"]
    assert [shown["content"], shown["parts"][1]["text"]] == ["I show it.", "I show it."]


async def floors_of(house: House, name: str) -> list[dict[str, Any]]:
    """The questions of a session's floors, as messages."""
    [session] = [one for one in await house.memory.get("/sessions") if one["title"] == name]
    floors = (await house.memory.get(f"/sessions/{session['id']}/timeline"))["floors"]
    return [page["messages"][0] for floor in floors for page in floor["pages"] if page["page_kind"] == "input"]


def changed(screen: Texts, number: int) -> list[tuple[str, str]]:
    """The screen as a client's regular expressions change its answers, each in its own way."""
    ways: Sequence[Callable[[str], str]] = (
        lambda text: f"{text}\n\n[Status: calm, 12 gold]",
        lambda text: f"*{text.replace('nod', 'smile')}*",
        lambda text: f"{text}\n\n<StatusPlaceHolderImpl/>",
        lambda text: f"<div class='bar'>12 gold</div>\n{text}",
    )
    return [(role, ways[number % len(ways)](text) if role == "assistant" else text) for role, text in screen]


@pytest.mark.parametrize("way", range(4))
async def test_a_chat_whose_answers_the_client_changes_is_one_session(house: House, way: int) -> None:
    client = Tavern(house, "auto")
    block = "\n<UpdateVariable>_.set('gold', 1);</UpdateVariable>"

    async def send(messages: Texts, **headers: str) -> str:
        client.count += 1
        told = f"Scene {client.count} opens.\n\nThe innkeeper gives a nod.\n\nThe night of day {client.count} falls.{block}"
        house.mock.script(Step(text=told))
        body = {"model": "text", "messages": [{"role": role, "content": text} for role, text in messages]}
        got = await house.caller(pipeline="gold", session="auto").post("/v1/chat/completions", body)
        client.told = got.headers
        return told.removesuffix(block)

    client.send = lambda messages, **headers: send([("system", "Be kind."), *changed(messages, way)], **headers)  # type: ignore[method-assign]
    for text in ("I look.", "I dig.", "I sleep.", "I look."):
        await client.ask(text)
        await client.swipe()
    assert client.turn == "regenerate" and await client.gold() == (4, 4)
    assert len(await house.memory.get("/sessions")) == 1
    first = client.screen[:2]
    client.screen[:] = first
    await client.ask("I leave.")
    assert client.turn == "fork" and (await client.gold())[0] == 2
    assert len(await house.memory.get("/sessions")) == 1


async def test_two_questions_in_their_order_tell_a_chat(house: House) -> None:
    client = Client(house, "auto")
    for text in ("I look around in the inn.", "I dig a hole in the yard.", "I sleep."):
        await client.ask(text)
    session = client.told["x-agentui-session"]
    other = Client(house, "auto")
    for text in ("Hello.", "Go on."):
        await other.ask(text)
    client.screen = [(role, text if role == "user" else "Übersetzt, Wort für Wort.") for role, text in client.screen]
    await client.ask("I wake up.")
    assert (client.told["x-agentui-session"], client.turn, await client.gold()) == (session, "new", (4, 4))
    # What everybody says is no mark of a chat.
    stranger = [("user", "Hello."), ("assistant", "Ja?"), ("user", "Go on."), ("assistant", "Gut."), ("user", "And now?")]
    await client.send(stranger)
    assert client.told["x-agentui-session"] not in (session, other.told["x-agentui-session"])


async def test_no_session_is_left_by_what_is_no_chat(house: House) -> None:
    client = Tavern(house, "auto")
    client.around = lambda screen: [("system", "You are an innkeeper."), ("assistant", "Welcome to the inn."), *screen]
    await client.ask("I look around.")
    await client.swipe()
    await client.swipe()
    assert client.turn == "regenerate"
    first = client.told["x-agentui-session"]
    await Client.send(client, [("system", "Which mood is it? Say one word."), ("user", client.screen[-1][1].replace("*", ""))])
    assert client.turn == "background"
    await client.send([*client.screen, ("system", "[Write on from where you left off.]")])
    assert client.turn == "regenerate"
    house.mock.script(Step(text="Blue."))
    caller = house.caller(pipeline="gold", session="auto")
    caller.headers["User-Agent"] = "node-fetch"
    got = await caller.post("/v1/chat/completions", {"model": "text", "messages": [{"role": "user", "content": "A colour?"}]})
    assert got.headers["x-agentui-turn"] == "background"
    assert [one["id"] for one in await house.memory.get("/sessions")] == [first]
    # The same words behind another opening begin another chat, and behind the same one, once the first went on.
    await client.ask("I go on.")
    other = Tavern(house, "auto", count=50)
    other.around = client.around
    await other.ask("I look around.")
    assert (other.turn, len(await house.memory.get("/sessions"))) == ("new", 2)
    other.screen, other.around = [], lambda screen: [("system", "You are a smith."), *screen]
    await other.ask("I look around.")
    assert (other.turn, len(await house.memory.get("/sessions"))) == ("new", 3)


async def test_a_request_for_changes_of_variables_is_no_turn(house: House) -> None:
    client = Client(house)
    await client.ask("I look around.")
    asks = [("system", "<past_observe>\nOld words.\n</past_observe>"), ("user", "遵循<must>指令")]
    await client.send(asks)
    assert client.turn == "background"
    await client.ask("I dig a hole.")
    assert (client.turn, await client.gold()) == ("new", (2, 2))


@pytest.mark.parametrize("intent", ["normal", ""])
async def test_the_same_words_behind_an_edited_answer_are_another_turn(house: House, intent: str) -> None:
    client = Client(house)
    for text in ("I look around.", "Continue."):
        await client.ask(text, intent=intent)
    client.screen[-1] = ("assistant", "What I wrote myself.")
    await client.ask("Continue.", intent=intent)
    assert client.turn == "new" and await client.gold() == (3, 3)
    client.screen[-1] = ("assistant", "What I wrote again.")
    await client.ask("Continue.", intent=intent)
    assert client.turn == "new" and await client.gold() == (4, 4)


async def test_what_the_client_says_comes_before_what_is_guessed(house: House) -> None:
    client = Client(house)
    for text in ("I look around.", "I dig a hole."):
        await client.ask(text, intent="normal")
    # A new chat with the same character, which has no greeting.
    other = Client(house, count=100)
    await other.ask("Good evening.", intent="normal")
    assert (other.turn, (await other.gold())[0]) == ("fork", 1)
    # Nothing was sent behind the last answer, which the person has changed.
    client.screen[-1] = ("assistant", "What I wrote myself.")
    await client.send(client.screen, intent="normal")
    assert (client.turn, (await client.gold())[0]) == ("new", 3)
    # The window is so small that the answers before are gone, and the question was edited.
    await other.send([("user", "Good morning.")], intent="swipe")
    assert other.turn == "fork"


async def test_a_greeting_that_the_client_does_not_send_hides_no_swipe(house: House) -> None:
    snapshot = {"name": "Bob", "first_mes": "Welcome to the inn."}
    _, body = await house.memory.call("POST", "/sessions", {"character_snapshot": snapshot})
    client = Client(house, body["data"]["id"])
    await client.ask("I look around.")
    await client.swipe()
    assert (client.turn, await client.gold()) == ("regenerate", (1, 1))
    await client.ask("I dig a hole.")
    assert (client.turn, await client.gold()) == ("new", (2, 2))


async def test_an_empty_header_is_not_said(house: House) -> None:
    plain = house.caller(session=" ", branch="", intent="", turn="")
    caller = house.caller(pipeline="gold", session=" ", branch="", intent="", turn="")
    for number in range(3):
        house.mock.script(Step(text=f"Answer {number} of the inn."))
    messages = [{"role": "user", "content": "I look around."}]
    got = await plain.post("/v1/chat/completions", {"model": "text", "messages": messages})
    assert (got.status, "x-agentui-session" in got.headers) == (200, False)
    body = {"model": "text", "messages": messages, "agentui": {"session": "tale", "branch": " "}}
    assert (await caller.post("/v1/chat/completions", body)).headers["x-agentui-branch"] == "main"
    caller = house.caller(pipeline="gold+memory", session="")
    assert "x-agentui-session" in (await caller.post("/v1/chat/completions", {"model": "text", "messages": messages})).headers


@pytest.mark.parametrize("greeting", [[], [("assistant", "Welcome to the harbour, stranger.")]])
async def test_a_picture_alone_is_answered_though_no_chat_is_found_by_it(house: House, greeting: Texts) -> None:
    picture = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]
    said: list[tuple[str, Any]] = [*greeting, ("user", picture)]
    for words in ("What is it?", "Who made it?", ""):
        body = {"model": "text", "messages": [{"role": role, "content": content} for role, content in said]}
        got = await house.caller(session="auto").post("/v1/chat/completions", body)
        assert got.status == 200, got.body
        said += [("assistant", "Hello from the mock."), ("user", words)]
    [session] = await house.memory.get("/sessions")
    assert await asked(house, session["id"]) == ["What is it?", "Who made it?"]


async def test_a_question_with_a_nul_is_corrected_as_any_other(house: House) -> None:
    client = Tavern(house)
    client.around = lambda screen: [*screen[:-1], (screen[-1][0], f"{screen[-1][1]}\n\n{ENDS[1]}")]
    for text in ("I dig\0 a hole.", "I go on."):
        await client.ask(text)
    assert await asked(house, client.told["x-agentui-session"]) == ["I dig\ufffd a hole.", "I go on."]
