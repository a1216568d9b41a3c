"""Skill rules in the page: read, made, changed, refused where somebody else changed one, and deleted."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import axe, becomes
from tests.browser.test_chat import OpenChat, chat

__all__ = ["chat"]

pytestmark = pytest.mark.browser


async def test_rules_are_read_made_changed_and_deleted(chat: OpenChat) -> None:
    here = await chat()
    here.editor.allow("status of 412")
    page, folder = here.page, here.editor.server.rules
    (folder / "style").mkdir(parents=True)
    (folder / "style" / "Odd.md").write_text("---\nwhat: x\n---\nText")
    await page.get_by_role("button", name="Menu", exact=True).click()
    await page.get_by_role("menuitem", name="Skill rules").click()
    dialog = page.get_by_role("dialog", name="Skill rules")
    await dialog.get_by_role("button", name="Read VarRef").click()
    shipped = page.get_by_role("dialog", name="Agent / VarRef")
    await expect(shipped.get_by_role("group", name="Text (Markdown)")).to_contain_text("$VAR_REF")
    await expect(shipped.get_by_role("button", name="Save")).to_have_count(0)
    await shipped.get_by_role("button", name="Close").last.click()
    await expect(dialog.get_by_role("listitem").filter(has_text="Odd")).to_contain_text("none of desc, when and alwaysLoad")
    assert await axe(page, "dialog") == []
    # A file that is no rule is mended as it stands.
    await dialog.get_by_role("button", name="Edit Odd").click()
    odd = page.get_by_role("dialog", name="style / Odd")
    await odd.get_by_label("The file").fill("Mended.")
    await odd.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_role("listitem").filter(has_text="Odd")).to_contain_text("Mended.")
    # A new one.
    await dialog.get_by_role("button", name="New rule").click()
    new = page.get_by_role("dialog", name="New rule")
    await new.get_by_label("Group").fill("style")
    await new.get_by_label("Name", exact=True).fill("Odd")
    await expect(new.get_by_text("There is such a rule already.")).to_be_visible()
    await new.get_by_label("Name", exact=True).fill("Dialogue")
    await new.get_by_label("Description").fill("How people talk: always")
    await new.get_by_label("When to use").fill("Before a scene")
    await new.get_by_label("Always loaded").check()
    await new.get_by_label("Text (Markdown)").fill("Short sentences.\n---\nNo more.")
    assert await axe(page, "dialog") == []
    await new.get_by_role("button", name="Save").click()
    line = dialog.get_by_role("listitem").filter(has_text="Dialogue")
    await expect(line).to_contain_text("How people talk: always · Before a scene")
    await expect(line).to_contain_text("Always loaded")
    # Somebody else was quicker.
    await line.get_by_role("button", name="Edit Dialogue").click()
    edited = page.get_by_role("dialog", name="style / Dialogue")
    text = edited.get_by_label("Text (Markdown)")
    await expect(text).to_have_value("Short sentences.\n---\nNo more.")
    (folder / "style" / "Dialogue.md").write_text("Theirs.")
    await text.fill("Mine.")
    await edited.get_by_role("button", name="Save").click()
    await expect(edited.get_by_role("alert")).to_contain_text("changed meanwhile")
    await edited.get_by_role("button", name="Read it anew").click()
    await expect(text).to_have_value("Theirs.")
    await text.fill("Both.")
    await edited.get_by_role("button", name="Save").click()
    await expect(line).to_contain_text("Both.")
    await line.get_by_role("button", name="Delete Dialogue").click()
    await page.get_by_role("dialog", name="Delete Dialogue").get_by_role("button", name="Delete", exact=True).click()
    await expect(line).to_have_count(0)

    async def names() -> list[str]:
        return sorted(path.name for path in (folder / "style").iterdir())

    await becomes(names, ["Odd.md"])
