"""Forms for node types that nobody drew a form for: a package's Python class is enough, and a configuration that fits none."""

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any, Literal

import pytest
import pytest_asyncio
from playwright.async_api import expect
from pydantic import BaseModel, Field

from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from tests.browser.conftest import Editor, OpenEditor, axe, becomes
from tests.browser.inspector_page import choose, config_of, undo, write


class Limit(BaseModel):
    """How much of something."""

    name: str = Field(description="What is limited.")
    most: int = Field(10, ge=1, le=100)


class ProbeParams(NodeParams):
    """One field of each kind that a schema knows."""

    text: str = Field("", description="A plain text.")
    greeting: str = Field("Hello {{ model }}", description="A template.", json_schema_extra={"ui": "macro"})
    body: str = Field("", json_schema_extra={"ui": "json"})
    key: str = Field("", json_schema_extra={"ui": "secret"})
    formula: str = Field("", json_schema_extra={"ui": "code"})
    who: str = Field("user", json_schema_extra={"ui": "role"})
    count: int = Field(3, ge=1, le=9, description="How many.")
    ratio: float | None = Field(None, description="A share.")
    loud: bool = False
    mode: Literal["fast", "slow"] = "fast"
    names: list[str] = Field(default_factory=list)
    limits: list[Limit] = Field(default_factory=list, description="What must not be exceeded.")
    labels: dict[str, str] = Field(default_factory=dict)
    first: Limit | None = None
    either: int | str = "text"
    anything: Any = None


@node("Probe")
class Probe(Node[ProbeParams]):
    """Shows every kind of field. OUT: ``text``.

    It calls nothing.
    """

    Params = ProbeParams
    title = "Probe"
    category = "text"
    icon = "no-such-icon"

    def prepare(self, build: Build) -> None:
        """Compile the template."""
        self.greeting = build.text("greeting", self.params.greeting)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Say the greeting."""
        return {"text": ctx.render(self.greeting)}


def document(**config: Json) -> Json:
    """A pipeline of one Probe."""
    return {
        "format": 1,
        "name": "Probing",
        "nodes": [{"id": "n1", "type": "Probe", "config": config, "position": {"x": 0, "y": 0}}],
        "edges": [],
    }


@pytest_asyncio.fixture(loop_scope="session")
async def probe(open_document: OpenEditor, monkeypatch: pytest.MonkeyPatch) -> OpenEditor:
    """Open an editor on a server that has the Probe installed as a package's node type, with the node selected."""
    entry = EntryPoint("probe", f"{__name__}:Probe", "agentui.nodes")
    monkeypatch.setattr("agentui.pipeline.node.entry_points", lambda group: [entry] if group == "agentui.nodes" else [])

    async def open_probe(config: Json | None = None, **options: Any) -> Editor:
        editor = await open_document({"default": document(**(config or {}))}, **options)
        await choose(editor.page, "n1")
        await editor.page.get_by_role("tab", name="Settings").wait_for()
        return editor

    return open_probe


async def test_a_form_is_drawn_from_the_schema_with_help_titles_descriptions_and_defaults(probe: OpenEditor) -> None:
    page = (await probe()).page
    side = page.get_by_role("region", name="Inspector")
    await expect(side.get_by_role("heading", name="Probe")).to_be_visible()
    await expect(side.get_by_text("A plain text.")).to_be_visible()
    await expect(side.get_by_role("textbox", name="Count")).to_have_attribute("placeholder", "3")
    await expect(side.get_by_text("How many. Default: 3")).to_be_visible()
    await side.get_by_text("What this node does").click()
    await expect(side.locator("code", has_text="text").first).to_be_visible()
    assert await axe(page, ".inspector-side") == []


async def test_every_kind_of_field_writes_its_own_type_and_can_be_undone(probe: OpenEditor) -> None:
    page = (await probe()).page
    side = page.get_by_role("region", name="Inspector")
    await side.get_by_role("textbox", name="Text", exact=True).fill("plain")
    await write(side.get_by_role("textbox", name="Greeting"), "Bye")
    await side.get_by_role("textbox", name="Count").fill("5")
    await side.get_by_role("textbox", name="Ratio").fill("0,5")
    await side.get_by_role("checkbox", name="Loud").check()
    await side.get_by_role("combobox", name="Mode").select_option("slow")
    await side.get_by_role("combobox", name="Who").select_option(label="assistant")
    expected = {"text": "plain", "greeting": "Bye", "count": 5, "ratio": 0.5, "loud": True, "mode": "slow", "who": "assistant"}
    await becomes(lambda: config_of(page), lambda found: {name: found[name] for name in expected} == expected)
    await undo(page)
    await becomes(lambda: config_of(page), lambda found: found.get("who") != "assistant")
    for _ in range(6):
        await undo(page)
    await becomes(lambda: config_of(page), {})


async def test_rows_of_objects_are_added_filled_moved_by_keys_and_removed(probe: OpenEditor) -> None:
    page = (await probe()).page
    limits = page.get_by_role("group", name="Limits")
    await limits.get_by_role("button", name="Add: Limits").click()
    await limits.get_by_role("button", name="Add: Limits").click()
    await limits.get_by_role("textbox", name="Name").nth(0).fill("words")
    await limits.get_by_role("textbox", name="Name").nth(1).fill("calls")
    await limits.get_by_role("textbox", name="Most").nth(1).fill("7")
    handle = limits.get_by_role("button", name="Move calls, 2 of 2")
    await handle.focus()
    await handle.press("ArrowUp")
    await becomes(lambda: config_of(page), lambda found: found["limits"] == [{"name": "calls", "most": 7}, {"name": "words"}])
    await expect(limits.get_by_role("button", name="Move calls, 1 of 2")).to_be_focused()
    await limits.get_by_role("button", name="Move calls down").click()
    await limits.get_by_role("button", name="Remove words").click()
    await becomes(lambda: config_of(page), lambda found: found["limits"] == [{"name": "calls", "most": 7}])


async def test_objects_with_free_names_lists_of_texts_unions_and_anything(probe: OpenEditor) -> None:
    page = (await probe()).page
    labels = page.get_by_role("group", name="Labels").first
    await labels.get_by_role("button", name="Add: Labels").click()
    await labels.get_by_role("textbox", name="Name 1").fill("colour")
    await labels.get_by_role("textbox", name="Value of colour").fill("blue")
    names = page.get_by_role("group", name="Names")
    await names.get_by_role("button", name="Add: Names").click()
    await names.get_by_role("textbox", name="Names 1").fill("Ada")
    await page.get_by_role("checkbox", name="First: set").check()
    await page.get_by_role("combobox", name="Either: kind").select_option(label="a whole number")
    await page.get_by_role("textbox", name="Either", exact=True).fill("4")
    await write(page.get_by_role("textbox", name="Anything"), '{"deep": [1, null]}')
    expected = {
        "labels": {"colour": "blue"},
        "names": ["Ada"],
        "first": {"name": ""},
        "either": 4,
        "anything": {"deep": [1, None]},
    }
    await becomes(lambda: config_of(page), lambda found: {name: found[name] for name in expected} == expected)


async def test_what_does_not_fit_is_said_at_the_field_and_the_last_good_value_stays(probe: OpenEditor) -> None:
    page = (await probe({"count": 4})).page
    count = page.get_by_role("textbox", name="Count")
    await count.fill("many")
    await expect(count).to_have_attribute("aria-invalid", "true")
    await becomes(lambda: config_of(page), lambda found: found["count"] == 4)
    await count.fill("12")
    await expect(page.get_by_role("alert").filter(has_text="9 or less")).to_be_visible()
    await count.fill("")
    await becomes(lambda: config_of(page), lambda found: "count" not in found)


async def test_values_of_the_wrong_kind_and_unknown_fields_are_shown_and_kept(probe: OpenEditor) -> None:
    wrong: Json = {
        "text": 7,
        "count": [],
        "limits": "none",
        "labels": 3,
        "loud": "yes",
        "mode": "sideways",
        "names": [1, "b"],
        "mine": {"kept": True},
    }
    editor = await probe(wrong)
    page = editor.page
    await becomes(lambda: config_of(page), wrong)
    for name in ("Text", "Count", "Limits", "Labels", "Loud"):
        await expect(page.get_by_role("textbox", name=name, exact=True)).to_be_visible()
    await expect(page.get_by_role("combobox", name="Mode")).to_have_value('"sideways"')
    await expect(page.get_by_role("textbox", name="mine")).to_contain_text('"kept": true')
    assert await axe(page, ".inspector-side") == []
    await (
        page.locator(".inspector-wrong", has=page.get_by_role("textbox", name="Limits", exact=True))
        .get_by_role("button", name="Reset")
        .click()
    )
    await becomes(lambda: config_of(page), lambda found: found["limits"] == [])


async def test_the_whole_configuration_can_be_written_as_json(probe: OpenEditor) -> None:
    page = (await probe({"count": 2})).page
    await page.get_by_role("button", name="as JSON").click()
    field = page.get_by_role("textbox", name="Configuration")
    await write(field, '{"count": 3, "mine": 1')
    await expect(page.get_by_role("alert").filter(has_text="not JSON yet")).to_be_visible()
    await becomes(lambda: config_of(page), {"count": 2})
    await write(field, "[]")
    await expect(page.get_by_role("alert").filter(has_text="an object")).to_be_visible()
    await write(field, '{"count": 3, "mine": 1}')
    await becomes(lambda: config_of(page), {"count": 3, "mine": 1})
    await page.get_by_role("button", name="as JSON").click()
    await expect(page.get_by_role("textbox", name="Count")).to_have_value("3")


async def test_a_type_that_is_not_installed_is_edited_as_json(open_editor: OpenEditor) -> None:
    editor = await open_editor({"default": document(text="kept")})
    await choose(editor.page, "n1")
    await expect(editor.page.get_by_role("status").filter(has_text="No node type Probe is installed")).to_be_visible()
    await write(editor.page.get_by_role("textbox", name="Configuration"), '{"text": "changed"}')
    await becomes(lambda: config_of(editor.page), {"text": "changed"})
    assert await axe(editor.page, ".inspector-side") == []
