"""What a proxied request does with the memory: join a chat, or see the global variables, or neither.

x-agentui-session: an id or any name of the caller's own; a new name makes a session
x-agentui-branch:  a branch of it (main where none is named)
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Protocol

from agentui.api.answer import ProxyAnswer
from agentui.api.state import State
from agentui.errors import AgentUIError, StoreFull
from agentui.jsonio import Json
from agentui.pipeline.executor import answer_text, describe_error
from agentui.pipeline.run import Run
from agentui.sessions.live import Turn, TurnDesk
from agentui.variables.staging import Staged

log = logging.getLogger("agentui.turns")


class Keeping(Protocol):
    """How a run's memory begins and ends."""

    def staged(self) -> Staged:
        """The run's buffer."""

    def headers(self) -> dict[str, str]:
        """What the caller is told of it."""

    async def keep(self, run: Run) -> None:
        """The run succeeded: make its writes durable. Raises AgentUIError; nothing is kept then."""

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

    async def keep(self, run: Run) -> None:
        text, tokens_in, tokens_out = answer_of(run)
        await self._turn.commit(text, tokens_in, tokens_out)

    async def drop(self, error: Json, *, cancelled: bool) -> None:
        await self._turn.fail(error, cancelled=cancelled)


class _Shared:
    """A run without a chat, which sees and writes the global variables."""

    def __init__(self, desk: TurnDesk, staged: Staged) -> None:
        self._desk = desk
        self._staged = staged

    def staged(self) -> Staged:
        return self._staged

    def headers(self) -> dict[str, str]:
        return {}

    async def keep(self, run: Run) -> None:
        await self._desk.commit_shared(run.id, self._staged)

    async def drop(self, error: Json, *, cancelled: bool) -> None:
        return None


async def begin_keeping(state: State, run: Run) -> Keeping | None:
    """Give a run its memory, if it has one. A run that names no session and no variable never touches the store.

    Raises ApiError (``generation_conflict``, ``session_archived`` ...) and the store's errors.
    """
    session = run.incoming.headers.get("x-agentui-session")
    keeping: Keeping
    if session is not None and run.incoming.operation == "chat":
        user_text = run.incoming.chat.last_user or None
        branch = run.incoming.headers.get("x-agentui-branch")
        keeping = _InChat(await state.desk.begin(_text(session), None if branch is None else _text(branch), run.id, user_text))
    elif run.plan.uses_memory:
        keeping = _Shared(state.desk, await state.desk.shared())
    else:
        return None
    run.memory = keeping
    return keeping


async def keep(keeping: Keeping, run: Run, answer: ProxyAnswer) -> None:
    """Commit what a run wrote, whatever the caller does meanwhile. On a full disk the answer still goes out, marked with
    ``x-agentui-not-saved`` where its headers are not out yet; any other error is the run's failure."""
    try:
        await _uncancelled(keeping.keep(run))
    except StoreFull as error:
        log.error("Run %s was answered but not saved: %s", run.id, error.message)
        run.emit("run.warning", data={"message": f"Not saved: {error.message}"})
        answer.note_headers({"x-agentui-not-saved": error.code})
        await drop(keeping, run, error)


async def drop(keeping: Keeping, run: Run, error: AgentUIError | None) -> None:
    """Leave a failed (``error``) or cancelled (None) turn behind. The first failure stays the one that is told."""
    told: Json = {"code": "cancelled", "message": "The caller left."} if error is None else describe_error(error)
    if isinstance(told.get("message"), str):
        told["message"] = run.redactor.redact(told["message"])
    try:
        await _uncancelled(keeping.drop(told, cancelled=error is None))
    except AgentUIError as later:
        # The floor stays generating until its lease ends; whoever comes then clears it.
        log.error("The failed turn of run %s could not be recorded: %s", run.id, later.message)


def answer_of(run: Run) -> tuple[str, int, int]:
    """The words of the answering node, and its input and output tokens."""
    out = run.out.get(run.plan.nodes[run.plan.answer].id, {})
    text = out.get("response_text")
    usage = out.get("usage") or {}
    return (
        text if isinstance(text, str) else answer_text(out),
        usage.get("input_tokens") or 0,
        usage.get("output_tokens") or 0,
    )


async def _uncancelled(work: Coroutine[Any, Any, None]) -> None:
    """Do something to its end even when the caller leaves meanwhile; the cancellation then goes on afterwards."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _text(header: str) -> str:
    """A header's value as the caller's UTF-8 text; what is none is shown as replacement characters."""
    return header.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
