"""What vendors keep under keys of the server is each account's own: a call that names a thing is asked whose it is, and an
answer that makes one is noted before the caller hears of it.

    ObjectGuard.check ─▶ the call goes out ─▶ AnswerNotes.heard / noted ─▶ the caller

Where nobody shares the server, and for callers who bring the vendor's key, there is no guard: the vendor itself looks whose
a thing is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from agentui.accounts.vendor_objects import VendorObjects
from agentui.errors import Forbidden, UpstreamInvalid
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.pipeline.node_context import NodeContext
from agentui.threads import apart
from agentui.upstream.call import UpstreamCall
from agentui.vendors.base import Vendor
from agentui.vendors.kept import (
    Kept,
    Kind,
    Page,
    cursors_of,
    listed_in,
    made_in,
    may_name,
    named_in_body,
    named_in_path,
    own_id,
    response_of,
    without,
)
from agentui.vendors.sse import SseDecoder, SseEvent

MOST_LIST_BYTES: Final = 8 * 1024 * 1024
"""A list, or the description of something that was made, is shorter."""
MOST_PAGES: Final = 20
"""Pages of others' things that are looked through for a list."""
_EVENT_MARKS: Final = (b'"expires_at"', b'"container_id"', b"code_execution_output")
"""An event without these tells of nothing that was made but its own response."""


@dataclass(frozen=True, slots=True)
class ObjectGuard:
    """Stands before the things that a vendor keeps at ``target``, for one account. ``vendor`` is the caller's dialect, in which
    is told what is not found; ``is_admin`` is whether this one may reach everything, as who has the key may."""

    objects: VendorObjects
    account: str
    target: str
    vendor: Vendor
    is_admin: bool

    async def check(self, url: str, body: bytes, document: Json) -> None:
        """Raise what the vendor answers to an id that it does not know, where the address or the body of a call names a thing
        of another account's, or of nobody's."""
        if self.is_admin:
            return
        place = named_in_path(url)
        named = [] if place is None else cursors_of(url, place.kind)
        if place is not None and place.id:
            named.append(place)
        if may_name(body):
            named += await apart(len(body), partial(named_in_body, document))
        by_kind: dict[Kind, list[Kept]] = {}
        for each in named:
            by_kind.setdefault(each.kind, []).append(each)
        for kind, asked in by_kind.items():
            owned = await self.objects.owned(self.account, self.target, kind, [each.id for each in asked])
            for each in asked:
                if each.id not in owned:
                    raise self.vendor.not_found(each)

    async def note(self, made: Sequence[Kept], *, is_new: bool) -> None:
        """Write down what was made for the account."""
        await self.objects.note(self.account, self.target, [(each.kind, each.id) for each in made], is_new=is_new)

    async def held(self, ctx: NodeContext, call: UpstreamCall, body: bytes) -> bytes:
        """The JSON of an answer as the caller may have it, once what it made is noted: a list without what is others'. Raises
        Forbidden for a list that cannot be read, and as the upstream does for further pages."""
        place = named_in_path(call.url)
        assert place is not None  # nothing else is held
        try:
            answer = loads(body)
        except InvalidJson:
            if place.id or call.method != "GET":
                return body
            answer = None
        if call.method == "GET" and not place.id:
            return body if self.is_admin else dumps(await self._own(ctx, call, place.kind, answer))
        if call.method == "POST" and not place.id and (id := own_id(place.kind, answer)) is not None:
            await self.note([Kept(place.kind, id)], is_new=True)
        await self.note(made_in(answer), is_new=False)
        return body

    async def _own(self, ctx: NodeContext, call: UpstreamCall, kind: Kind, answer: Json) -> Json:
        """A list with what is the account's alone. Pages without enough of it are gone over, so that a client which stops at
        an empty page misses nothing."""
        first = page = _page(answer)
        wanted, left = len(page.entries), await self.objects.count(self.account, self.target, kind)
        found: list[Json] = []
        for _ in range(MOST_PAGES):
            ids = [id for entry in page.entries if (id := own_id(kind, entry)) is not None]
            own = without(page, kind, await self.objects.owned(self.account, self.target, kind, ids))
            found += own
            left -= len(own)
            if page.next is None or left <= 0 or len(found) >= wanted:
                break
            page = _page(await _asked(ctx, replace(call, url=_with_query(call.url, page.next))))
        else:
            if not found:
                raise Forbidden(
                    "This list is kept under a key of the server, and too much in it belongs to others: ask for what is yours "
                    "by its id."
                )
        return first.with_entries(found, is_over=page.next is None or left <= 0) | _token(page, left)


class AnswerNotes:
    """Notes what one streamed answer makes, as its events come and before they go on."""

    def __init__(self, guard: ObjectGuard, *, keeps_response: bool) -> None:
        self._guard = guard
        self._wants_id = keeps_response

    async def heard(self, events: Sequence[SseEvent]) -> None:
        """More of the answer."""
        for event in events:
            if not self._wants_id and not any(mark in event.data for mark in _EVENT_MARKS):
                continue
            try:
                told = loads(event.data)
            except InvalidJson:
                continue  # "[DONE]", and what its reader refuses
            if self._wants_id and (id := response_of(told)) is not None:
                self._wants_id = False
                await self._guard.note([Kept("response", id)], is_new=True)
            await self._guard.note(made_in(told), is_new=False)

    async def replied(self, id: str | None, body: bytes) -> None:
        """The answer came in one piece."""
        if self._wants_id and id is not None:
            await self._guard.note([Kept("response", id)], is_new=True)
        if any(mark in body for mark in _EVENT_MARKS):
            await self._guard.note(await apart(len(body), lambda: made_in(loads(body))), is_new=False)


class ByteNotes:
    """The same for an answer that is passed on unread."""

    def __init__(self, notes: AnswerNotes, max_event: int) -> None:
        self._notes = notes
        self._decoder = SseDecoder(max_event)

    async def heard(self, chunk: bytes) -> None:
        """More bytes of a stream of events. Raises UpstreamInvalid."""
        await self._notes.heard(self._decoder.feed(chunk))

    async def replied(self, body: bytes) -> None:
        """An answer in one piece."""
        try:
            answer = loads(body)
        except InvalidJson:
            return
        await self._notes.replied(own_id("response", answer), body)


def guard_of(ctx: NodeContext, url: str, headers: Mapping[str, str]) -> ObjectGuard | None:
    """The guard of a call; None where the account's own key goes along, which the vendor knows by itself: the caller's, or the
    one of an LLM profile."""
    objects, run, vendor = ctx.services.objects, ctx.run, ctx.incoming.vendor
    if objects is None or vendor is None:
        return None
    own = set(run.keys.values())
    if ctx.used_secrets:
        # Of a pipeline of the account's own each key is its own.
        if ctx.is_own or all(secret in own for secret in ctx.used_secrets):
            return None
    elif (key := ctx.incoming.api_key) and any(value.removeprefix("Bearer ") == key for value in headers.values()):
        return None
    parts = urlsplit(url)
    target = f"{parts.scheme}://{parts.netloc}"
    return ObjectGuard(objects, run.account, target, ctx.services.vendors[vendor], run.principal.role == "admin")


def notes_of(guard: ObjectGuard | None, vendor: Vendor, body: Mapping[str, Json]) -> AnswerNotes | None:
    """What notes the answer to a chat; None where nobody guards. A response is kept unless the request says
    ``store: false``."""
    if guard is None:
        return None
    return AnswerNotes(guard, keeps_response=vendor.keeps_answers and body.get("store") is not False)


def is_held(call: UpstreamCall) -> bool:
    """Whether an answer to a call is read before it is passed on: a list, or what describes one thing."""
    place = named_in_path(call.url)
    return place is not None and not urlsplit(call.url).path.endswith(("/content", "/results", "/input_items"))


def _page(answer: Json) -> Page:
    """A list. Raises Forbidden for one that nobody here can read."""
    page = listed_in(answer)
    if page is None:
        raise Forbidden(
            "This list is kept under a key of the server, whose accounts see what is theirs alone, and it is in no known form. "
            "Ask for what is yours by its id, or bring a key of your own."
        )
    return page


async def _asked(ctx: NodeContext, call: UpstreamCall) -> Json:
    """The JSON of one more page. Raises as the upstream does, and UpstreamInvalid for an error in its place."""
    async with ctx.services.upstream.open(call) as stream:
        body = await stream.read(MOST_LIST_BYTES)
        if stream.status >= 400:
            raise UpstreamInvalid(f"The upstream answered {stream.status} to a further page of its list.")
        try:
            return loads(body)
        except InvalidJson as error:
            raise UpstreamInvalid("The upstream's answer is not JSON.") from error


def _token(page: Page, left: int) -> dict[str, Json]:
    """Where Google's list goes on, which the last page that was read says."""
    token = page.body.get("nextPageToken")
    return {"nextPageToken": token} if isinstance(token, str) and token and left > 0 else {}


def _with_query(url: str, changed: Mapping[str, str]) -> str:
    parts = urlsplit(url)
    pairs = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name not in changed]
    return urlunsplit(parts._replace(query=urlencode([*pairs, *changed.items()])))
