"""Template fields: colours by kind, unknown names, completion, the last run's values, jumps, problems at their place."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Editor, OpenEditor, axe, becomes, until

pytestmark = pytest.mark.browser

TEXT = "[[VAR:model]] [[OUT:n2.response_text]] [[OUT2]] [[MOOD]] [[NOBODY]] {{ chat.last_user }}"


def pipeline(text: str = TEXT) -> dict[str, Any]:
    """SetVars, a call, and a call whose system block is the text under test."""
    blocks = [{"kind": "text", "role": "system", "text": text}, {"kind": "history"}]
    return {
        "format": 1,
        "name": "Three",
        "nodes": [
            {
                "id": "n1",
                "type": "SetVars",
                "config": {"variables": [{"name": "MOOD", "value": "calm"}]},
                "position": {"x": 0, "y": 0},
            },
            {
                "id": "n2",
                "type": "ProviderCall",
                "config": {"provider": "openai", "base_url": "demo"},
                "position": {"x": 320, "y": 0},
            },
            {
                "id": "n3",
                "type": "ProviderCall",
                "config": {"provider": "openai", "base_url": "demo", "headers": {"x-a": "1"}, "blocks": blocks},
                "position": {"x": 640, "y": 0},
            },
        ],
        "edges": [{"from": "n1", "to": "n2"}, {"from": "n2", "to": "n3"}],
    }


async def opened(open_document: OpenEditor, document: dict[str, Any]) -> Editor:
    """The editor with the third node's text block before it."""
    editor = await open_document({"default": document}, secret_env={"AGENTUI_SECRET_OPENAI": "sk-a-secret-value"})
    await editor.page.locator(".doc-tab").first.wait_for()
    await editor.page.evaluate("async () => (await own('state/tabs.js')).goTo({node: 'n3', field: 'blocks.0.text'})")
    await editor.page.locator('[data-field="blocks.0.text"]').wait_for()
    return editor


async def write(editor: Editor, text: str) -> None:
    """Replace what stands in the field by typing."""
    field = editor.page.locator('[data-field="blocks.0.text"]')
    await field.click()
    await editor.page.keyboard.press("Control+a")
    await editor.page.keyboard.press("Delete")
    await editor.page.keyboard.type(text)


async def ran(editor: Editor) -> None:
    """Let the pipeline run once, and show that run."""
    question = {"model": "demo-small", "messages": [{"role": "user", "content": "Hello!"}]}
    reply = await editor.page.request.post(f"{editor.server.origin}/v1/chat/completions", data=question)
    run = reply.headers["x-agentui-run"]
    await editor.page.evaluate(
        """async (id) => {
          const [client, log, {store}, tabs] = await Promise.all([
            own('api/client.js'), own('core/runlog.js'),
            own('state/store.js'), own('state/tabs.js'),
          ]);
          const {body} = await client.api.get(`/api/runs/${id}`);
          const view = body.events.reduce(log.reduce, log.emptyRun(body));
          store.set((state) => ({runs: {...state.runs, byId: {...state.runs.byId, [id]: view}}}));
          tabs.updateTab(tabs.activeTab().key, {lastRun: id});
        }""",
        run,
    )


async def test_macros_are_coloured_by_kind_and_unknown_names_marked(open_document: OpenEditor) -> None:
    editor = await opened(open_document, pipeline())
    field = editor.page.locator('[data-field="blocks.0.text"]')
    for kind, text in [
        ("var", "[[VAR:model]]"),
        ("out", "[[OUT:n2.response_text]]"),
        ("short-out", "[[OUT2]]"),
        ("name", "[[MOOD]]"),
        ("unknown", "[[NOBODY]]"),
        ("curly", "{{ chat.last_user }}"),
    ]:
        await expect(field.locator(f".macro-{kind}")).to_have_text([text])
    assert await axe(editor.page, ".inspector-side") == []


COMPLETIONS = [
    ("[[", ["MOOD", "VAR:", "OUT:", "model", "OUT2"], ["PROMPT", "SECRET:", "OUT3"]),
    ("[[VAR:chat.", ["last_user", "messages"], ["model"]),
    ("[[OUT:", ["n1", "n2"], ["n3"]),
    ("{{ ", ["MOOD", "chat", "OUT."], ["OUT3"]),
    ("{{ chat.", ["last_user", "messages"], ["MOOD"]),
    ("{{ MOOD|", ["default", "upper", "truncate"], ["MOOD"]),
]
"""What is typed, what the list offers then, and what it does not."""


async def test_completion_offers_what_is_visible_there(open_document: OpenEditor) -> None:
    editor = await opened(open_document, pipeline())
    labels = editor.page.locator(".cm-tooltip-autocomplete .cm-completionLabel")
    for typed, offered, refused in COMPLETIONS:
        await write(editor, typed)
        # The list follows the keys one after the other.
        for label in offered:
            await expect(labels.get_by_text(label, exact=True), typed).to_have_count(1)
        for label in refused:
            await expect(labels.get_by_text(label, exact=True), typed).to_have_count(0)
        await editor.page.keyboard.press("Escape")
        await expect(labels).to_have_count(0)


async def test_completion_writes_the_whole_macro(open_document: OpenEditor) -> None:
    editor = await opened(open_document, pipeline())
    await write(editor, "[[MO")
    await expect(editor.page.locator(".cm-tooltip-autocomplete [aria-selected]")).to_contain_text("MOOD")
    await editor.page.keyboard.press("Enter")
    text = "own('state/tabs.js').then(({activeTab, docOf}) => docOf(activeTab()).nodes[2].config.blocks[0].text)"
    await until(editor.page, f"(await {text}) === '[[MOOD]]'")


async def test_secrets_are_completed_by_name_where_they_may_stand_and_never_shown(open_document: OpenEditor) -> None:
    editor = await opened(open_document, pipeline())
    await editor.page.evaluate("async () => (await own('state/tabs.js')).goTo({node: 'n3', field: 'headers.x-a'})")
    await editor.page.locator('[data-field="headers.x-a"]').click()
    await editor.page.keyboard.type("[[SECRET:")
    await editor.page.locator(".cm-completionLabel", has_text="openai").wait_for()
    assert "sk-a-secret-value" not in await editor.page.content()


async def test_results_of_the_last_run_are_completed_and_shown(open_document: OpenEditor) -> None:
    editor = await opened(open_document, pipeline("[[OUT:n2.finish_reason]]"))
    await ran(editor)
    await editor.page.locator('[data-field="blocks.0.text"] .macro-out').hover()
    hover = editor.page.locator(".macro-hover")
    await hover.wait_for()
    await expect(hover).to_contain_text("from node n2")
    await expect(hover).to_contain_text("stop")
    await write(editor, "[[OUT:n2.result.choices.")
    await editor.page.locator(".cm-completionLabel", has_text="0").wait_for()


async def test_f12_and_control_click_lead_to_the_node_that_defines_a_name(open_document: OpenEditor) -> None:
    selected = "async () => (await own('state/tabs.js')).activeTab().selection.nodes[0]"
    editor = await opened(open_document, pipeline("[[MOOD]]"))
    await editor.page.locator('[data-field="blocks.0.text"] .macro-name').click(modifiers=["Control"])
    await becomes(lambda: editor.page.evaluate(selected), "n1")
    await editor.page.evaluate(
        "async () => (await own('state/tabs.js')).goTo({node: 'n3', field: 'blocks.0.text', line: 1, column: 4})"
    )
    await editor.page.locator('[data-field="blocks.0.text"]').wait_for()
    await until(editor.page, "document.activeElement?.getAttribute('data-field') === 'blocks.0.text'")
    await editor.page.keyboard.press("F12")
    await becomes(lambda: editor.page.evaluate(selected), "n1")


async def test_a_problem_is_marked_at_its_place_and_gone_when_it_is_mended(open_document: OpenEditor) -> None:
    editor = await opened(open_document, pipeline("one\ntwo {{ model|nofilter }}"))
    mark = editor.page.locator('[data-field="blocks.0.text"] .cm-lintRange-error')
    await mark.first.wait_for()
    await becomes(mark.all_inner_texts, lambda found: "one" not in "".join(found))
    broken = editor.page.locator('[data-field="blocks.0.text"] .macro-error')
    await becomes(broken.all_inner_texts, lambda found: "".join(found) == "{{ model|nofilter }}")
    await write(editor, "{{ model|upper }}")
    await mark.first.wait_for(state="detached")


async def test_typing_is_undone_by_the_document_and_does_not_lose_the_cursor(open_document: OpenEditor) -> None:
    editor = await opened(open_document, pipeline("start"))
    await editor.page.locator('[data-field="blocks.0.text"]').click()
    await editor.page.keyboard.press("End")
    await editor.page.keyboard.type(" and more", delay=5)
    text = """async () => {
      const tabs = await own('state/tabs.js');
      return tabs.docOf(tabs.activeTab()).nodes[2].config.blocks[0].text;
    }"""
    await becomes(lambda: editor.page.evaluate(text), "start and more")
    await editor.page.evaluate("async () => (await own('state/tabs.js')).undo()")
    await expect(editor.page.locator('[data-field="blocks.0.text"]')).to_have_text("start")


async def test_typing_over_lines_with_macros_is_one_clean_edit(open_document: OpenEditor) -> None:
    """Chromium would put a style attribute into the page, which the policy refuses: the fixture would hear of it."""
    editor = await opened(open_document, pipeline("one [[MOOD]]\ntwo {{ model }}\nthree"))
    await editor.page.locator('[data-field="blocks.0.text"]').click()
    await editor.page.keyboard.press("Control+a")
    await editor.page.keyboard.insert_text("x")
    await expect(editor.page.locator('[data-field="blocks.0.text"]')).to_have_text("x")
    await editor.page.keyboard.press("Control+z")
    await expect(editor.page.locator('[data-field="blocks.0.text"]')).to_contain_text("three")
