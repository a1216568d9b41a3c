"""The place to chat: turns that are played in the page, and what can be done with what was said."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect
from sqlalchemy import Connection, insert

from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.tables import floors, messages, pages
from tests.browser.conftest import OpenEditor, axe, becomes, until
from tests.browser.test_variables_panel import GOLD, Memory, dialog_of
from tests.upstreams.server import API_KEY, Mock
from tests.upstreams.step import Step

pytestmark = pytest.mark.browser

FLOORS = 20_000
MARKDOWN = """*She smiles.* "Hello, **traveller**."

1. one
2. two

> quoted

| a | b |
|---|--:|
| 1 | 2 |

# A title

```python
def f():
    return '<b>'
```

A [link](https://example.com/), [bad](javascript:alert(1)), ![picture](https://example.com/a.png), https://example.org/?a=1
[![badge](https://example.com/b.png)](https://example.com/badge)
<script>alert(1)</script> <img src=x onerror=alert(1)>"""
IS_READ = """(({chosenPlace, talkOf}) => {
  const place = chosenPlace();
  return place !== null && ['ready', 'failed'].includes(talkOf(place).state);
})(await own('chat/talk.js'))"""
"""Whether the page has read what was said at the place that is chosen."""


class Chat(Memory):
    """The chat of an editor, and the memory behind it."""

    @property
    def chat(self) -> Locator:
        return self.page.locator(".chat")

    @property
    def field(self) -> Locator:
        return self.page.locator("#chat-input")

    @property
    def floor_views(self) -> Locator:
        return self.page.locator("article.chat-floor")

    @property
    def answers(self) -> Locator:
        """What the model said, as it is shown."""
        return self.page.locator('.chat-floors [data-t="said-assistant"] .said-text')

    async def show(self, **place: str) -> None:
        """Choose a place of the session, and open the chat; returns when what was said there is shown."""
        if self.session:
            await self.choose(**place)
        await self.page.evaluate("async () => (await own('actions.js')).runAction('chat.open')")
        await self.field.wait_for()
        if self.session:
            await until(self.page, IS_READ)

    async def say(self, words: str) -> None:
        """Write something and send it with Enter; returns when the answer is there."""
        count = await self.floor_views.count()
        await self.field.fill(words)
        await self.page.keyboard.press("Enter")
        await expect(self.floor_views).to_have_count(count + 1)
        await self.rest()

    async def rest(self) -> None:
        """Wait until no turn is on its way."""
        await expect(self.chat.get_by_role("button", name="Send", exact=True)).to_be_visible()

    async def menu(self, number: int, item: str) -> None:
        """Choose from the menu of a floor."""
        await self.chat.get_by_role("button", name=f"Floor {number}: more").click()
        await self.page.get_by_role("menuitem", name=item).click()

    async def gold(self, branch: str = "main") -> Any:
        """How much gold a branch has, as the server says."""
        return (await self.resolved(branch_id=branch))["gold"]


OpenChat = Callable[..., Awaitable[Chat]]


@pytest_asyncio.fixture(loop_scope="session")
async def chat(open_calm: OpenEditor) -> OpenChat:
    """Open an editor with the gold counter; ``turns`` are said to a chat first."""

    async def open_one(*turns: str, **options: Any) -> Chat:
        here = Chat(await open_calm({"default": GOLD}, **options))
        for words in turns:
            await here.turn(words)
        await here.page.locator(".doc-tab").first.wait_for()
        return here

    return open_one


def furnish(db: Connection, session: str, count: int) -> None:
    """Write that many committed floors behind the first one of a session."""
    floor_rows: list[dict[str, Json]] = []
    page_rows: list[dict[str, Json]] = []
    said: list[dict[str, Json]] = []
    for number in range(1, count):
        floor, account = new_short_id(), {"account_id": DEFAULT_ACCOUNT}
        times: dict[str, Json] = {"created_at": number, "updated_at": number}
        place: dict[str, Json] = {"session_id": session, "branch_id": "main", "floor_no": number, "state": "committed"}
        floor_rows.append({"id": floor, **account, **place, "token_in": 1, "token_out": 1, **times})
        for no, kind, role in ((0, "input", "user"), (1, "output", "assistant")):
            page = new_short_id()
            page_rows.append(
                {
                    "id": page,
                    "floor_id": floor,
                    "page_no": no,
                    "page_kind": kind,
                    "is_active": True,
                    "version": 1,
                    **account,
                    **times,
                }
            )
            said.append(
                {
                    "id": new_short_id(),
                    "page_id": page,
                    "seq": 0,
                    "role": role,
                    "content": f"{role} {number}",
                    "content_format": "text",
                    "token_count": 1,
                    "is_hidden": False,
                    "created_at": number,
                    **account,
                }
            )
    for table, rows in ((floors, floor_rows), (pages, page_rows), (messages, said)):
        for start in range(0, len(rows), 1000):
            db.execute(insert(table), rows[start : start + 1000])


async def test_a_chat_begins_with_what_is_written(chat: OpenChat) -> None:
    here = await chat()
    await here.show()
    await here.say("I look around.")
    await expect(here.chat.get_by_label("Session", exact=True)).to_contain_text("I look around.")
    await expect(here.answers.last).to_contain_text("You said: I look around.")
    await expect(here.field).to_have_value("")
    assert await axe(here.page, ".chat") == []


async def test_what_is_said_is_shown_as_markdown_that_runs_and_loads_nothing(chat: OpenChat) -> None:
    here = await chat(MARKDOWN)
    asked: list[str] = []
    here.page.on("request", lambda request: asked.append(request.url))
    await here.show()
    said = here.chat.locator('[data-t="said-user"] .said-text')
    await expect(said.locator("em")).to_have_text("She smiles.")
    await expect(said.locator("strong").first).to_have_text("traveller")
    await expect(said.locator("pre code")).to_have_text("def f():\n    return '<b>'\n")
    await expect(said.locator("ol > li")).to_have_text(["one", "two"])
    await expect(said.locator("blockquote, table td, .said-heading")).to_have_text(["quoted", "1", "2", "A title"])
    await expect(said.locator("a")).to_have_text(["link", "picture", "https://example.org/?a=1", "badge"])
    await expect(said.locator("a").first).to_have_attribute("rel", "noopener noreferrer nofollow")
    for words in ("[bad](javascript:alert(1))", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"):
        await expect(said).to_contain_text(words)
    assert await said.locator("script, img").count() == 0
    assert not any("example" in url for url in asked)
    assert await axe(here.page, ".chat") == []
    await here.chat.get_by_role("button", name="More of this chat").click()
    await here.page.get_by_role("menuitemcheckbox", name="Show Markdown").click()
    await expect(said).to_have_text(MARKDOWN)


async def test_versions_and_answers_in_place_count_a_turn_once(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    await here.say("I dig.")
    await becomes(here.gold, 2)
    await here.chat.get_by_role("button", name="Another version of the answer").click()
    await expect(here.chat.get_by_text("2/2")).to_be_visible()
    await here.rest()
    await becomes(here.gold, 2)
    # In the empty field the arrow keys go through the versions.
    await here.field.press("ArrowLeft")
    await expect(here.chat.get_by_text("1/2")).to_be_visible()
    await here.field.press("ArrowRight")
    await expect(here.chat.get_by_text("2/2")).to_be_visible()
    await here.chat.get_by_role("button", name="Answer again, in place of this one").click()
    await expect(here.chat.get_by_text("1/1")).to_be_visible()
    await here.rest()
    await becomes(here.gold, 2)
    await expect(here.floor_views).to_have_count(2)


async def test_a_chat_goes_on_without_ones_words_and_ones_words_can_be_written_for_one(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    otherwise = here.chat.get_by_role("button", name="Without words of mine")
    await otherwise.click()
    await here.page.get_by_role("menuitem", name="Let the character speak again").click()
    await expect(here.floor_views).to_have_count(2)
    await here.rest()
    await expect(here.floor_views.last.locator('[data-t="said-user"]')).to_have_count(0)
    await becomes(here.gold, 2)
    await here.menu(1, "Another version of the answer")
    await expect(here.chat.get_by_text("2/2")).to_be_visible()
    await here.menu(1, "Continue")
    await expect(here.chat.get_by_text("3/3")).to_be_visible()
    await here.rest()
    await otherwise.click()
    await here.page.get_by_role("menuitem", name="Write my words for me").click()
    await expect(here.field).not_to_have_value("")
    await here.rest()
    await expect(here.floor_views).to_have_count(2)
    await becomes(here.gold, 2)
    await otherwise.click()
    await expect(here.page.get_by_role("menuitem", name="Write my words for me")).to_be_disabled()
    await here.page.keyboard.press("Escape")
    await here.field.press("Enter")
    await expect(here.floor_views).to_have_count(3)
    assert await axe(here.page, ".chat") == []


async def test_what_was_said_is_edited_on_a_branch_of_its_own(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    await here.say("I dig.")
    await here.field.press("ArrowUp")
    editing = here.chat.get_by_label("What you said")
    await expect(editing).to_have_value("I dig.")
    await editing.fill("I climb.")
    await here.page.keyboard.press("Enter")
    await expect(here.answers.last).to_contain_text("I climb.")
    branch = here.chat.get_by_label("Branch", exact=True)
    await expect(branch).not_to_have_value("main")
    chosen = await branch.input_value()
    await becomes(lambda: here.gold(chosen), 2)
    await branch.select_option("main")
    await expect(here.answers.last).to_contain_text("I dig.")


def answered_by(mock: Mock, model: str) -> Json:
    """The gold counter with another model behind it."""
    first, second = GOLD["nodes"]
    headers = {"authorization": f"Bearer {API_KEY}"}
    config = {**second["config"], "provider": "openai", "base_url": mock.origin, "model": model, "headers": headers}
    return {**GOLD, "nodes": [first, {**second, "config": config}]}


async def test_a_stopped_answer_is_kept_continued_and_dropped(chat: OpenChat, mock: Mock) -> None:
    here = await chat("I look around.")
    await here.show()
    here.editor.server.put("default", answered_by(mock, "forever"))
    await here.field.fill("I dig.")
    await here.page.keyboard.press("Enter")
    await expect(here.answers.last).to_contain_text("again again")
    await here.chat.get_by_role("button", name="Stop", exact=True).click()
    await here.rest()
    await mock.was_aborted()
    mark = here.chat.get_by_text("broke off", exact=True)
    await expect(mark).to_be_visible()
    await becomes(here.gold, 1, "A stopped turn writes no variables.")
    assert await axe(here.page, ".chat") == []
    here.editor.server.put("default", answered_by(mock, "text"))
    await here.chat.get_by_role("button", name="Continue", exact=True).click()
    await expect(here.chat.get_by_text("2/2")).to_be_visible()
    await here.rest()
    await expect(mark).to_be_hidden()
    await expect(here.answers.last).to_have_text(re.compile(r"^\s*again "))
    await becomes(here.gold, 2)
    here.editor.allow("status of 404.*/variables/changes")  # a slow machine asks what the version changed while it is dropped
    await here.chat.get_by_role("button", name="Previous version").click()
    await here.chat.get_by_role("button", name="Drop", exact=True).click()
    await expect(here.chat.get_by_text("1/1")).to_be_visible()
    await expect(mark).to_be_hidden()


async def test_a_draft_is_typed_by_one_alone_and_stays_where_it_was_stopped(chat: OpenChat, mock: Mock) -> None:
    here = await chat("I look around.")
    await here.show()
    here.editor.server.put("default", answered_by(mock, "forever"))
    await here.chat.get_by_role("button", name="Without words of mine").click()
    await here.page.get_by_role("menuitem", name="Write my words for me").click()
    await expect(here.field).not_to_have_value("")
    await expect(here.field).not_to_be_editable()
    await here.field.press("End")
    await here.page.keyboard.type("@@")
    await here.chat.get_by_role("button", name="Stop", exact=True).click()
    await mock.was_aborted()
    await here.rest()
    said = await here.field.input_value()
    assert said and "@@" not in said
    await here.field.press("End")
    await here.page.keyboard.type("@@")
    await expect(here.field).to_have_value(f"{said}@@")
    await expect(here.floor_views).to_have_count(1)


async def test_a_stopped_edit_is_shown_where_its_words_are_kept(chat: OpenChat, mock: Mock) -> None:
    here = await chat("I look around.")
    await here.show()
    await expect(here.floor_views).to_have_count(1)
    here.editor.server.put("default", answered_by(mock, "forever"))
    await here.field.press("ArrowUp")
    await here.chat.get_by_label("What you said").fill("I climb.")
    await here.page.keyboard.press("Enter")
    await expect(here.answers.last).to_contain_text("again again")
    await here.chat.get_by_role("button", name="Stop", exact=True).click()
    await expect(here.chat.get_by_text("broke off", exact=True)).to_be_visible()
    await expect(here.chat.locator('[data-t="said-user"]')).to_contain_text("I climb.")
    await expect(here.chat.get_by_label("Branch", exact=True)).not_to_have_value("main")


async def test_an_edit_without_an_answer_goes_on_where_it_was(chat: OpenChat, mock: Mock) -> None:
    here = await chat("I look around.")
    await here.show()
    await expect(here.floor_views).to_have_count(1)
    here.editor.server.put("default", answered_by(mock, "text"))
    mock.script(Step(status=400))
    await here.field.press("ArrowUp")
    await here.chat.get_by_label("What you said").fill("I climb.")
    await here.page.keyboard.press("Enter")
    await expect(here.chat.get_by_role("alert")).to_be_visible()
    await expect(here.chat.get_by_label("What you said")).to_have_value("I climb.")
    await expect(here.chat.get_by_label("Branch", exact=True)).to_have_value("main")


async def test_a_question_without_an_answer_goes_back_into_the_field(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.send("PATCH", f"/sessions/{here.session}", {"status": "archived"})
    await here.show()
    await here.field.fill("I dig.")
    await here.page.keyboard.press("Enter")
    await expect(here.chat.get_by_role("alert")).to_contain_text("archived")
    await expect(here.field).to_have_value("I dig.")


async def test_branches_are_made_switched_and_gone_back_on(chat: OpenChat) -> None:
    here = await chat("I look around.", "I dig.", "I sleep.")
    await here.show()
    await here.menu(0, "Branch here")
    dialog = await dialog_of(here.page)
    await dialog.get_by_label("Name of the branch").fill("alt")
    await dialog.get_by_role("button", name="Fork").click()
    await expect(here.chat.get_by_label("Branch", exact=True)).to_have_value("alt")
    # A fork tells of its ancestors.
    await expect(here.answers.first).to_contain_text("I look around.")
    await becomes(lambda: here.gold("alt"), 1)
    await here.chat.get_by_label("Branch", exact=True).select_option("main")
    await expect(here.floor_views).to_have_count(3)
    await here.menu(1, "Back to here")
    await (await dialog_of(here.page)).get_by_role("button", name="Back to here").click()
    await expect(here.floor_views).to_have_count(2)
    await becomes(here.gold, 2)


async def test_the_variables_say_what_the_newest_turn_changed(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    await here.say("I dig.")
    row = here.chat.locator(".chat-values tr", has_text="gold")
    await expect(row).to_have_class("chat-changed")
    await expect(row.locator("s")).to_have_text("1")
    await expect(row.locator("td code").first).to_have_text("2")
    await expect(here.chat.get_by_text("The newest turn changed 1 variable.")).to_be_visible()


async def test_a_floor_is_hidden_from_the_model_and_shown_again(chat: OpenChat) -> None:
    here = await chat("I look around.", "I dig.")
    await here.show()
    await here.menu(0, "Hide from the model")
    mark = here.chat.get_by_text("hidden from the model")
    await expect(mark).to_be_visible()
    told = await here.send("POST", f"/sessions/{here.session}/respond/dry-run", {"message": "And now?"})
    words = [str(one["content"]) for one in told["data"]["messages"]]
    assert not any("I look around." in text for text in words) and any("I dig." in text for text in words)
    await here.menu(0, "Show to the model")
    await expect(mark).to_be_hidden()


async def test_why_something_was_sent_is_told_section_by_section(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    await here.say("I dig.")
    await here.menu(1, "Why was this sent")
    sent = here.chat.locator(".chat-sent")
    await expect(sent.get_by_role("heading", name="Sections")).to_be_visible()
    await expect(sent.locator(".chat-section").nth(1)).to_be_visible()
    await expect(sent.locator(".chat-section").first).to_contain_text(re.compile(r"\d+ tokens?"))
    assert await axe(here.page, ".chat") == []


STYLE = "0b8d9a3e-8a51-4a2f-9a15-5d2f1f0c9a77"
STYLED: dict[str, Json] = {
    "openai_max_context": 4000,
    "openai_max_tokens": 200,
    "prompts": [
        {"identifier": STYLE, "name": "My style", "role": "system", "content": "Write vividly."},
        {"identifier": "worldInfoBefore", "name": "World Info (before)", "marker": True},
        {"identifier": "chatHistory", "marker": True},
    ],
    "prompt_order": [
        {
            "character_id": 100001,
            "order": [{"identifier": name, "enabled": True} for name in (STYLE, "worldInfoBefore", "chatHistory")],
        }
    ],
}
LORE: dict[str, Json] = {
    "entries": {
        "0": {"uid": 0, "key": ["dragon"], "comment": "Smaug", "content": "Smaug sleeps on gold.", "position": 0},
        "1": {"uid": 1, "key": ["cave"], "comment": "Cave", "content": "Bats.", "probability": 0, "useProbability": True},
        "2": {"uid": 2, "key": ["moon"], "comment": "Moon", "content": "Full."},
        "3": {"uid": 3, "key": [], "constant": True, "comment": "Always", "content": "It is winter.", "position": 1},
    }
}


async def test_lore_says_by_which_key_of_which_message_it_came_in_and_what_nearly_did(chat: OpenChat) -> None:
    here = await chat()
    preset = (await here.send("POST", "/presets", {"name": "Styled", "data": STYLED}))["data"]["id"]
    book = (await here.send("POST", "/worldbooks", {"name": "Mountain", "data": LORE}))["data"]["id"]
    made = await here.send("POST", "/sessions", {"preset_id": preset, "worldbook_profile_id": book})
    here.session = made["data"]["id"]
    await here.show()
    await here.say("A Dragon lives in that cave.")
    await here.say("I go there.")
    await here.menu(1, "Why was this sent")
    sent = here.chat.locator(".chat-sent")
    names = sent.locator(".chat-section > summary .chat-section-name, div.chat-section > .chat-section-name")
    await expect(names.filter(has_text="My style")).to_have_count(1)
    await expect(names.filter(has_text="World Info (before)")).to_have_count(1)
    assert not [text for text in await names.all_inner_texts() if STYLE in text or "worldInfo" in text]
    lore = sent.get_by_role("region", name="Lore", exact=True)
    lists = lore.locator(".chat-lore-list")
    await expect(lists.first.get_by_role("listitem")).to_have_count(2)
    await expect(lists.first.get_by_role("listitem").filter(has_text="Always")).to_contain_text("always in")
    smaug = lists.first.get_by_role("listitem").filter(has_text="Smaug")
    await expect(smaug).to_contain_text("Mountain")
    await expect(smaug).to_contain_text("“dragon” in the message before the newest:")
    await expect(smaug.locator("mark")).to_have_text("Dragon")
    # That one was called and lost to chance; of the moon nobody spoke.
    near = lists.nth(1).get_by_role("listitem")
    await expect(near).to_have_count(1)
    await expect(near).to_contain_text("Cave")
    await expect(near).to_contain_text("chance was against it")
    await lore.get_by_text("1 entry of which nothing was said").click()
    await expect(lists.nth(2)).to_contain_text("no key was said")
    await expect(sent.get_by_role("region", name="Memory")).to_contain_text("Messages of the chat in the prompt: 2")
    assert await axe(here.page, ".chat") == []
    # What would be sent now tells the same.
    await here.field.fill("The moon rises.")
    await sent.get_by_label("Prompt of").select_option("What would be sent now")
    await expect(lists.first.get_by_role("listitem").filter(has_text="Moon")).to_contain_text("“moon” in the newest message")


async def test_what_would_be_sent_is_shown_before_it_is(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    await here.field.fill("What if?")
    await here.menu(0, "Why was this sent")
    sent = here.chat.locator(".chat-sent")
    await sent.get_by_label("Prompt of").select_option("What would be sent now")
    last = sent.locator(".chat-section").last
    await last.locator("summary").click()
    await expect(last).to_contain_text("What if?")


async def test_two_floors_are_compared(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    await here.say("I dig.")
    await here.say("I sleep.")
    await here.menu(2, "Compare with another floor")
    dialog = await dialog_of(here.page)
    said = dialog.get_by_role("region", name="What was said")
    await expect(said).to_contain_text("I dig.")
    await expect(said).to_contain_text("I sleep.")
    assert await axe(here.page, "dialog") == []


async def test_two_prompts_are_compared_text_by_text(chat: OpenChat) -> None:
    here = await chat()
    calm, evil = [
        (await here.send("POST", "/presets", {"name": word, "data": styled(f"You are {word}.")}))["data"]["id"]
        for word in ("calm", "evil")
    ]
    made = await here.send("POST", "/sessions", {"preset_id": calm})
    here.session = made["data"]["id"]
    await here.show()
    await here.say("Hello.")
    await here.send("PATCH", f"/sessions/{here.session}", {"preset_id": evil, "model_params": {"temperature": 0.5}})
    await here.say("Hello again.")
    await here.menu(1, "Compare with another floor")
    dialog = await dialog_of(here.page)
    texts = dialog.get_by_role("region", name="Texts of the prompt")
    await expect(texts.get_by_role("heading", name="My style")).to_be_visible()
    sides = texts.locator(".compare-side")
    await expect(sides).to_have_text(["You are calm.", "You are evil."])
    await expect(sides.nth(1).locator("mark")).to_have_text("evil")
    await expect(dialog.get_by_role("region", name="Parameters")).to_contain_text("0.5")
    assert await axe(here.page, "dialog") == []


def styled(text: str) -> dict[str, Json]:
    """The preset with another text in its own words."""
    prompts: Any = STYLED["prompts"]
    return {**STYLED, "prompts": [{**prompts[0], "content": text}, *prompts[1:]]}


async def test_a_greeting_is_shown_with_its_macros_replaced(chat: OpenChat) -> None:
    here = await chat()
    card = {"name": "Seraphina", "first_mes": "Hello {{user}}, I am {{char}}. {{setvar::gold::5}}"}
    made = await here.send("POST", "/sessions", {"character_snapshot": card, "user_snapshot": {"name": "Ann"}})
    here.session = made["data"]["id"]
    await here.show()
    await expect(here.answers).to_have_text("Hello Ann, I am Seraphina.")
    await becomes(lambda: here.resolved(branch_id="main"), lambda found: "gold" not in found)


async def test_another_clients_turn_is_shown_when_it_is_done(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    await expect(here.floor_views).to_have_count(1)
    await here.turn("I dig.")
    await expect(here.floor_views).to_have_count(2)


async def test_twenty_thousand_floors_are_paged_and_few_are_drawn(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.editor.server.state.store.write(furnish, here.session, FLOORS)
    await here.show()
    last = here.chat.get_by_text(f"assistant {FLOORS - 1}", exact=True)
    await expect(last).to_be_visible()
    view = here.page.locator(".chat-floors")
    for _ in range(8):
        before = await here.floor_views.first.get_attribute("data-floor")
        await view.evaluate("(list) => { list.scrollTop = 0; }")
        # What was read stays where it was; others stand above it.
        await expect(here.floor_views.first).not_to_have_attribute("data-floor", str(before))
        await expect(here.page.locator(f'[data-floor="{before}"]')).to_be_in_viewport()
        await expect(view).to_have_attribute("aria-busy", "false")
    await becomes(here.floor_views.count, lambda count: count <= 90)
    await expect(last).to_be_hidden()
    await here.chat.get_by_role("button", name="To the end").click()
    await expect(last).to_be_visible()


@pytest.mark.parametrize("locale", ["en", "ru", "zh-CN"])
async def test_the_chat_fits_a_phone(chat: OpenChat, locale: str) -> None:
    here = await chat("I look around.", "I dig.", width=360, height=640, context={"locale": locale, "has_touch": True})
    await here.show()
    await here.answers.last.wait_for()
    overflow = "() => document.documentElement.scrollWidth - innerWidth"
    await becomes(lambda: here.page.evaluate(overflow), lambda found: found <= 0)
    outside = await here.chat.evaluate(
        """(panel) => [...panel.querySelectorAll('button, select, textarea')].filter((one) => {
          const box = one.getBoundingClientRect();
          return box.width > 0 && !one.closest('[role=tablist]') && (box.left < 0 || box.right > innerWidth);
        }).map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert outside == []
    assert await axe(here.page, ".chat") == []


async def test_a_chat_makes_prompts_for_plain_clients_when_its_menu_says_so(chat: OpenChat) -> None:
    here = await chat()
    await here.show()
    await here.say("Hello")
    await here.rest()
    item = here.page.get_by_role("menuitemcheckbox", name="Prompts for plain clients, too")
    menu = here.page.get_by_role("button", name="More of this chat")
    await expect(here.page.locator(".chat-session select")).not_to_have_value("")
    await menu.click()
    await item.click()
    await expect(item).to_have_count(0)

    async def wanted() -> list[bool]:
        return [session["assemble"] for session in (await here.send("GET", "/sessions"))["data"]]

    await becomes(wanted, lambda all: True in all)
