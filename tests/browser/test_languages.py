"""What the server says, in the language of the page."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenEditor
from tests.conftest import call

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("locale", "problem", "error", "kind", "dialect", "form"),
    [
        (
            "ru",
            "Типа узла Nowhere нет.",
            "Сейчас это невозможно.",
            "Вызов модели",
            "диалект клиента",
            ("Режим", "Для каждого элемента"),
        ),
        ("zh-CN", "没有节点类型 Nowhere。", "当前状态不允许此操作。", "调用模型", "调用方的格式", ("方式", "对每一项")),
    ],
)
async def test_problems_errors_and_types_are_told_in_the_chosen_language(
    open_editor: OpenEditor, locale: str, problem: str, error: str, kind: str, dialect: str, form: tuple[str, str]
) -> None:
    document = call("openai", "demo")
    broken = {**document, "nodes": [*document["nodes"], {"id": "n8", "type": "ProviderCall", "config": {}}]}
    broken["nodes"].append({"id": "n9", "type": "Nowhere", "config": {}})
    broken["nodes"].append({"id": "n10", "type": "Loop", "config": {}})
    editor = await open_editor(
        {"default": broken}, context={"locale": locale}, secret_env={"AGENTUI_SECRET_MINE": "sk-12345678"}
    )
    editor.allow("status of 409")
    page = editor.page
    await page.locator(".doc-tab").first.wait_for()
    await page.evaluate("async () => (await own('state/view.js')).setView({dock: 'problems'})")
    line = page.locator(".problem-text", has_text=problem)
    await expect(line).to_have_text(problem)  # the server's facts within our sentence, and nothing stands there in English
    await expect(page.locator('.react-flow__node[data-id="n8"]')).to_contain_text(dialect)
    await page.locator('.react-flow__node[data-id="n1"]').click()
    await expect(page.locator(".inspector-kind")).to_have_text(kind)
    # A form that is drawn from its schema.
    await page.evaluate("async () => (await own('state/tabs.js')).select({nodes: ['n10']})")
    label, choice = form
    await expect(page.get_by_role("combobox", name=label, exact=True).locator("option:checked")).to_have_text(choice)
    message = await page.evaluate(
        """async () => {
          const {api} = await own('api/client.js');
          const body = {value: 'x', origins: ['https://x.example']};
          return api.send('PUT', '/api/secrets/mine', body).catch((error) => error.message);
        }"""
    )
    assert message.startswith(error) and "AGENTUI_SECRET_MINE" in message
    # In another language the same document is told of anew.
    await page.evaluate("async () => (await own('state/view.js')).setLocale('en')")
    await expect(page.locator(".problem-text", has_text="Nowhere")).not_to_contain_text(problem)
