"""Trying lorebooks on a text. Nothing is kept, and no book has to exist."""

from datetime import UTC, datetime

from aiohttp import web

from agentui.api.chats.protocol import account_of, data_answer, read_form, route
from agentui.api.chats.regex_trial import TRIAL
from agentui.api.keys import LIVE
from agentui.assets.lorebook import BoundBook, Lorebook, LoreEntry
from agentui.chat.estimates import text_tokens
from agentui.chats.codes import failure
from agentui.http.route import Route
from agentui.library.bundles import Bundles
from agentui.library.content import MAX_CONTENT
from agentui.lore.activation import activate
from agentui.lore.given import LoreInput, LoreMessage, LoreSettings, SeededRolls
from agentui.lore.result import ActivatedEntry, UnusedEntry
from agentui.schemas.forms import Data
from agentui.schemas.lore_trial import LoreTestForm, TriedEntry, TriedLore
from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import MacroScope
from agentui.threads import in_search_thread

_PREVIEW = 200
"""Characters of an entry that are shown."""
MOST_ENTRIES = 20_000
"""Of all books together: the answer tells of each."""


async def test_books(request: web.Request) -> web.Response:
    """Say of each entry of some lorebooks whether a text calls for it, and why not. Raises 404 ``worldbook_not_found``, 413
    ``payload_too_large``."""
    form = await read_form(request, LoreTestForm, limit=MAX_CONTENT)
    found = [await _book(request.app[LIVE].bundles, account_of(request), id) for id in form.worldbook_ids]
    return data_answer(await in_search_thread(lambda: _tried(form, found), TRIAL))


async def _book(bundles: Bundles, account: str, id: str) -> BoundBook:
    """A worldbook of the library, as a session that is bound to it has it."""
    books = (await bundles.load(account, {"worldbook_profile_id": id})).assets.lorebooks
    if not books:
        raise failure("worldbook_not_found", "There is no such worldbook that is active.", worldbook_id=id)
    return books[0]


def _tried(form: LoreTestForm, found: list[BoundBook]) -> TriedLore:
    sent = [BoundBook(Lorebook.of(content), id=f"sent:{number}") for number, content in enumerate(form.worldbooks)]
    books = [*found, *sent]
    size = sum(len(bound.book.entries) for bound in books)
    if size > MOST_ENTRIES:
        message = f"The books have {size} entries; at most {MOST_ENTRIES} are tried at once."
        raise failure("payload_too_large", message, entries=size, limit=MOST_ENTRIES)
    numbers = {bound.id: number for number, bound in reversed(list(enumerate(books)))}
    settings = LoreSettings.of(form.settings)
    messages = [LoreMessage(each.text, each.name) for each in form.messages]
    scope = MacroScope("preview", datetime.now(UTC), values=form.macros)
    result = activate(
        LoreInput(
            books=books,
            settings=settings,
            messages=[*messages, LoreMessage(form.text)] if form.text else messages,
            character_name=form.character_name,
            character_tags=form.character_tags,
            trigger=form.trigger,
            rolls=SeededRolls(form.seed),
            max_context=form.max_context,
            expand=MacroRun(scope).expand,
        )
    )

    def told(bound: BoundBook, entry: LoreEntry, content: str, joined: ActivatedEntry | UnusedEntry) -> TriedEntry:
        number = numbers[bound.id]
        return TriedEntry(
            book=number,
            worldbook_id=bound.id if number < len(found) else None,
            uid=entry.uid,
            comment=entry.comment,
            position=entry.position,
            depth=entry.depth,
            role=entry.role,
            outlet=entry.outlet,
            order=entry.order,
            tokens=text_tokens(content),
            is_active=isinstance(joined, ActivatedEntry),
            cause=joined.cause if isinstance(joined, ActivatedEntry) else None,
            recursion_level=joined.recursion_level if isinstance(joined, ActivatedEntry) else 0,
            reason=joined.reason if isinstance(joined, UnusedEntry) else None,
            detail=joined.detail if isinstance(joined, UnusedEntry) else "",
            first_match=None if joined.match is None else joined.match.as_json(),
            content_preview=content[:_PREVIEW],
        )

    entries = [told(each.bound, each.entry, each.content, each) for each in result.activated]
    entries += [told(each.bound, each.entry, each.entry.content, each) for each in result.unused]
    return TriedLore(entries, result.tokens, settings.with_books(books).budget_of(form.max_context), result.is_cut)


ROUTES: tuple[Route, ...] = (
    route("POST", "/worldbooks/test", test_books, Data[TriedLore], 404, 413, body=LoreTestForm, writes=False),
)
