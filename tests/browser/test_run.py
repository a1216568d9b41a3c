"""Trying pipelines and watching runs in a real Chromium, against the demo and against upstreams that fail."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Locator, expect

from agentui.jsonio import Json
from tests.browser.conftest import Editor, OpenEditor, axe, becomes, retype, until
from tests.conftest import call
from tests.upstreams.server import API_KEY, Mock

pytestmark = pytest.mark.browser

REFUSED = r"status of (4|5)\d\d"
"""What Chromium writes into its console about an answer with an error status."""


def steps(base_url: str, **config: Json) -> dict[str, Any]:
    """Variables, a first call, and a call that reads it."""
    return {
        "format": 1,
        "name": "Steps",
        "nodes": [
            node("n1", "SetVars", 0, variables=[{"name": "HOW", "mode": "string", "value": "briefly"}]),
            node("n2", "ProviderCall", 1, provider="openai", base_url=base_url, **config),
            node("n3", "ProviderCall", 2, provider="openai", base_url=base_url, blocks=BLOCKS, **config),
        ],
        "edges": [{"from": "n1", "to": "n2"}, {"from": "n2", "to": "n3"}],
        "answer": "n3",
    }


BLOCKS: Json = [
    {"kind": "text", "role": "system", "name": "Rule", "text": "Answer [[HOW]], after: [[OUT:n2.response_text]]"},
    {"kind": "history", "name": "Conversation", "enabled": True},
]


def node(id: str, type: str, column: int, **config: Json) -> dict[str, Any]:
    return {"id": id, "type": type, "title": f"Step {column + 1}", "config": config, "position": {"x": 320 * column, "y": 0}}


LIVE = "(await own('state/store.js')).store.get().runs.live === 'open'"
"""Whether the page hears of runs."""


class Runs:
    """The run views of an open editor."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.page = editor.page
        self.server = editor.server
        ran = self.server.state.history.list(limit=1)
        self.before = ran[0].id if ran else ""
        """The last run of tests before this one; ids sort by time."""

    async def open_chat(self) -> None:
        await self.page.get_by_role("button", name="Try", exact=True).click()
        await expect(self.page.get_by_role("textbox", name="Say something to the pipeline")).to_be_focused()

    async def choose(self, **settings: str) -> None:
        """Set a setting of the chat pane by its label."""
        await self.page.get_by_role("button", name="Settings").click()
        for name, value in settings.items():
            field = self.page.get_by_label(name.replace("_", " ").capitalize(), exact=True)
            await (field.select_option(value) if name == "speaks_like" else field.fill(value))
        await self.page.get_by_role("button", name="Settings").click()

    async def say(self, text: str) -> None:
        await self.page.get_by_role("textbox", name="Say something to the pipeline").fill(text)
        await self.page.keyboard.press("Enter")

    def answer(self) -> Locator:
        return self.page.locator('[data-t="said-assistant"]').last

    async def show(self, page: str) -> None:
        """Choose a page of the panel."""
        await self.page.locator(".run-tabs").get_by_role("tab", name=page).click()

    def chip(self, id: str) -> Locator:
        """What the canvas says of a node's state."""
        return self.page.locator(f'.react-flow__node[data-id="{id}"]')

    async def state(self, script: str) -> Any:
        """A value of the editor's state: ``script`` reads ``state``."""
        return await self.page.evaluate(
            "async () => { const {store} = await own('state/store.js');"
            " const state = store.get(); const tab = state.tabs.find((one) => one.key === state.activeTab);"
            f" return {script}; }}"
        )

    async def runs(self, query: str = "") -> list[Any]:
        async with ClientSession() as session, session.get(f"{self.server.origin}/api/runs{query}") as response:
            found: list[Any] = await response.json()
            return [run for run in found if run["id"] > self.before]

    async def client_asks(self, path: str = "/v1/chat/completions", **body: Json) -> None:
        """A request of another client."""
        asked = {"model": "demo-small", "messages": [{"role": "user", "content": "From outside"}], **body}
        headers = {"authorization": f"Bearer {API_KEY}", "user-agent": "SillyTavern/1.0"}
        async with ClientSession(headers=headers) as session, session.post(self.server.origin + path, json=asked) as response:
            await response.read()


Open = Callable[..., Awaitable[Runs]]


@pytest_asyncio.fixture(loop_scope="session")
async def runs(open_calm: OpenEditor) -> Open:
    """Open an editor on pipelines: ``await runs({"default": ...})``; with ``own=True`` on a server that ran nothing before."""

    async def open_one(pipelines: Mapping[str, Json] | None = None, **more: Any) -> Runs:
        editor = await open_calm({"default": steps("demo")} if pipelines is None else pipelines, **more)
        await expect(editor.page.get_by_role("tab", selected=True).first).to_be_visible()
        opened = Runs(editor)
        await until(editor.page, LIVE)
        return opened

    return open_one


async def test_a_question_runs_through_the_nodes_and_is_answered(runs: Open) -> None:
    page = await runs()
    await page.open_chat()
    await expect(page.page.get_by_text("2 calls to models")).to_be_visible()
    await page.say("Hello from the test")
    await expect(page.answer()).to_contain_text("You said: Hello from the test")
    await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
    for id in ("n1", "n2", "n3"):
        await becomes(partial(page.state, f"state.runs.byId[state.runs.viewed].nodes.{id}.state"), "finished")
    rows = page.page.locator(".run-row")
    await expect(rows).to_have_count(3)
    await expect(rows.nth(2)).to_contain_text("Stream")
    await rows.nth(1).click()
    await becomes(lambda: page.state("tab.selection.nodes"), ["n2"])
    assert await axe(page.page, ".dock") == []
    [run] = await page.runs()
    assert (run["origin"], run["state"], run["stream"]) == ("try", "finished", True)
    await becomes(lambda: page.state("state.runs.byId[state.runs.viewed].missed"), 0)
    await becomes(lambda: page.state("state.spoken"), "Run finished.")


async def test_rows_are_walked_by_the_keyboard(runs: Open) -> None:
    page = await runs()
    await page.open_chat()
    await page.say("Hello")
    await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
    names = page.page.locator(".run-row-name")
    await names.first.focus()
    await page.page.keyboard.press("ArrowDown")
    await expect(names.nth(1)).to_be_focused()
    await expect(page.page.locator(".run-details")).to_contain_text("First token")
    await page.page.keyboard.press("Enter")
    await becomes(lambda: page.state("tab.selection.nodes"), ["n2"])


async def test_the_chat_speaks_other_dialects(runs: Open) -> None:
    page = await runs()
    await page.open_chat()
    await page.choose(system_prompt="Be a pirate.", temperature="0.3")
    ways = [(dialect, stream) for stream in (True, False) for dialect in ("claude", "gemini")]
    for number, (dialect, stream) in enumerate(ways):
        await page.choose(speaks_like=dialect)
        if not stream:
            await page.page.get_by_role("button", name="Settings").click()
            await page.page.get_by_label("Show the answer while it comes").uncheck()
            await page.page.get_by_role("button", name="Settings").click()
        await page.say(f"Ahoy {number}")
        await expect(page.answer()).to_contain_text(f"You said: Ahoy {number}")
        await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
        run = (await page.runs())[0]
        assert (run["vendor"], run["stream"]) == (dialect, stream)
        async with ClientSession() as session, session.get(f"{page.server.origin}/api/runs/{run['id']}/request") as response:
            asked = json.dumps((await response.json())["body"])
        assert "Be a pirate." in asked
        assert "0.3" in asked
    await becomes(page.runs, lambda found: len(found) == len(ways))


async def test_unsaved_edits_are_what_runs(runs: Open) -> None:
    page = await runs({"default": call("openai", "demo")})
    await page.page.evaluate(
        "async () => { const {edit} = await own('state/tabs.js');"
        " const {addNode, setAnswer} = await own('core/commands.js');"
        " edit('app.edit', (doc) => { const added = addNode(doc, 'SetVars', {x: 0, y: 200},"
        " {config: {variables: [{name: 'SAID', mode: 'string', value: 'Not saved yet'}]}});"
        " return setAnswer({...added.doc, edges: [...added.doc.edges, {from: 'n1', to: added.id}]}, added.id); }); }"
    )
    await page.open_chat()
    await page.say("Hello")
    await expect(page.answer()).to_contain_text("Not saved yet")


async def test_an_answer_is_stopped(runs: Open, mock: Mock) -> None:
    page = await runs({"default": call("openai", mock.origin, model="forever")})
    await page.open_chat()
    await page.choose(key_for_the_provider=API_KEY)
    await page.say("Go on")
    await expect(page.answer()).to_contain_text("again again")
    await page.page.locator(".composer").get_by_role("button", name="Stop").click()
    await expect(page.answer()).to_contain_text("Stopped")
    await mock.was_aborted()
    await expect(page.page.locator(".run-line-state")).to_contain_text("Stopped")
    [run] = await page.runs()
    assert run["state"] == "cancelled"


async def test_an_answer_is_asked_for_again(runs: Open) -> None:
    page = await runs()
    await page.open_chat()
    await page.say("Twice")
    await expect(page.answer()).to_contain_text("You said: Twice")
    await page.page.get_by_role("button", name="Ask again").click()
    await expect(page.page.locator('[data-t="said-assistant"]')).to_have_count(1)
    await expect(page.answer()).to_contain_text("You said: Twice")
    await expect(page.page.locator(".composer").get_by_role("button", name="Send")).to_be_visible()
    await becomes(page.runs, lambda found: len(found) == 2)
    await page.page.get_by_role("button", name="Clear the talk").click()
    await expect(page.page.locator('[data-t="said-user"]')).to_have_count(0)


FAILURES = {
    "error-401": "refused",
    "fail-mid": "Overloaded in the middle.",
    "truncated-reset": "broke off",
    "html": "cannot be understood",
}


async def test_a_failing_provider_is_explained_and_its_node_is_linked(runs: Open, mock: Mock) -> None:
    pipelines = {model: {**call("openai", mock.origin, model=model), "name": model} for model in FAILURES}
    page = await runs({"default": pipelines["error-401"], **pipelines})
    page.editor.allow(REFUSED)
    for model, words in FAILURES.items():
        await page.page.evaluate("async (id) => (await own('state/tabs.js')).openPipeline(id)", model)
        await page.page.get_by_role("tab", name=model, selected=True).wait_for()
        if model == "error-401":
            await page.open_chat()
        await page.choose(key_for_the_provider=API_KEY)
        await page.say("Hello")
        failure = page.answer().get_by_role("alert")
        await expect(failure).to_contain_text(words)
        await failure.get_by_role("button", name="Go to node n1").click()
        await page.page.locator('.react-flow__node[data-id="n1"].selected').wait_for()
        await becomes(lambda: page.state("tab.selection.nodes"), ["n1"])
        await expect(page.page.locator(".run-line-state")).to_contain_text("Failed")
        assert await axe(page.page, ".dock") == []


async def test_an_address_where_nobody_answers_is_explained(runs: Open, closed_port: int) -> None:
    page = await runs({"default": call("openai", f"http://127.0.0.1:{closed_port}")})
    page.editor.allow(REFUSED)
    await page.open_chat()
    await page.say("Hello")
    await expect(page.answer().get_by_role("alert")).to_contain_text("Nobody answers at the provider's address.")


async def test_a_provider_that_stays_silent_is_explained(runs: Open, mock: Mock) -> None:
    page = await runs({"default": call("openai", mock.origin, model="hang")}, first_byte_timeout=0.2)
    page.editor.allow(REFUSED)
    await page.open_chat()
    await page.choose(key_for_the_provider=API_KEY)
    await page.say("Hello")
    await expect(page.answer().get_by_role("alert")).to_contain_text("The provider took too long.")


async def test_runs_of_other_clients_are_shown_as_they_happen(runs: Open) -> None:
    page = await runs({"default": steps("demo"), "large": call("openai", "demo", model="demo-large")}, own=True)
    await page.open_chat()
    await page.client_asks(stream=True)
    await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
    first = await page.state("state.runs.viewed")
    await becomes(page.runs, lambda found: found[0]["id"] == first)
    await page.page.get_by_label("Follow the latest").uncheck()
    await page.client_asks()
    await page.show("History")
    await expect(page.page.locator(".run-line")).to_have_count(2)
    await becomes(lambda: page.state("state.runs.viewed"), first)
    # Each line names the program that asked, and the models that were.
    await page.client_asks(model="gpt-of-the-client")
    line = page.page.locator(".run-line").first
    await expect(line.get_by_role("cell", name="SillyTavern", exact=True)).to_be_visible()
    await expect(line.get_by_role("cell", name="gpt-of-the-client", exact=True)).to_be_visible()
    await page.client_asks("/p/large/v1/chat/completions")
    await expect(line.get_by_role("cell", name="demo-large (asked for: demo-small)")).to_be_visible()


async def test_a_break_loses_nothing(runs: Open, mock: Mock) -> None:
    page = await runs({"default": call("openai", mock.origin, model="hang-mid")}, own=True)
    page.editor.allow("ERR_INTERNET_DISCONNECTED")
    await page.open_chat()
    asking = asyncio.ensure_future(page.client_asks(model="x", stream=False))
    await mock.was_asked()
    await expect(page.page.locator(".run-line-state")).to_contain_text("Running")
    await page.page.context.set_offline(True)
    await page.page.evaluate("fetch('/api/settings').catch(() => null)")
    mock.release()
    await asking
    await page.page.context.set_offline(False)
    await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
    run = (await page.runs())[0]
    await becomes(lambda: page.state("state.runs.byId[state.runs.viewed].lastSeq"), run["event_count"] - 1)


async def test_a_node_tells_what_it_sent_and_heard(runs: Open) -> None:
    page = await runs(context={"permissions": ["clipboard-read", "clipboard-write"]})
    await page.open_chat()
    await page.say("Hello")
    await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
    await page.show("Node")
    shown = page.page.locator(".run-io")
    await expect(shown).to_contain_text("/v1/chat/completions")
    await expect(shown).to_contain_text("Answer briefly, after: This is agentui's built-in demo model")
    await expect(shown).to_contain_text("status 200")
    assert await axe(page.page, ".dock") == []
    await shown.get_by_role("button", name="Copy as curl").click()
    await page.page.get_by_role("menuitem", name="For sh, bash, zsh").click()
    await expect(page.page.locator(".notice-success")).to_be_visible()
    copied = await page.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("curl -X POST 'http://127.0.0.1:")
    assert '"model": "demo-small"' in copied


async def test_from_a_node_on_nothing_before_it_is_paid_for_again(runs: Open, mock: Mock) -> None:
    page = await runs({"default": steps(mock.origin, model="text")})
    await page.open_chat()
    await page.choose(key_for_the_provider=API_KEY)
    await page.say("Hello")
    await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
    assert len(mock.requests) == 2
    await page.show("Node")
    await page.page.get_by_role("button", name="Run from here").click()
    await expect(page.page.locator('[data-t="said-assistant"]')).to_have_count(2)
    await expect(page.page.locator(".composer").get_by_role("button", name="Send")).to_be_visible()
    assert len(mock.requests) == 3
    await becomes(lambda: page.state("state.runs.byId[state.runs.viewed].nodes.n2.state"), "pinned")


async def test_a_pinned_node_is_not_run(runs: Open, mock: Mock) -> None:
    page = await runs({"default": steps(mock.origin, model="text")})
    await page.open_chat()
    await page.choose(key_for_the_provider=API_KEY)
    await page.say("Hello")
    await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
    await page.page.locator(".run-row-name").nth(1).click()
    await page.show("Node")
    await page.page.get_by_role("button", name="Pin output").click()
    await expect(page.page.get_by_text("1 call to a model")).to_be_visible()
    await page.say("Again")
    await expect(page.page.locator('[data-t="said-assistant"]')).to_have_count(2)
    await expect(page.page.locator(".composer").get_by_role("button", name="Send")).to_be_visible()
    assert len(mock.requests) == 3
    await page.page.get_by_role("button", name="Unpin 1 node").click()
    await expect(page.page.get_by_text("2 calls to models")).to_be_visible()


async def test_a_large_reply_comes_when_it_is_asked_for(runs: Open) -> None:
    row = {"name": "BIG", "mode": "string", "value": "x" * 100_000 + "END"}
    document = {"format": 1, "name": "Big", "nodes": [node("n1", "SetVars", 0, variables=[row])], "edges": []}
    page = await runs({"default": document})
    await page.client_asks()
    await page.open_chat()
    await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
    await page.show("Node")
    await page.page.get_by_role("button", name="Load all (100 kB)").click()
    await page.page.locator(".dock .json-tree").get_by_role("button", name="Show all").click()
    await expect(page.page.locator(".dock .json-tree").last).to_contain_text("xEND")


async def test_the_history_is_searched(runs: Open) -> None:
    page = await runs({"default": steps("demo"), "other": call("openai", "demo")}, own=True)
    await page.client_asks()
    await page.client_asks("/p/other/v1/chat/completions")
    await page.open_chat()
    await page.show("History")
    lines, filters = page.page.locator(".run-line"), page.page.locator(".run-filters")
    await expect(lines).to_have_count(2)
    await filters.get_by_label("Pipeline").select_option("other")
    await expect(lines).to_have_count(1)
    await filters.get_by_label("Pipeline").select_option("")
    await page.page.get_by_role("searchbox", name="Search runs").fill("nothing like this")
    await expect(page.page.get_by_text("No runs here yet.")).to_be_visible()
    await page.page.get_by_role("searchbox", name="Search runs").fill("sillytavern")
    await expect(lines).to_have_count(2)
    await filters.get_by_label("From").select_option("try")
    await expect(lines).to_have_count(0)
    assert await axe(page.page, ".dock") == []


async def test_a_run_of_another_document_is_shown_with_what_ran(runs: Open) -> None:
    page = await runs(own=True)
    await page.client_asks()
    changed = steps("demo")
    changed["nodes"][0]["config"]["variables"][0]["value"] = "at length"
    page.server.put("default", changed)
    await page.page.reload()
    await expect(page.page.locator(".react-flow__node").first).to_be_visible()
    await page.open_chat()
    await page.show("History")
    await page.page.locator(".run-line .run-link").click()
    await expect(page.page.get_by_text("View only")).to_be_visible()
    await becomes(lambda: page.state("tab.history.present.nodes[0].config.variables[0].value"), "briefly")
    await becomes(lambda: page.state("tab.readOnly.kind"), "run")
    await page.show("Timeline")
    await page.page.get_by_role("button", name="Back to editing").click()
    await expect(page.page.get_by_text("View only")).to_have_count(0)
    await becomes(lambda: page.state("tab.history.present.nodes[0].config.variables[0].value"), "at length")
    await becomes(lambda: page.state("state.runs.viewed"), lambda found: found is None)


async def test_two_runs_are_compared(runs: Open) -> None:
    page = await runs(own=True)
    await page.client_asks(messages=[{"role": "user", "content": "One"}])
    await page.client_asks(messages=[{"role": "user", "content": "Two"}])
    await page.open_chat()
    await page.show("History")
    buttons = page.page.get_by_role("button", name="Compare the run of")
    await expect(buttons).to_have_count(2)
    await buttons.nth(0).click()
    await expect(page.page.get_by_text("choose a second run")).to_be_visible()
    await buttons.nth(1).click()
    dialog = page.page.get_by_role("dialog", name="Two runs compared")
    await expect(dialog).to_contain_text("Text, Output, Request")
    await expect(dialog.locator(".cm-mergeView")).to_contain_text("You said: One")
    await expect(dialog.locator(".cm-mergeView")).to_contain_text("You said: Two")
    await dialog.get_by_role("tab", name="Request").click()
    await expect(dialog.locator(".cm-mergeView")).to_contain_text('"content": "Two"')
    assert await axe(page.page, "dialog") == []


async def test_a_models_text_is_only_text(runs: Open) -> None:
    hostile = '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>'
    row = {"name": "BAD", "mode": "string", "value": hostile}
    document = {"format": 1, "name": hostile, "nodes": [node("n1", "SetVars", 0, variables=[row])], "edges": []}
    page = await runs({"default": document})
    await page.open_chat()
    await page.say(hostile)
    await expect(page.answer()).to_contain_text(hostile)
    for part in ("Node", "History", "Timeline"):
        await page.show(part)
    await becomes(lambda: page.page.evaluate("window.harmed"), lambda found: found is None)


async def test_the_narrow_layout_has_the_chat_as_a_page(runs: Open) -> None:
    page = await runs(width=390, height=844)
    # *Run* below leads to the place to try it, as the picture above does, which is called by its name.
    await page.page.get_by_role("button", name="Run", exact=True).click()
    await expect(page.page.locator("#run-input")).to_be_visible()
    await page.page.get_by_role("button", name="Outline", exact=True).last.click()
    await page.page.get_by_role("button", name="Try", exact=True).click()
    await page.say("Hello from a phone")
    await expect(page.answer()).to_contain_text("You said: Hello from a phone")
    await page.show("Timeline")
    await expect(page.page.locator(".run-row")).to_have_count(3)
    assert await axe(page.page, ".dock") == []
    await becomes(lambda: page.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)


async def test_fifty_answers_at_once_are_followed(runs: Open, mock: Mock) -> None:
    page = await runs({"default": call("openai", mock.origin, model="slow")}, own=True)
    await page.open_chat()
    headers = {"authorization": f"Bearer {API_KEY}"}
    body = {"model": "x", "stream": True, "messages": [{"role": "user", "content": "Go"}]}

    async def ask(session: ClientSession) -> None:
        async with session.post(f"{page.server.origin}/v1/chat/completions", json=body, headers=headers) as response:
            await response.read()

    async with ClientSession() as session:
        await asyncio.gather(*(ask(session) for _ in range(50)))
    done = "Object.values(state.runs.byId).filter((run) => run.state === 'finished' && run.missed === 0).length"
    await becomes(lambda: page.state(done), 50)
    await becomes(
        lambda: page.state("Object.values(state.runs.byId).every((run) => run.lastSeq === run.summary.event_count - 1)"), bool
    )


async def test_trying_writes_into_no_chat_until_somebody_says_so_of_that_chat(runs: Open) -> None:
    page = await runs({"default": call("openai", "demo")})
    async with ClientSession(page.server.origin) as session:

        async def made(title: str) -> str:
            async with session.post("/sessions", json={"title": title}) as answer:
                return str((await answer.json())["data"]["id"])

        async def floors(id: str) -> int:
            async with session.get(f"/sessions/{id}/branches") as answer:
                return int((await answer.json())["data"][0]["floor_count"])

        tale, other = await made("A tale of Alice"), await made("Another tale")
        choose = "async (id) => (await own('state/session.js')).chooseSession({session: id, branch: 'main'})"
        await page.page.evaluate(choose, tale)
        await page.open_chat()
        joins = page.page.get_by_role("checkbox", name="Write into the chat “A tale of Alice”")
        await expect(joins).not_to_be_checked()
        await page.say("Just trying")
        await expect(page.answer()).to_contain_text("You said: Just trying")
        assert (await floors(tale), (await page.runs())[0]["session"]) == (0, None)
        await joins.check()
        await expect(page.page.get_by_text("Every message becomes a turn of that chat.")).to_be_visible()
        await page.say("This belongs to it")
        await expect(page.answer()).to_contain_text("You said: This belongs to it")
        await becomes(lambda: floors(tale), 1)
        # It was said of that chat, not of the next one.
        await page.page.evaluate(choose, other)
        await expect(page.page.get_by_role("checkbox", name="Write into the chat “Another tale”")).not_to_be_checked()
        await page.say("Trying once more")
        await expect(page.answer()).to_contain_text("You said: Trying once more")
        assert (await floors(other), await floors(tale)) == (0, 1)
        assert await axe(page.page, ".run-joining") == []


IF: dict[str, Json] = {
    "format": 1,
    "name": "Code?",
    "nodes": [
        {"id": "if", "type": "If", "title": "Code?", "config": {"condition": 'chat.last_usr contains "code"'}},
        {"id": "a", "type": "Text", "config": {"text": "code"}},
        {"id": "b", "type": "Text", "config": {"text": "other"}},
    ],
    "edges": [{"from": "if", "to": "a", "from_port": "then"}, {"from": "if", "to": "b", "from_port": "else"}],
}


async def test_a_condition_that_reads_what_nothing_gives_is_marked_told_and_shown_in_its_run(runs: Open) -> None:
    page = await runs({"default": IF})
    await page.page.evaluate("async () => (await own('state/tabs.js')).select({nodes: ['if']})")
    condition = page.page.get_by_role("region", name="Inspector").get_by_role("textbox", name="Condition")
    await expect(condition.locator(".macro-unknown")).to_have_text("chat.last_usr")
    await expect(page.page.get_by_role("region", name="Inspector").get_by_text("did you mean chat.last_user?")).to_be_visible()
    await page.open_chat()
    await page.say("some code")
    await expect(page.page.locator(".run-line-state")).to_contain_text("Finished")
    await page.show("Node")
    operands = page.page.get_by_role("list", name="What the condition compared")
    await expect(operands).to_have_text("chat.last_usr = missing")
    await retype(condition, 'chat.last_user contains "code"')
    await expect(condition.locator(".macro-unknown")).to_have_count(0)
    await page.say("some code")
    await expect(operands).to_have_text("chat.last_user = some code")


async def test_a_try_that_needs_a_chat_is_made_again_in_a_new_one(runs: Open) -> None:
    counted = call("openai", "demo")
    count = {"name": "gold", "mode": "json", "value": "{{ gold|default(0)|add(1) }}", "tier": "branch"}
    counted["nodes"].insert(0, {"id": "n0", "type": "SetVars", "config": {"variables": [count]}})
    counted["edges"] = [{"from": "n0", "to": "n1"}]
    page = await runs({"default": counted})
    page.editor.allow(REFUSED)
    await page.open_chat()
    await page.say("How much?")
    failed = page.page.get_by_role("log", name="Chat")
    await expect(failed).to_contain_text("The pipeline keeps something in the chat, and a try is no part of one.")
    await failed.get_by_role("button", name="Try again in a new chat").click()
    await expect(page.answer()).to_contain_text("You said: How much?")
    await expect(page.page.get_by_role("checkbox", name="Write into the chat")).to_be_checked()
    async with ClientSession(page.server.origin) as session, session.get("/variables?scope=branch") as found:
        assert [(one["key"], one["value"]) for one in (await found.json())["data"]] == [("gold", 1)]
