"""What a proxied request does with the memory: join a chat, or see the global variables, or neither.

x-agentui-session: an id or any name of the caller's own; a new name makes a session
x-agentui-branch:  a branch of it (main where none is named)
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, Protocol

from agentui.api.proxy.answer import ProxyAnswer
from agentui.chats.parts import Content
from agentui.errors import AgentUIError, BadRequest, StoreFailed, StoreFull
from agentui.http.state import State
from agentui.jsonio import Json
from agentui.pipeline.executor import INTERNAL, answer_text, describe_error
from agentui.pipeline.run import Run
from agentui.pipeline.usage import usage_of
from agentui.turns.repeats import Claim, Saved
from agentui.turns.service import Turn, TurnService
from agentui.variables.staging import Staged

log = logging.getLogger("agentui.turns")


class Keeping(Protocol):
    """How a run's memory begins and ends."""

    def staged(self) -> Staged:
        """The run's buffer."""

    def headers(self) -> dict[str, str]:
        """What the caller is told of it."""

    async def keep(self, run: Run, saved: Saved | None) -> None:
        """The run succeeded: make its writes durable, and with them what is kept of its answer. Raises AgentUIError; nothing is
        kept then."""

    async def drop(self, error: Json, *, cancelled: bool) -> None:
        """The run failed or was cancelled: keep nothing of it but the trace that it was."""


class _InChat:
    """A run that is a turn of a chat."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def staged(self) -> Staged:
        return self._turn.staged()

    def headers(self) -> dict[str, str]:
        place = self._turn.place
        return {
            "x-agentui-session": place.session_id,
            "x-agentui-branch": place.branch_id.encode("unicode_escape").decode(),
            "x-agentui-floor": place.floor.floor_id,
        }

    async def keep(self, run: Run, saved: Saved | None) -> None:
        text, tokens_in, tokens_out = answer_of(run)
        await self._turn.commit(Content(text), tokens_in, tokens_out, saved)

    async def drop(self, error: Json, *, cancelled: bool) -> None:
        await self._turn.fail(error, cancelled=cancelled)


class _Shared:
    """A run without a chat, which sees and writes the global variables."""

    def __init__(self, turns: TurnService, staged: Staged) -> None:
        self._turns = turns
        self._staged = staged

    def staged(self) -> Staged:
        return self._staged

    def headers(self) -> dict[str, str]:
        return {}

    async def keep(self, run: Run, saved: Saved | None) -> None:
        await self._turns.commit_shared(run.id, self._staged)

    async def drop(self, error: Json, *, cancelled: bool) -> None:
        return None


class _Looking:
    """A run that sees what a turn would see and keeps nothing: counting a chat's tokens is no turn of it."""

    def __init__(self, staged: Staged) -> None:
        self._staged = staged

    def staged(self) -> Staged:
        return self._staged

    def headers(self) -> dict[str, str]:
        return {}

    async def keep(self, run: Run, saved: Saved | None) -> None:
        return None

    async def drop(self, error: Json, *, cancelled: bool) -> None:
        return None


async def begin_keeping(state: State, run: Run, claim: Claim | None = None) -> Keeping | None:
    """Give a run its memory, if it has one. A run that names no session and no variable never touches the store. A turn takes
    the ``claim`` of its request.

    Only a chat request is a turn. A token count sees the variables and keeps nothing, and so does an embedding of a chat.
    Raises ApiError (``generation_conflict``, ``session_archived`` ...) and the store's errors.
    """
    keeping = await _keeping(state, run, claim)
    run.memory = keeping
    return keeping


async def begin_looking(state: State, run: Run) -> None:
    """Give a run that nobody executes the variables that it would see; nothing is opened, and nothing is kept."""
    if not run.plan.uses_memory:
        return
    session, branch = (_text(run.incoming.headers.get(f"x-agentui-{name}")) for name in ("session", "branch"))
    turns = state.turns
    run.memory = _Looking(await (turns.shared() if session is None else turns.look(session, branch)))


async def _keeping(state: State, run: Run, claim: Claim | None) -> Keeping | None:
    headers, operation = run.incoming.headers, run.incoming.operation
    session, branch = _text(headers.get("x-agentui-session")), _text(headers.get("x-agentui-branch"))
    if not run.plan.uses_memory and (session is None or operation != "chat"):
        return None
    turns = state.turns
    if session is not None and operation == "chat":
        turn = await turns.begin(session, branch, run.id, _user_content(run), run.plan.variables, claim)
        run.session, run.branch, run.floor = turn.place.session_id, turn.place.branch_id, turn.place.floor.floor_id
        return _InChat(turn)
    if session is not None:
        return _Looking(await turns.look(session, branch))
    shared = await turns.shared()
    return _Looking(shared) if operation == "count_tokens" else _Shared(turns, shared)


async def keep(keeping: Keeping, run: Run, answer: ProxyAnswer) -> None:
    """Commit what a run wrote, whatever the caller does meanwhile. On a full or failing disk the answer still goes out,
    marked with ``x-agentui-not-saved`` where its headers are not out yet; any other error is the run's failure.

    A forwarded answer that is the upstream's error is passed on, and is no turn.
    """
    match _answer_out(run).get("error"):
        case {"code": str(), "message": str()} as refused:
            await _drop(keeping, run, refused, cancelled=False)
            return
    try:
        await _uncancelled(keeping.keep(run, await answer.settle()))
    except (StoreFull, StoreFailed) as error:
        log.error("Run %s was answered but not saved: %s", run.id, error.message)
        run.emit("run.warning", data={"message": f"Not saved: {error.message}"})
        answer.note_headers({"x-agentui-not-saved": error.code})
        await drop(keeping, run, error)


async def drop(keeping: Keeping, run: Run, error: BaseException) -> None:
    """Leave a failed or cancelled turn behind. The first failure stays the one that is told."""
    if isinstance(error, AgentUIError):
        await _drop(keeping, run, describe_error(error), cancelled=False)
    elif isinstance(error, (asyncio.CancelledError, ConnectionError)):
        await _drop(keeping, run, {"code": "cancelled", "message": "The caller left."}, cancelled=True)
    else:
        await _drop(keeping, run, INTERNAL, cancelled=False)


async def _drop(keeping: Keeping, run: Run, error: Json, *, cancelled: bool) -> None:
    told = {**error, "message": run.redactor.redact(error["message"])}
    await _uncancelled(keeping.drop(told, cancelled=cancelled))


def answer_of(run: Run) -> tuple[str, int, int]:
    """The words of the answering node, without the keys that an upstream may repeat, and its input and output tokens."""
    out = _answer_out(run)
    text = out.get("response_text")
    usage = usage_of(run, out)
    words = text if isinstance(text, str) else answer_text(out)
    return run.redactor.redact(words), usage.input or 0, usage.output or 0


def _answer_out(run: Run) -> Mapping[str, Json]:
    out: Mapping[str, Json] = run.out.get(run.plan.nodes[run.plan.answer].id, {})
    return out


def _user_content(run: Run) -> Content | None:
    """The user's last words. A conversation that we cannot read may still be one that its own vendor can."""
    try:
        text = run.incoming.chat.last_user
    except BadRequest:
        return None
    return Content(text) if text else None


async def _uncancelled(work: Coroutine[Any, Any, None]) -> None:
    """Do something to its end even when the caller leaves meanwhile; the cancellation then goes on afterwards."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):  # the first goes on
                await asyncio.wait([task])
        if (error := task.exception()) is not None:
            log.warning("What a caller who left began has failed: %s", error)
        raise
    task.result()


def _text(header: str | None) -> str | None:
    """A header's value as the caller's UTF-8 text; what is none is shown as replacement characters."""
    return None if header is None else header.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
