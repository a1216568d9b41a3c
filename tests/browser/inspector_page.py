"""What the inspector's tests do with a page: select nodes, write into template fields, and read the document."""

from typing import Any

from playwright.async_api import Locator, Page


async def document_of(page: Page) -> Any:
    """The document in front, saved or not."""
    return await page.evaluate("async () => { const tabs = await own('state/tabs.js'); return tabs.docOf(tabs.activeTab()); }")


async def config_of(page: Page, node: str = "n1") -> Any:
    """A node's configuration in the document in front."""
    return await page.evaluate(
        """async (id) => {
          const {activeTab, docOf} = await own('state/tabs.js');
          return docOf(activeTab()).nodes.find((node) => node.id === id).config;
        }""",
        node,
    )


async def choose(page: Page, *nodes: str) -> None:
    """Select nodes, as a click on the canvas does."""
    await page.get_by_role("region", name="Inspector").wait_for()
    await page.evaluate("async (nodes) => (await own('state/tabs.js')).select({nodes})", list(nodes))


async def write(field: Locator, text: str) -> None:
    """Put a text into a template field, as pasting over all of it does."""
    await field.press("ControlOrMeta+a")
    await field.press("Delete")
    await field.page.keyboard.insert_text(text)


async def undo(page: Page) -> None:
    """Take the last step back."""
    await page.get_by_role("button", name="Undo").click()
