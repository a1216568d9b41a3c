"""What a request over HTTP does with the memory: join a chat, or see the global variables, or neither.

x-agentui-session: an id or any name of the caller's own; a new name makes a session
x-agentui-branch:  a branch of it (main where none is named)
"""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from agentui.chat.messages import Text
from agentui.chats.parts import Content, content_of, input_parts
from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.pipeline.memory import RunMemory
from agentui.pipeline.result import RunResult
from agentui.pipeline.run import Run
from agentui.turns.repeats import Claim, Saved
from agentui.turns.service import Turn, TurnService
from agentui.variables.staging import Staged

NO_HEADERS: Mapping[str, str] = MappingProxyType({})

SaveAnswer = Callable[[], Awaitable[Saved]]
"""Gives the answer as it is kept for the same request again."""


async def open_memory(
    turns: TurnService, run: Run, *, claim: Claim | None = None, save_answer: SaveAnswer | None = None
) -> RunMemory | None:
    """The memory of a run that has just begun, if it has one: a run that names no session and no variable never touches the
    store. A turn takes the ``claim`` of its request, and keeps with it what ``save_answer`` gives.

    Only a chat request is a turn. A token count sees the variables and keeps nothing, and so does an embedding of a chat.
    Raises ApiError (``generation_conflict``, ``session_archived`` ...) and the store's errors.
    """
    operation = run.incoming.operation
    session, branch = named_chat(run.incoming.headers)
    if not run.plan.uses_memory and (session is None or operation != "chat"):
        return None
    if session is not None and operation == "chat":
        turn = await turns.begin(session, branch, run.id, await _user_content(run), run.plan.variables, claim)
        run.session, run.branch, run.floor = turn.place.session_id, turn.place.branch_id, turn.place.floor.floor_id
        return TurnMemory(turn, run.redactor.redact, save_answer)
    if session is not None:
        return ReadMemory(await turns.look(session, branch))
    shared = await turns.shared()
    return ReadMemory(shared) if operation == "count_tokens" else SharedMemory(turns, run.id, shared)


async def open_read_memory(turns: TurnService, run: Run) -> RunMemory | None:
    """What a run that nobody executes would see; nothing is opened, and nothing is kept."""
    if not run.plan.uses_memory:
        return None
    session, branch = named_chat(run.incoming.headers)
    return ReadMemory(await (turns.shared() if session is None else turns.look(session, branch)))


def named_chat(headers: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The session and the branch that a request's headers name."""
    return _text(headers.get("x-agentui-session")), _text(headers.get("x-agentui-branch"))


class TurnMemory:
    """The memory of a run that is a turn of a chat."""

    def __init__(self, turn: Turn, redact: Callable[[str], str], save_answer: SaveAnswer | None) -> None:
        self._turn = turn
        self._redact = redact
        self._save_answer = save_answer

    def staged(self) -> Staged:
        """The turn's buffer, over all five tiers."""
        return self._turn.staged()

    @property
    def headers(self) -> Mapping[str, str]:
        """Where the turn happens."""
        place = self._turn.place
        return {
            "x-agentui-session": place.session_id,
            "x-agentui-branch": place.branch_id.encode("unicode_escape").decode(),
            "x-agentui-floor": place.floor.floor_id,
        }

    async def commit(self, result: RunResult) -> None:
        """Keep the answer, the variables and the floor. Raises as ``Turn.commit`` does."""
        saved = None if self._save_answer is None else await self._save_answer()
        answer = result.answer
        parts = answer.reply.choices[0].parts if answer.reply is not None and answer.reply.choices else ()
        content = await content_of(answer.text, parts, self._redact)
        await self._turn.commit(content, answer.usage.input or 0, answer.usage.output or 0, saved)

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool) -> None:
        """Leave a failed floor behind."""
        await self._turn.fail(error, cancelled=cancelled)


class ReadMemory:
    """The memory of a run that sees what a turn would see and keeps nothing: counting a chat's tokens is no turn of it."""

    headers = NO_HEADERS

    def __init__(self, staged: Staged) -> None:
        self._staged = staged

    def staged(self) -> Staged:
        """A buffer that goes nowhere."""
        return self._staged

    async def commit(self, result: RunResult) -> None:
        """Nothing."""

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool) -> None:
        """Nothing."""


class SharedMemory(ReadMemory):
    """The memory of a run without a chat, which sees and writes the global variables."""

    def __init__(self, turns: TurnService, run_id: str, staged: Staged) -> None:
        super().__init__(staged)
        self._turns = turns
        self._run_id = run_id

    async def commit(self, result: RunResult) -> None:
        """Keep what was written. Raises ApiError ``variable_conflict``."""
        await self._turns.commit_shared(self._run_id, self._staged)


async def _user_content(run: Run) -> Content | None:
    """The user's last words, and all that is new beside them. A conversation that we cannot read may still be one that its own
    vendor can."""
    try:
        chat = run.incoming.chat
        text, parts = chat.last_user, input_parts(chat.messages)
    except BadRequest:
        return None
    says_something = text or not all(isinstance(part, Text) for part in parts)
    return await content_of(text, parts) if says_something else None


def _text(header: str | None) -> str | None:
    """A header's value as the caller's UTF-8 text; what is none is shown as replacement characters."""
    return None if header is None else header.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
