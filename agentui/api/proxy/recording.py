"""``RecordedAnswer``: an answer that is kept as it is sent, and that goes on when its caller has left.

A caller who gave a key asks again when its connection breaks, so the turn that it began is worth its end.
"""

import asyncio
from collections.abc import Mapping
from copy import deepcopy

from aiohttp import web

from agentui.api.proxy.answer import STREAM_HEADERS, ProxyAnswer
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError
from agentui.jsonio import dumps_text
from agentui.pipeline.run import Run
from agentui.settings import Settings
from agentui.turns.repeats import MAX_ANSWER, Claim, Saved, pack
from agentui.vendors.base import Vendor

_OF_THIS_TIME = frozenset({"connection", "content-length", "date", "server", "transfer-encoding", "x-request-id"})
"""Headers that are made anew whenever the answer is given."""
_SLOW_BYTES = 64 * 1024
"""A body beyond this is compressed in a thread."""


class RecordedAnswer(ProxyAnswer):
    """A ``ProxyAnswer`` to the request that ``claim`` is about."""

    _last: bytes | None = None
    _is_alone = False

    def __init__(
        self,
        claim: Claim,
        request: web.Request,
        vendor: Vendor,
        wire: WireRequest,
        run: Run,
        settings: Settings,
    ) -> None:
        super().__init__(request, vendor, wire, run, settings)
        self.claim = claim
        self._raw_headers: Mapping[str, str] = {}
        self._pieces: list[bytes] = []
        self._size = 0

    def leave(self) -> None:
        """The caller is gone: from here on the answer is only recorded."""
        self._is_alone = True
        self._stop_pulse()

    async def settle(self) -> Saved:
        """The answer as its caller gets it, once everything that it says is known and before its end is sent.

        Raises AgentUIError where there is none.
        """
        if self._builder is not None:
            await self.reply(self._builder.reply())
            self._builder = None
        if self._response is None and self._body is not None:
            return await self._saved(200, {**self._own_headers(), "content-type": "application/json"}, self._body)
        self._last = self._ending()
        self._keep(self._last)
        if not self._size and not self._is_raw:
            raise AgentUIError("The pipeline ended without an answer.")
        recorded = None if self._repeats_a_key() else self._recorded()
        if self._is_raw and self._response is not None:
            return await self._saved(self._response.status, self._raw_headers, recorded)
        kind = self._vendor.stream_format(self._wire).content_type
        return await self._saved(200, {**self._own_headers(), **STREAM_HEADERS, "content-type": kind}, recorded)

    async def finish(self) -> web.StreamResponse:
        """As in ``ProxyAnswer``; to nobody, where the caller is gone."""
        if self._is_alone:
            return web.Response()
        return await super().finish()

    def _last_words(self) -> bytes:
        return super()._last_words() if self._last is None else self._last

    async def fail(self, error: AgentUIError) -> web.StreamResponse:
        """As in ``ProxyAnswer``; to nobody, where the caller is gone."""
        return web.Response() if self._is_alone else await super().fail(error)

    async def _open(self, response: web.StreamResponse, heartbeat: bytes | None) -> None:
        self._raw_headers = dict(response.headers)  # the server's own are not among them yet
        if self._is_alone:
            return
        try:
            await super()._open(response, heartbeat)
        except ConnectionError:
            self.leave()

    async def _send(self, data: bytes) -> None:
        self._keep(data)
        if self._is_alone:
            return
        try:
            await super()._send(data)
        except ConnectionError:
            self.leave()

    def _lose(self) -> None:
        self.leave()

    def _keep(self, data: bytes) -> None:
        """Note a piece, as long as all of them together may be kept."""
        self._size += len(data)
        if self._size <= MAX_ANSWER:
            self._pieces.append(data)
        else:
            self._pieces.clear()

    def _recorded(self) -> bytes | None:
        """All pieces; None where they are too large."""
        return b"".join(self._pieces) if self._size <= MAX_ANSWER else None

    def _repeats_a_key(self) -> bool:
        """Whether a key stands in what the answer says. A stream may bring it in pieces, none of which can be masked."""
        said = dumps_text(self._run.out.get(self._run.plan.nodes[self._run.plan.answer].id, {}))
        return self._run.redactor.redact(said) != said

    def _ending(self) -> bytes:
        """What is held back until the turn is kept, written by a twin of the renderer: should that fail, the renderer itself
        has not ended yet and can say so."""
        if self._raw_end is not None:
            return self._raw_end.held
        renderer = deepcopy(self._renderer, {id(self._wire): self._wire})
        pieces = [renderer.passthrough(event) for event in self._held_events]
        pieces += [renderer.feed(delta) for delta in self._held_deltas]
        return b"".join(pieces)

    async def _saved(self, status: int, headers: Mapping[str, str], body: bytes | None) -> Saved:
        """The answer without what is of this time alone, and without a key that an upstream repeated in it."""
        kept = {name.lower(): value for name, value in headers.items() if name.lower() not in _OF_THIS_TIME}
        if body is None:
            return Saved(status, kept, None)
        text = body.decode("utf-8", "surrogateescape")
        shown = self._run.redactor.redact(text)
        if shown != text:
            body = shown.encode("utf-8", "surrogateescape")
        packed = pack(body) if len(body) < _SLOW_BYTES else await asyncio.to_thread(pack, body)
        return Saved(status, kept, packed)
