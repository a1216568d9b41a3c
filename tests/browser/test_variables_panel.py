"""The panels of the memory: what a node can read, the table of the five tiers, and the tree of sessions."""

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from agentui.jsonio import Json, loads
from tests.browser.conftest import THEMES, Editor, OpenEditor, axe, becomes, until

pytestmark = pytest.mark.browser

GOLD: Json = loads((Path(__file__).parents[2] / "pipelines" / "gold.json").read_bytes())
LARGE = 900_000
STALE = """async () => {
  const {store} = await own('state/store.js');
  store.set(({session}) => ({session: {...session, stored: {...session.stored, floorState: 'draft'}}}));
}"""
"""The page believes that the chosen floor is a draft, as it was a moment ago."""


class Memory:
    """The memory behind an editor, written to by somebody else."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.page = editor.page
        self.session = ""
        self.floors: list[str] = []

    async def send(self, method: str, path: str, body: Json = None) -> Any:
        """Ask the server's API, as another client does; fails where it refuses."""
        answer = await self.page.request.fetch(
            self.editor.server.origin + path,
            method=method,
            headers={"content-type": "application/json"},
            data=None if body is None else json.dumps(body),
        )
        assert answer.ok, await answer.text()
        return await answer.json()

    async def turn(self, words: str, chat: str = "adventure", branch: str = "main") -> str:
        """One turn of a chat by a client; gives the floor's id."""
        answer = await self.page.request.post(
            self.editor.server.origin + "/v1/chat/completions",
            headers={"x-agentui-session": chat, "x-agentui-branch": branch},
            data={"model": "demo-small", "messages": [{"role": "user", "content": words}]},
        )
        assert answer.ok, await answer.text()
        self.session = answer.headers["x-agentui-session"]
        self.floors.append(answer.headers["x-agentui-floor"])
        return self.floors[-1]

    async def put(self, tier: str, key: str, value: Json, branch: str = "main") -> None:
        """Write a variable of the session."""
        place = {"global": "global", "chat": self.session, "branch": f"branch:{self.session}:{branch}"}[tier]
        await self.send("PUT", "/variables", {"scope": tier, "scope_id": place, "key": key, "value": value})

    async def resolved(self, **place: str) -> dict[str, Any]:
        """What is visible at a place of the session, by key."""
        where = {"session_id": self.session, "branch_id": "main", **place}
        query = "&".join(f"{name}={value}" for name, value in where.items())
        answer = await self.send("GET", f"/variables/resolve?{query}")
        return {one["key"]: one["value"] for one in answer["data"]["resolved"]}

    async def choose(self, **place: str) -> None:
        """Choose a place as the tree does."""
        chosen = {"session": self.session, "branch": "main", **place}
        await self.page.evaluate("async (place) => (await own('state/session.js')).chooseSession(place)", chosen)

    async def panel(self, tab: str = "Stored") -> Locator:
        """Open the dock's panel at one of its tabs."""
        await self.page.get_by_role("tab", name="Gold counter").wait_for()
        await self.page.evaluate(
            """async () => {
              const view = await own('state/view.js');
              view.setView({dock: 'variables', dockHeight: 480, narrowPage: 'dock'});
            }"""
        )
        await self.page.get_by_role("tab", name=tab, exact=True).click()
        return self.page.locator(".variables")

    async def tree(self) -> Locator:
        """Open the tree of sessions."""
        await self.page.get_by_role("tab", name="Gold counter").wait_for()
        await self.page.evaluate("async () => (await own('actions.js')).runAction('variables.sessions')")
        return self.page.get_by_role("tree", name="Sessions")

    def cell(self, key: str, tier: str) -> Locator:
        """The button of a cell in the table."""
        return self.page.locator(f'.variables-table [data-tier="{tier}"][data-key={json.dumps(key)}]')

    async def edit(self, key: str, tier: str, text: str) -> None:
        """Write into a cell and press Ctrl+Enter."""
        await self.cell(key, tier).click()
        await self.page.locator(".variables-editing textarea").fill(text)
        await self.page.keyboard.press("Control+Enter")

    async def names(self) -> dict[str, Any]:
        """The stored variables that templates are told of, by tier and name."""
        found = await self.page.evaluate("async () => (await own('state/store.js')).store.get().session.names")
        return {f"{one['tier']}.{one['name']}": one["value"] for one in found or []}


OpenMemory = Callable[..., Awaitable[Memory]]


@pytest_asyncio.fixture(loop_scope="session")
async def memory(open_calm: OpenEditor) -> OpenMemory:
    """Open an editor with the gold counter; ``turns`` are said to a chat first."""

    async def open_one(*turns: str, **options: Any) -> Memory:
        here = Memory(await open_calm({"default": GOLD}, **options))
        for words in turns:
            await here.turn(words)
        return here

    return open_one


async def dialog_of(page: Page) -> Locator:
    dialog = page.get_by_role("dialog").last
    await dialog.wait_for()
    return dialog


# The table of the stored tiers


async def test_the_winner_is_bold_and_what_it_shadows_is_struck_through(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    await here.put("global", "gold", 7)
    await here.put("chat", "mood", "tense")
    await here.panel()
    await here.choose()
    await here.cell("gold", "branch").wait_for()
    await expect(here.cell("gold", "branch").locator("strong")).to_have_text("1")
    await expect(here.cell("gold", "global").locator("s")).to_have_text("7")
    await expect(here.cell("gold", "global")).to_contain_text("shadowed by Branch")
    await expect(here.cell("mood", "chat").locator("strong")).to_have_text("tense")
    assert await axe(here.page, ".variables") == []
    await becomes(here.names, {"global.gold": 7, "chat.mood": "tense", "branch.gold": 1})


async def test_cells_are_written_as_json_or_as_text(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    await here.panel()
    await here.choose()
    await here.edit("gold", "branch", '{"coins": 5}')
    await here.cell("gold", "branch").get_by_text('{"coins": 5}').wait_for()
    await here.edit("gold", "branch", "five")
    editor = here.page.locator(".variables-editing")
    await editor.get_by_text("This is not JSON").wait_for()
    assert await axe(here.page, ".variables") == []
    await editor.get_by_role("button", name="Save as text").click()
    await here.cell("gold", "branch").get_by_text("five", exact=True).wait_for()
    await becomes(here.resolved, {"gold": "five"})
    # A text is edited as a text; Escape leaves it as it was, and the focus goes back to the cell.
    await here.cell("gold", "branch").click()
    await expect(editor.get_by_label("Written as")).to_have_value("text")
    await here.page.keyboard.press("Escape")
    await until(here.page, "document.activeElement.dataset.tier === 'branch'")


async def test_whole_numbers_keep_their_digits(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    await here.put("chat", "id", {"n": 12345678901234567890, "a": 1})
    await here.panel()
    await here.choose()
    await here.cell("id", "chat").get_by_text("12345678901234567890").wait_for()
    await here.cell("id", "chat").click()
    area = here.page.locator(".variables-editing textarea")
    await area.fill((await area.input_value()).replace('"a":1', '"a":2'))
    await here.page.keyboard.press("Control+Enter")
    await area.wait_for(state="detached")
    text = await (await here.page.request.get(f"{here.editor.server.origin}/variables?key=id")).text()
    assert '"value":{"n":12345678901234567890,"a":2}' in text


async def test_somebody_elses_write_is_shown_before_it_is_overwritten(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    await here.panel()
    await here.choose()
    await here.cell("gold", "branch").click()
    await here.put("branch", "gold", 99)
    editor = here.page.locator(".variables-editing")
    await editor.locator("textarea").fill("5")
    await here.page.keyboard.press("Enter")
    await editor.get_by_text("Somebody wrote it meanwhile: 99").wait_for()
    await becomes(here.resolved, {"gold": 99})
    await editor.get_by_role("button", name="Take theirs").click()
    await expect(editor.locator("textarea")).to_have_value("99")
    await here.put("branch", "gold", 100)
    await editor.locator("textarea").fill("6")
    await here.page.keyboard.press("Enter")
    await editor.get_by_role("button", name="Overwrite").click()
    await here.cell("gold", "branch").get_by_text("6", exact=True).wait_for()
    await becomes(here.resolved, {"gold": 6})


async def test_what_the_server_refuses_is_said_at_the_cell(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    here.editor.allow("status of 409|status of 404")
    await here.panel()
    await here.choose(floor=here.floors[0])
    # Known to be committed: it can only be read.
    await here.cell("last_words", "floor").click()
    editor = here.page.locator(".variables-editing")
    await editor.get_by_text("The floor is committed").wait_for()
    await expect(editor.get_by_role("button", name="Save")).to_have_count(0)
    await here.page.keyboard.press("Escape")
    # The page believes in a state that is over.
    await here.page.evaluate(STALE)
    await here.edit("last_words", "floor", "never")
    await editor.get_by_role("alert").get_by_text("do not change").wait_for()
    await here.page.keyboard.press("Escape")
    await here.send("DELETE", f"/sessions/{here.session}")
    await here.edit("gold", "chat", "1")
    await editor.get_by_role("alert").get_by_text("This place is gone.").wait_for()


async def test_variables_are_added_copied_and_deleted(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    panel = await here.panel()
    await here.choose()
    await panel.get_by_role("button", name="Add variable").click()
    form = here.page.get_by_role("group", name="Add variable")
    await form.get_by_role("textbox", name="Value of New variable").fill("true")
    await here.page.keyboard.press("Enter")
    await form.get_by_text("A name is missing.").first.wait_for()
    await form.get_by_role("textbox", name="Name", exact=True).fill("a.b c")
    await form.get_by_label("Tier").select_option("Chat")
    assert await axe(here.page, ".variables") == []
    await form.get_by_role("button", name="Add variable").click()
    await here.cell("a.b c", "chat").wait_for()
    await here.cell("a.b c", "chat").click()
    await here.page.locator(".variables-editing").get_by_role("button", name="Copy to").click()
    await here.page.get_by_role("menuitem", name="Global").click()
    await here.page.keyboard.press("Escape")
    await here.cell("a.b c", "global").locator("s").wait_for()
    await here.cell("a.b c", "chat").focus()
    await here.page.keyboard.press("Delete")
    await (await dialog_of(here.page)).get_by_role("button", name="Delete").click()
    await here.cell("a.b c", "global").locator("strong").wait_for()
    await becomes(here.resolved, {"a.b c": True, "gold": 1})


async def test_thousands_of_names_are_paged_filtered_sorted_and_walked_by_keys(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    for start in range(0, 1200, 100):
        items = [
            {"scope": "chat", "scope_id": here.session, "key": f"k{number}", "value": 1199 - number}
            for number in range(start, start + 100)
        ]
        await here.send("PUT", "/variables/batch", {"items": items})
    panel = await here.panel()
    await here.choose()
    await panel.get_by_text("1,201 variables").wait_for()
    rows = panel.locator("tbody tr")
    await expect(rows).to_have_count(200)
    await panel.get_by_role("button", name="Show 200 more").click()
    await expect(rows).to_have_count(400)
    await panel.get_by_role("columnheader", name="Chat").get_by_role("button").click()
    await expect(rows.first.get_by_role("rowheader")).to_have_text("k1199")
    await panel.get_by_role("columnheader", name="Chat").get_by_role("button").click()
    await expect(rows.first.get_by_role("rowheader")).to_have_text("k0")
    await here.cell("k0", "chat").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft"):
        await here.page.keyboard.press(key)
    focused = "() => [document.activeElement.dataset.key, document.activeElement.dataset.cell]"
    await becomes(lambda: here.page.evaluate(focused), ["k2", "0"])
    await expect(panel.locator('[data-cell][tabindex="0"]')).to_have_count(1)
    await panel.get_by_role("searchbox", name="Filter names and values").fill("k777")
    await panel.get_by_text("1 variable", exact=True).wait_for()
    await panel.get_by_role("searchbox", name="Filter names and values").fill("nothing like it")
    await panel.get_by_text("Nothing matches.").wait_for()


# Many at once


async def test_many_are_changed_and_deleted_as_json(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    for key in ("a", "b", "c"):
        await here.put("chat", key, key)
    panel = await here.panel()
    await here.choose()
    await here.cell("c", "chat").wait_for()
    await panel.get_by_role("button", name="Many at once").click()
    await here.page.get_by_role("menuitem", name="Edit as JSON").click()
    dialog = await dialog_of(here.page)
    area = dialog.get_by_label("Variables as JSON")
    await expect(area).to_have_value(re.compile(r'"key": ?"a"'))
    rows = json.loads(await area.input_value())
    assert rows[0] == {"tier": "chat", "key": "a", "value": "a"}
    changed: Json = {"tier": "chat", "key": "a", "value": {"new": 1}}
    added: Json = {"tier": "branch", "key": "d", "value": None}
    await area.fill(json.dumps([changed, added, rows[2], rows[3]]))
    await dialog.get_by_label("Also delete 1 that is not in the text").check()
    assert await axe(here.page, "dialog") == []
    await dialog.get_by_role("button", name="Write 2 variables").click()
    await dialog.wait_for(state="detached")
    await becomes(here.resolved, {"a": {"new": 1}, "c": "c", "d": None, "gold": 1})


WRONG_ROWS = [
    ("{", "Not JSON at line 1, column 2."),
    ("3", "This is neither a list of rows nor an object."),
    ('[{"key": "a", "value": 1}, {"tier": "branch", "key": "a", "value": 2}]', "Row 2: a stands in row 1 already."),
    ('[{"key": "", "value": 1}]', "Row 1: A name is missing."),
    ('[{"key": "a", "value": 1}, {"key": "b"}]', "Row 2: A value is missing."),
    ('[{"tier": "galaxy", "key": "a", "value": 1}]', "Row 1: There is no tier “galaxy”."),
    ('[{"tier": "page", "key": "a", "value": 1}]', "Row 1: Page cannot be written at this place."),
    ("[1]", "Row 1: The row is no object."),
]
"""What is pasted, and what is said of it."""


async def test_an_import_names_the_rows_that_are_wrong(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    await here.panel()
    await here.choose()
    await here.page.evaluate("async () => (await own('actions.js')).runAction('variables.import')")
    dialog = await dialog_of(here.page)
    for text, message in WRONG_ROWS:
        await dialog.get_by_label("Variables as JSON").fill(text)
        await dialog.get_by_text(message).wait_for()
        await expect(dialog.get_by_role("button", name="Write"), text).to_be_disabled()


async def test_an_import_goes_through_the_batch_route_and_shows_what_it_refuses(memory: OpenMemory, tmp_path: Path) -> None:
    here = await memory("I look around.")
    here.editor.allow("status of 400|status of 409")
    await here.panel()
    await here.choose(floor=here.floors[0])
    await here.cell("gold", "branch").wait_for()
    await here.page.evaluate(STALE)
    await here.page.evaluate("async () => (await own('actions.js')).runAction('variables.import')")
    dialog = await dialog_of(here.page)
    deep: Any = 1
    for _ in range(120):
        deep = [deep]
    area = dialog.get_by_label("Variables as JSON")
    await area.fill(json.dumps({"fine": 1, "deep": deep}))
    await dialog.get_by_role("button", name="Write 2 variables").click()
    await dialog.get_by_text(re.compile("^Rows 1 to 2 were not written: .*nested deeper")).wait_for()
    # Refusing reads the floor's state anew; the page believes the old one once more.
    await here.page.evaluate(STALE)
    await area.fill(json.dumps([{"tier": "chat", "key": "fine", "value": 1}, {"tier": "floor", "key": "late", "value": 1}]))
    await dialog.get_by_role("button", name="Write 2 variables").click()
    await dialog.get_by_text(re.compile("^Row 2: The floor is generating or committed")).wait_for()
    await dialog.get_by_text("none of its 2 rows was").wait_for()
    await becomes(here.resolved, {"gold": 1})
    file = tmp_path / "many.json"
    file.write_text(json.dumps({f"n{number}": number for number in range(250)}), encoding="utf-8")
    await dialog.locator('input[type="file"]').set_input_files(file)
    await dialog.get_by_role("button", name="Write 250 variables").click()
    await dialog.wait_for(state="detached")
    await becomes(here.resolved, lambda found: found["n249"] == 249)


async def test_what_is_exported_can_be_imported(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    await here.put("chat", "mood", "tense")
    panel = await here.panel()
    await here.choose()
    await here.cell("mood", "chat").wait_for()
    await panel.get_by_role("button", name="Many at once").click()
    await here.page.get_by_role("menuitem", name="Export variables").click()
    dialog = await dialog_of(here.page)
    async with here.page.expect_download() as waiting:
        await dialog.get_by_role("button", name="Download variables.json").click()
    rows = json.loads((await (await waiting.value).path()).read_text(encoding="utf-8"))
    assert rows == [{"tier": "branch", "key": "gold", "value": 1}, {"tier": "chat", "key": "mood", "value": "tense"}]


# What is visible at a node


async def test_names_of_a_node_say_where_they_come_from_and_what_hides_them(memory: OpenMemory) -> None:
    here = await memory("I look around.", context={"permissions": ["clipboard-read", "clipboard-write"]})
    await here.put("global", "gold", 7)
    panel = await here.panel("At this node")
    await panel.get_by_text("Select a node").wait_for()
    await here.choose()
    await here.page.evaluate(
        "async () => (await own('state/tabs.js')).select({nodes: ['n2'], edges: [], frames: [], notes: []})"
    )
    branch = panel.get_by_role("region", name="Stored: Branch")
    await branch.get_by_text("gold").first.wait_for()
    await expect(branch.locator(".variables-value").first).to_have_text("1")
    hidden = panel.get_by_role("region", name="Stored: Global")
    await hidden.get_by_text("shadowed by Branch").wait_for()
    await expect(hidden.locator("s")).to_have_text("gold")
    await panel.get_by_role("region", name="Result of").get_by_text("OUT.n1", exact=True).wait_for()
    await panel.get_by_role("region", name="Context of every request").wait_for()
    assert await axe(here.page, ".variables") == []
    await hidden.get_by_role("button", name="gold").click()
    await becomes(lambda: here.page.evaluate("() => navigator.clipboard.readText()"), "{{ vars.global.gold }}")
    await branch.get_by_role("button", name="gold").click()
    await becomes(lambda: here.page.evaluate("() => navigator.clipboard.readText()"), "{{ gold }}")
    await panel.get_by_role("searchbox", name="Filter names").fill("gold")
    await panel.get_by_role("region", name="Context of every request").wait_for(state="detached")
    await panel.get_by_label("Shadowed only").check()
    await expect(panel.locator(".variables-name")).to_have_count(1)


async def test_staged_writes_and_promotions_are_listed(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    panel = await here.panel("Writes of the page")
    await panel.get_by_text("Choose a session").wait_for()
    result = await here.send("GET", f"/floors/{here.floors[0]}/result")
    await here.choose(floor=here.floors[0], page=result["data"]["output_page_id"])
    staged = panel.get_by_role("region", name="Staged writes")
    await staged.get_by_role("cell", name="last_words").wait_for()
    await expect(staged).to_contain_text("Went on to the floor")
    promotions = panel.get_by_role("region", name="Promotions")
    await expect(promotions).to_contain_text("Page → Floor")
    assert await axe(here.page, ".variables") == []


# The tree


async def test_the_tree_is_walked_and_read_by_keyboard(memory: OpenMemory) -> None:
    here = await memory("I look around.", "I dig.")
    tree = await here.tree()
    await tree.get_by_role("treeitem", name="adventure").focus()
    press = here.page.keyboard.press
    for key in ("ArrowRight", "ArrowDown"):
        await press(key)
        await tree.get_by_role("treeitem", name="main").wait_for()
    await press("ArrowRight")
    await tree.get_by_role("treeitem", name="1 · I dig. committed").wait_for()
    await press("ArrowDown")
    await press("ArrowDown")
    await press("Enter")
    reader = here.page.get_by_role("region", name="What was said")
    await reader.get_by_text("I look around.", exact=True).wait_for()
    await reader.get_by_text("The party carries 1").wait_for()
    chosen = "async () => { const {session} = (await own('state/store.js')).store.get(); return [session.session, session.branch, session.floor]; }"
    await becomes(lambda: here.page.evaluate(chosen), [here.session, "main", here.floors[0]])
    item = tree.get_by_role("treeitem", name="0 · I look around.")
    place = {"selected": "true", "level": "3", "posinset": "2", "setsize": "2", "expanded": "true"}
    for name, value in place.items():
        await expect(item).to_have_attribute(f"aria-{name}", value)
    assert await axe(here.page, ".left-side") == []
    await press("ArrowLeft")
    await press("ArrowLeft")
    await until(here.page, "document.activeElement.textContent.includes('main')")
    await expect(tree.locator('[tabindex="0"]')).to_have_count(1)
    await becomes(here.names, lambda found: {"branch.gold", "floor.last_words"} <= found.keys())


async def test_sessions_are_made_renamed_archived_and_deleted(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    tree = await here.tree()
    await here.page.get_by_role("button", name="New session").click()
    dialog = await dialog_of(here.page)
    await dialog.get_by_role("button", name="Create").click()
    await dialog.get_by_text("A title is missing.").wait_for()
    await dialog.get_by_label("Title").fill("<img src=x onerror=alert(1)>")
    await dialog.get_by_role("button", name="Create").click()
    made = tree.get_by_role("treeitem", name="<img src=x onerror=alert(1)>")
    await made.focus()
    await here.page.keyboard.press("F2")
    dialog = await dialog_of(here.page)
    await dialog.get_by_label("Title").fill("Second")
    await dialog.get_by_role("button", name="Rename").click()
    second = tree.get_by_role("treeitem", name="Second")
    await second.click(button="right")
    await here.page.get_by_role("menuitem", name="Archive").click()
    await (await dialog_of(here.page)).get_by_role("button", name="Archive").click()
    await second.wait_for(state="detached")
    await here.page.get_by_label("State").select_option("Archived")
    await second.click(button="right")
    await here.page.get_by_role("menuitem", name="Reopen").click()
    await here.page.get_by_text("No session matches.").wait_for()
    await here.page.get_by_label("State").select_option("Active")
    await tree.get_by_role("treeitem", name="adventure").wait_for()
    await here.page.get_by_role("searchbox", name="Find a session").fill("secon")
    await tree.get_by_role("treeitem", name="adventure").wait_for(state="detached")
    await second.focus()
    await here.page.keyboard.press("Delete")
    await (await dialog_of(here.page)).get_by_role("button", name="Delete").click()
    await here.page.get_by_text("No session matches.").wait_for()
    titles = [one["title"] for one in (await here.send("GET", "/sessions"))["data"]]
    assert titles == ["adventure"]
    await becomes(
        lambda: here.page.evaluate("async () => (await own('state/store.js')).store.get().session.session"),
        lambda found: found is None,
    )


async def test_a_branch_is_forked_compared_and_deleted(memory: OpenMemory) -> None:
    here = await memory("I look around.", "I dig.")
    tree = await here.tree()
    await here.choose(floor=here.floors[0])
    await tree.get_by_role("treeitem", name="0 · I look around.").click(button="right")
    await here.page.get_by_role("menuitem", name="Fork a branch from here").click()
    dialog = await dialog_of(here.page)
    await dialog.get_by_label("Name of the branch").fill("main")
    await dialog.get_by_role("button", name="Fork").click()
    await dialog.get_by_text("There is a branch of this name.").wait_for()
    await dialog.get_by_label("Name of the branch").fill("alt/ё")
    await dialog.get_by_role("button", name="Fork").click()
    forked = tree.get_by_role("treeitem", name="alt/ё")
    await forked.wait_for()
    fork = await here.resolved(branch_id="alt%2F%D1%91")
    assert fork == {"gold": 1}
    await here.put("branch", "route", "north", branch="alt/ё")
    await forked.click(button="right")
    await here.page.get_by_role("menuitem", name="Compare with").click()
    dialog = await dialog_of(here.page)
    # The fork has no floors of its own, so the server cannot compare those.
    here.editor.allow("status of 404")
    differing = dialog.get_by_role("region", name="Variables that differ")
    await differing.get_by_role("row", name="gold 2 1").wait_for()
    await differing.get_by_role("row", name="route — north").wait_for()
    assert await axe(here.page, "dialog") == []
    await here.page.keyboard.press("Escape")
    await forked.focus()
    await here.page.keyboard.press("Delete")
    await (await dialog_of(here.page)).get_by_role("button", name="Delete").click()
    await forked.wait_for(state="detached")
    names = [one["branch_id"] for one in (await here.send("GET", f"/sessions/{here.session}/branches"))["data"]]
    assert names == ["main"]


async def test_two_branches_with_floors_say_where_they_part(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    await here.send("POST", f"/floors/{here.floors[0]}/branch", {"branch_id": "alt"})
    await here.turn("I go north.", branch="alt")
    await here.turn("I go south.")
    tree = await here.tree()
    await tree.get_by_role("treeitem", name="adventure").click(button="right")
    await here.page.get_by_role("menuitem", name="Compare branches").click()
    dialog = await dialog_of(here.page)
    await dialog.get_by_text("They part after floor 0: 1 floor is shared.").wait_for()
    await dialog.get_by_text("1 · committed · I go south.").wait_for()
    await dialog.get_by_text("1 · committed · I go north.").wait_for()
    await dialog.get_by_text("The branches' own variables are the same.").wait_for()


# Live, empty, hostile, narrow


async def test_turns_of_the_chat_refresh_everything(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    tree = await here.tree()
    await here.panel()
    await here.choose()
    await here.cell("gold", "branch").get_by_text("1", exact=True).wait_for()
    await tree.get_by_role("treeitem", name="main").click()
    await here.turn("I dig.")
    await here.cell("gold", "branch").get_by_text("2", exact=True).wait_for()
    await tree.get_by_role("treeitem", name="1 · I dig.").wait_for()
    await here.turn("Hello?", chat="another")
    await tree.get_by_role("treeitem", name="another").wait_for()
    await becomes(here.names, lambda found: found["branch.gold"] == 2)


async def test_without_chats_the_panels_say_how_one_begins(memory: OpenMemory) -> None:
    here = await memory(context={"permissions": ["clipboard-read", "clipboard-write"]})
    panel = await here.panel()
    await panel.get_by_text("Nothing is stored globally.").wait_for()
    await here.page.evaluate("async () => (await own('actions.js')).runAction('variables.sessions')")
    left = here.page.locator(".left-side")
    await left.get_by_text("There are no chats yet.").wait_for()
    assert await axe(here.page) == []
    await left.get_by_role("button", name="Copy the curl command").click()
    parts = (f"curl {here.editor.server.origin}/v1/chat/completions", "x-agentui-session: my-chat")
    await becomes(
        lambda: here.page.evaluate("() => navigator.clipboard.readText()"), lambda line: all(part in line for part in parts)
    )


async def test_a_chat_that_somebody_deletes_is_left(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    here.editor.allow("status of 404")
    panel = await here.panel()
    await here.choose()
    await here.cell("gold", "branch").wait_for()
    await here.send("DELETE", f"/sessions/{here.session}")
    await panel.get_by_role("button", name="Refresh").click()
    await here.page.get_by_text("The chosen chat or branch is gone.").wait_for()
    await panel.get_by_text("Nothing is stored globally.").wait_for()


async def test_hostile_names_and_values_are_text_and_large_ones_are_cut(memory: OpenMemory) -> None:
    here = await memory("<script>alert(1)</script><img src=x onerror=alert(2)>")
    deep: Any = "<svg onload=alert(3)>"
    for _ in range(90):
        deep = {"<b>": deep}
    await here.put("chat", "<img src=x onerror=alert(4)>", '"><script>alert(5)</script>')
    await here.put("chat", "deep", deep)
    await here.put("chat", "large", "x" * LARGE)
    await here.put("chat", "list", list(range(100_000)))
    await here.put("chat", "__proto__", {"__proto__": 1})
    await here.put("chat", "\u202eback{{ }}]]", None)
    tree = await here.tree()
    await here.panel()
    await here.choose(floor=here.floors[0])
    await here.cell("large", "chat").wait_for()
    await expect(here.page.locator(".variables-table tbody tr")).to_have_count(8)
    await becomes(here.cell("large", "chat").inner_text, lambda text: len(text) < 200)
    await expect(here.page.locator(".variables-table")).to_contain_text("List of 100,000")
    await here.cell("large", "chat").click()
    area = here.page.locator(".variables-editing textarea")
    await becomes(area.input_value, lambda text: len(text) == LARGE)
    await here.page.keyboard.press("Escape")
    await here.edit("deep", "chat", '{"flat": 1}')
    await here.cell("deep", "chat").get_by_text('{"flat": 1}').wait_for()
    await here.page.get_by_role("region", name="What was said").get_by_text("<script>alert(1)</script>").first.wait_for()
    await tree.get_by_role("treeitem", name="<script>alert(1)</script>").wait_for()
    await here.page.get_by_role("tab", name="At this node").click()
    await here.page.evaluate(
        "async () => (await own('state/tabs.js')).select({nodes: ['n2'], edges: [], frames: [], notes: []})"
    )
    await here.page.get_by_role("region", name="Stored: Chat").get_by_text("<img src=x onerror=alert(4)>").first.wait_for()
    await expect(here.page.locator(".variables img, .variables script, .left-side img, .left-side script")).to_have_count(0)


async def test_it_all_fits_a_narrow_screen(memory: OpenMemory) -> None:
    here = await memory("I look around.", width=390, height=800)
    page = here.page

    async def breaks_no_rule() -> None:
        for theme, rules in THEMES:
            await page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            await page.locator(f"html[data-theme={theme}]").wait_for()
            assert await axe(page, rules=rules) == [], theme

    await here.put("global", "gold", 7)
    await here.panel()
    await here.choose(floor=here.floors[0])
    await here.cell("gold", "branch").wait_for()
    await breaks_no_rule()
    await becomes(lambda: page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), True)
    tree = await here.tree()
    await tree.get_by_role("treeitem", name="0 · I look around.").wait_for()
    await breaks_no_rule()


async def test_every_word_is_translated(memory: OpenMemory) -> None:
    here = await memory("I look around.")
    await here.tree()
    await here.panel()
    await here.choose(floor=here.floors[0])
    folder = Path(__file__).parents[2] / "static" / "locales"
    for locale, lang in (("ru", "ru"), ("zh", "zh-Hans")):
        catalogues = [loads((folder / name / "variables.json").read_bytes()) for name in ("en", locale)]
        plain = [{re.sub(r"\.(one|few|many|other)$", "", key) for key in one} for one in catalogues]
        assert plain[0] == plain[1]
        await here.page.evaluate("async (locale) => (await own('words.js')).loadLocale(locale)", locale)
        await here.page.locator(f"html[lang={lang}]").wait_for()
        await here.cell("gold", "branch").wait_for()
        await expect(here.page.locator("#app")).not_to_contain_text("variables.", use_inner_text=True)
