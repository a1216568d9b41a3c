"""What a session keeps beside its talk: Session State, what tools wrote, the prompt policy, director and verifier."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import THEMES, axe, becomes
from tests.browser.test_chat import OpenChat, answered_by, chat
from tests.browser.test_chat_tools import beside
from tests.upstreams.server import Mock
from tests.upstreams.step import Call, Step

__all__ = ["chat"]

pytestmark = pytest.mark.browser


async def test_session_state_is_written_read_compared_and_taken_away(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    state = await beside(here, "Session State")
    await state.get_by_text("Write a slot").click()
    await state.get_by_label("Namespace").fill("quest_flags")
    await state.get_by_label("Slot", exact=True).fill("companion")
    await state.get_by_label("Value", exact=True).fill("{mood")
    await expect(state.get_by_text("This is no JSON.")).to_be_visible()
    await expect(state.get_by_role("button", name="Write", exact=True)).to_be_disabled()
    await state.get_by_label("Value", exact=True).fill('{"mood": "ally"}')
    await here.page.keyboard.press("Tab")
    await here.page.keyboard.press("Enter")
    row = state.get_by_role("row", name="quest_flags.companion")
    await expect(row).to_contain_text('"mood": "ally"')
    # The floor was committed before: on its side the slot is not there.
    await state.get_by_label("Compare with").select_option(index=1)
    await expect(row).to_contain_text("new")
    await state.get_by_text("The newest writes").click()
    await expect(state.get_by_role("listitem").filter(has_text="quest_flags.companion")).to_contain_text("at once")
    assert await axe(here.page, ".chat") == []
    await state.get_by_role("button", name="Remove quest_flags.companion").click()
    await expect(row).to_have_count(0)

    async def held() -> Any:
        found = (await here.send("GET", f"/sessions/{here.session}/state/resolve?branch_id=main"))["data"]
        return [one["present"] for one in found if one["namespace"] == "quest_flags"]

    await becomes(held, [False])


async def test_session_state_of_any_two_floors_is_compared(chat: OpenChat) -> None:
    here = await chat("One.")
    path = f"/sessions/{here.session}/state"
    owner = {"namespace": "quest", "logical_owner_type": "test", "logical_owner_id": "page"}
    await here.send("POST", f"{path}/namespaces", owner)
    for words, gold in (("Two.", 2), ("Three.", 3)):
        await here.send(
            "POST", f"{path}/values/write", {"branch_id": "main", "namespace": "quest", "slot": "gold", "value": gold}
        )
        await here.turn(words)
    await here.send("POST", f"{path}/values/write", {"branch_id": "main", "namespace": "quest", "slot": "gold", "value": 9})
    await here.show()
    state = await beside(here, "Session State")
    row = state.get_by_role("row", name="quest.gold")
    await expect(row.get_by_role("cell").first).to_have_text("9")
    # What it was at the third floor, beside the second and the first; what was is not removed.
    await state.get_by_label("Shown").select_option(index=3)
    await expect(row.get_by_role("cell").first).to_have_text("3")
    await state.get_by_label("Compare with").select_option(index=2)
    await expect(row.get_by_role("cell").first).to_have_text("2 → 3")
    await expect(state.get_by_role("button", name="Remove quest.gold")).to_have_count(0)
    await state.get_by_label("Compare with").select_option(index=1)
    await expect(row.get_by_role("cell").first).to_have_text("new3")
    await state.get_by_label("Shown").select_option(index=0)
    await expect(state.get_by_role("button", name="Remove quest.gold")).to_be_visible()


async def test_what_a_tool_wrote_is_accepted_for_the_branch_and_taken_back(chat: OpenChat, mock: Mock) -> None:
    here = await chat("I look around.")
    here.editor.server.put("default", answered_by(mock, "text"))
    await here.send("PUT", f"/sessions/{here.session}/tool-permissions", {"enabled": True})
    calls = (
        Call("set_variable", '{"key": "mood", "value": "grim", "intent": "page_only"}', "call_1"),
        Call("set_variable", '{"key": "door", "value": "open", "intent": "promote_to_branch_on_accept"}', "call_2"),
    )
    await here.show()
    mock.script([Step(text="", calls=calls), Step(text="The door opens.")])
    await here.say("Open it.")
    writes = await beside(here, "Writes")
    written = writes.get_by_role("list", name="Written")
    await expect(written).to_contain_text("mood")
    assert await axe(here.page, ".chat") == []
    await written.get_by_role("button", name="Accept mood for the branch").click()
    await becomes(here.resolved, lambda found: found.get("mood") == "grim")
    further = writes.get_by_role("list", name="What went further")
    await further.get_by_role("button", name="Take door back").click()
    await becomes(here.resolved, lambda found: "door" not in found)


async def test_the_prompt_policy_of_a_session_and_of_a_branch(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    rules = await beside(here, "Prompt rules")
    path = f"/sessions/{here.session}/prompt-runtime"

    async def policy(of: str = "") -> Any:
        return (await here.send("GET", f"{path}{of}/policy"))["data"]["persistent_policy"]

    await rules.get_by_label("Lorebooks").click()
    await becomes(policy, {"source_selection": {"worldbook": {"enabled": False}}})
    await rules.get_by_label("Newest messages of the chat").fill("x")
    await expect(rules.get_by_role("alert")).to_be_visible()
    await rules.get_by_label("Newest messages of the chat").fill("6")
    await here.page.keyboard.press("Enter")
    await becomes(policy, lambda found: found["source_selection"].get("history") == {"mode": "windowed", "max_messages": 6})
    await rules.get_by_label("Changes apply to").select_option("branch")
    await rules.get_by_label("Shape of the messages").select_option("flattened")

    async def of_branch() -> Any:
        return await policy("/branches/main")

    await becomes(of_branch, lambda found: found["structure"]["mode"] == "flattened")
    await rules.get_by_label("Way of assembling").select_option("native")
    await expect(rules.get_by_label("Way of assembling")).to_have_value("native")
    for theme, checked in THEMES:
        await here.page.evaluate("async (theme) => (await own('state/view.js')).setView({theme})", theme)
        assert await axe(here.page, ".chat", checked) == []


async def test_director_and_verifier_are_chosen_and_what_they_said_is_shown(chat: OpenChat, mock: Mock) -> None:
    here = await chat("I look around.")
    server = here.editor.server
    answering = answered_by(mock, "text")
    server.put("default", answering)
    config = answering["nodes"][1]["config"]
    reached = {name: config[name] for name in ("provider", "base_url", "model", "headers")}
    for name in ("director", "verifier"):
        server.put(name, {"format": 1, "name": name, "nodes": [{"id": "n1", "type": "ProviderCall", "config": reached}]})
    await here.page.evaluate("async () => (await own('state/library.js')).refreshLibrary()")
    await here.show()
    checks = await beside(here, "Checks")
    await expect(checks.get_by_label("When the verifier refuses")).to_be_disabled()
    await checks.get_by_label("Director", exact=True).select_option("director")
    await expect(checks.get_by_label("Director", exact=True)).to_have_value("director")
    await checks.get_by_label("Verifier", exact=True).select_option("verifier")
    await expect(checks.get_by_label("When the verifier refuses")).to_be_enabled()
    verdict = '{"status": "fail", "issues": ["Too short."], "suggestion": "Say more."}'
    mock.script([Step(text="Be stern."), Step(text="No."), Step(text=verdict)])
    await here.say("May I pass?")
    await expect(checks).to_contain_text("Be stern.")
    await expect(checks).to_contain_text("refused")
    await expect(checks).to_contain_text("Too short.")
    assert await axe(here.page, ".chat") == []


async def test_the_servers_own_director_is_asked_where_a_chat_names_none(chat: OpenChat, mock: Mock) -> None:
    here = await chat("I look around.", director_pipeline="director")
    server = here.editor.server
    answering = answered_by(mock, "text")
    server.put("default", answering)
    config = answering["nodes"][1]["config"]
    reached = {name: config[name] for name in ("provider", "base_url", "model", "headers")}
    server.put("director", {"format": 1, "name": "Stern", "nodes": [{"id": "n1", "type": "ProviderCall", "config": reached}]})
    await here.page.evaluate("async () => (await own('state/library.js')).refreshLibrary()")
    await here.show()
    checks = await beside(here, "Checks")
    # It costs a call each turn, so nobody is asked until somebody says so.
    await expect(checks.get_by_label("Director", exact=True)).to_have_value("")
    await checks.get_by_label("Director", exact=True).select_option(label="The server's: Stern")
    mock.script([Step(text="Be stern."), Step(text="No.")])
    await here.say("May I pass?")
    await expect(checks).to_contain_text("Be stern.")
    # It is kept, and a chat's own goes before it.
    await here.page.reload()
    await expect(here.floor_views.last).to_be_visible()
    checks = await beside(here, "Checks")
    await expect(checks.get_by_label("Director", exact=True).locator("option:checked")).to_have_text("The server's: Stern")
    # A server without one has nothing to offer.
    await expect(checks.get_by_label("Verifier", exact=True).locator("option")).to_have_count(3)
