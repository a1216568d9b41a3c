"""The first visit: how much is asked for until the canvas is there, in a browser that has kept nothing."""

from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import OpenEditor, until

pytestmark = pytest.mark.browser

MOST_BYTES = 450_000
MOST_REQUESTS = 25


class Traffic:
    """What a page asks for, as the browser counts it: headers and bodies as they came over the line."""

    def __init__(self) -> None:
        self.paths: dict[str, str] = {}
        self.bytes: dict[str, int] = {}

    async def listen(self, page: Page) -> None:
        """Count from now on."""
        session = await page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self._hear_request)
        session.on("Network.loadingFinished", self._hear_end)
        await session.send("Network.enable")

    def _hear_request(self, event: dict[str, Any]) -> None:
        self.paths[event["requestId"]] = urlsplit(event["request"]["url"]).path

    def _hear_end(self, event: dict[str, Any]) -> None:
        self.bytes[event["requestId"]] = event["encodedDataLength"]


async def test_a_first_visit_is_small_and_asks_for_nothing_twice(open_editor: OpenEditor) -> None:
    traffic = Traffic()
    editor = await open_editor(context={}, prepare=traffic.listen)
    await expect(editor.page.locator(".react-flow__node")).to_have_count(1)
    # The editor of texts comes last, behind the picture.
    await until(editor.page, "(await own('code/CodeField.js')) !== undefined")
    await editor.page.wait_for_load_state("load")
    # The icon is the browser's own affair: it looks for it again when the page's address changes, in what it kept.
    twice = [path for path, count in Counter(traffic.paths.values()).items() if count > 1 and not path.endswith("icon.svg")]
    assert twice == []
    assert {"/api/pipelines", "/api/presets", "/api/secrets"} <= set(traffic.paths.values())
    assert len(traffic.paths) <= MOST_REQUESTS
    later = ("codemirror.js", "later.js")
    first = {path: traffic.bytes.get(id, 0) for id, path in traffic.paths.items() if not path.endswith(later)}
    assert 100_000 < sum(first.values()) <= MOST_BYTES, first


async def test_a_second_visit_loads_no_file_anew(open_editor: OpenEditor) -> None:
    traffic = Traffic()
    editor = await open_editor(context={}, prepare=traffic.listen)
    await expect(editor.page.locator(".react-flow__node")).to_have_count(1)
    await until(editor.page, "(await own('code/CodeField.js')) !== undefined")
    first = sum(traffic.bytes.values())
    traffic.bytes.clear()
    await editor.page.reload()
    await expect(editor.page.locator(".react-flow__node")).to_have_count(1)
    assert sum(traffic.bytes.values()) < first / 10


async def test_a_field_shows_its_text_while_the_editor_of_texts_is_on_its_way(open_editor: OpenEditor) -> None:
    async def without(page: Page) -> None:
        await page.route("**/vendor/codemirror.js", lambda route: route.abort())

    editor = await open_editor(prepare=without)
    editor.allow("codemirror.js|later.js|ERR_FAILED")
    node = editor.page.locator(".react-flow__node")
    await node.click()
    waiting = editor.page.locator(".code-waiting")
    await expect(waiting.first).to_be_visible()
    await editor.page.unroute("**/vendor/codemirror.js")
