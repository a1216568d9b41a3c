"""What a request over HTTP does with the memory: join a chat, or see the global variables, or neither.

x-agentui-session: an id or any name of the caller's own; a new name makes a session
x-agentui-branch:  a branch of it (main where none is named)
x-agentui-intent:  what kind of generation the client says it is
x-agentui-turn:    where the turn belongs, where the client knows better than its history (``turns/placed.py``)
x-agentui-assemble: whether the session makes the prompt of the client's history (``turns/thin``)
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import get_args

from agentui.chat.messages import Text
from agentui.chat.request import Tool
from agentui.chats.parts import Content, content_of, input_parts
from agentui.errors import AgentUIError, BadRequest
from agentui.jsonio import Json
from agentui.memories.writing.modes import TurnMemories
from agentui.pipeline.engine import to_its_end
from agentui.pipeline.macros import ChatMacros
from agentui.pipeline.memory import RunMemory
from agentui.pipeline.result import RunResult
from agentui.pipeline.run import Run
from agentui.pipeline.walk.executor import INTERNAL, describe_error
from agentui.prompt.macros import greetings_of, idle_of, names_of
from agentui.prompt.summaries import SummaryCutter
from agentui.turns.placing.matching import Kind
from agentui.turns.placing.placed import AUTO, Forced, NoTurn, OtherQuestion, Placer, caller_of, read_intent
from agentui.turns.placing.sent import is_raw_question, is_state_request, read_sent, words_of
from agentui.turns.repeats import Claim, Saved
from agentui.turns.request import Outcome, Reach, TurnRequest
from agentui.turns.service import Turn, TurnService
from agentui.turns.thin.assembler import HEADER, Assembler, Assembly, OtherAssets, check_wish
from agentui.variables.staging import Staged

NO_HEADERS: Mapping[str, str] = MappingProxyType({})

SaveAnswer = Callable[[], Awaitable[Saved]]
"""Gives the answer as it is kept for the same request again."""


async def open_memory(
    turns: TurnService,
    assembler: Assembler,
    run: Run,
    *,
    matching: bool,
    claim: Claim | None = None,
    save_answer: SaveAnswer | None = None,
) -> RunMemory | None:
    """The memory of a run that has just begun, if it has one: a run that names no session and no variable never touches the
    store. A turn takes the ``claim`` of its request, and keeps with it what ``save_answer`` gives. With ``matching`` the
    history that the client sends tells where the turn belongs.

    Only a chat request is a turn. A token count and what passes through see the variables and keep nothing, and so does an
    embedding of a chat.
    Raises ApiError (``generation_conflict``, ``session_archived`` ...) and the store's errors.
    """
    operation = run.incoming.operation
    if operation == "chat":
        check_wish(run.incoming.headers)
    session, branch = named_chat(run.incoming.headers)
    if not _sees_memory(turns, run) and (session is None or operation != "chat"):
        return None
    if session is not None and operation == "chat":
        return await _open_turn(turns, assembler, run, session, branch, matching, claim, save_answer)
    if session is not None:
        return ReadMemory(await turns.look(run.account, session, branch))
    shared = await turns.shared(run.account)
    return ReadMemory(shared) if operation in ("count_tokens", "forward") else SharedMemory(turns, run.account, run.id, shared)


async def _open_turn(
    turns: TurnService,
    assembler: Assembler,
    run: Run,
    session: str,
    branch: str | None,
    matching: bool,
    claim: Claim | None,
    save_answer: SaveAnswer | None,
) -> RunMemory:
    """The memory of a turn, or of what turns out to be none."""
    placer = await run.incoming.worked_out(partial(_placer, run, session, matching))
    assembly = await assembler.wanted(run, session)
    try:
        turn, assembly = await _begin(turns, run, session, branch, claim, assembly, placer)
    except NoTurn as aside:
        seen = await _seen(turns, run, aside.session, aside.branch)
        return AsideMemory(seen, aside)
    run.chat, run.working = chat_macros(turn), turn.working
    run.session, run.branch, run.floor = turn.place.session_id, turn.place.branch_id, turn.place.floor_id
    run.answers_anew = turn.place.kind != "respond"
    kind: Kind = "new" if placer is None else placer.kind
    begun = _last_answer(run) if placer is not None and placer.continues else ""
    memory = TurnMemory(
        turn,
        run.redactor.redact,
        save_answer,
        kind=kind,
        begun=begun,
        keeps_words=placer is not None,
        assembly=assembly,
        key=run.principal.key,
    )
    if run.plan.reads_state:
        await _or_fail(memory, turn.see_state())
    if assembly is not None:
        await _or_fail(memory, assembly.put(turn, kind, None if placer is None else placer.own))
    return memory


async def _begin(
    turns: TurnService,
    run: Run,
    session: str,
    branch: str | None,
    claim: Claim | None,
    assembly: Assembly | None,
    placer: Placer | None,
) -> tuple[Turn, Assembly | None]:
    """Open a turn. Which branch it is on shows only then: where that has other assets it is opened again, with a question that
    their scripts have rewritten; and where the floors before tell what of the request the person said, with that."""
    # A floor of the past is enough: it tells when the user last spoke.
    reach = (lambda _: Reach(0)) if run.plan.reads_chat else None
    while True:
        said = await _user_content(run, assembly, None if placer is None else placer.own)
        # What the macros of a prompt read and write is not known before.
        names, history = (run.plan.variables, reach) if assembly is None else (None, assembly.history)
        request = TurnRequest(
            run.account, run.id, session, branch, user=said, names=names, claim=claim, history=history, place=placer
        )
        try:
            return await turns.begin(request), assembly
        except OtherAssets as others:
            assert assembly is not None  # it is what was made of the others
            assembly = await assembly.with_assets(others.bindings)
        except OtherQuestion:
            continue


async def _or_fail(memory: "TurnMemory", work: Awaitable[None]) -> None:
    """Do what a turn needs before its run; where that cannot be done the turn has failed."""
    try:
        await work
    except BaseException as error:
        is_left = isinstance(error, asyncio.CancelledError)
        told = describe_error(error) if isinstance(error, AgentUIError) else INTERNAL
        await to_its_end(memory.fail(told, cancelled=is_left, words=""))
        raise


def _placer(run: Run, session: str, matching: bool) -> Placer | None:
    """What finds the turn's place; None where its history says nothing of it. Raises BadRequest."""
    headers = run.incoming.headers
    forced = headers.get("x-agentui-turn", "").strip().lower()
    if forced and forced not in get_args(Forced):
        raise BadRequest(f"x-agentui-turn is one of {', '.join(get_args(Forced))}.", param="x-agentui-turn")
    if not matching and not forced and session != AUTO:
        return None
    try:
        chat = run.incoming.chat
        messages, tools = chat.messages, [tool.name for tool in chat.tools if isinstance(tool, Tool)]
    except BadRequest:
        messages, tools = (), []
    known: Forced | None = next((one for one in get_args(Forced) if one == forced), None)
    if known is None and not matching:
        known = "new"
    if known is None and is_state_request(tools, messages):
        known = "background"
    intent = read_intent(headers.get("x-agentui-intent"))
    is_raw = is_raw_question(headers.get("user-agent", ""), messages)
    return Placer(read_sent(messages), words_of(messages), intent, known, is_raw=is_raw, caller=caller_of(run.incoming.api_key))


def _last_answer(run: Run) -> str:
    """The answer that a client wants continued."""
    said = (message.text for message in reversed(run.incoming.chat.messages) if message.role == "assistant")
    return next(said, "")


async def open_read_memory(turns: TurnService, run: Run) -> RunMemory | None:
    """What a run that nobody executes would see; nothing is opened, and nothing is kept."""
    if not _sees_memory(turns, run):
        return None
    session, branch = named_chat(run.incoming.headers)
    return ReadMemory(await _seen(turns, run, session, branch))


async def _seen(turns: TurnService, run: Run, session: str | None, branch: str | None) -> Staged:
    """What a run that is no turn sees: of the session where it names one, else the global variables."""
    return await (turns.shared(run.account) if session is None else turns.look(run.account, session, branch))


def _sees_memory(turns: TurnService, run: Run) -> bool:
    """Whether stored variables may change what the run's templates give. What the context has, too, is looked up only where
    there is a memory: ``{{ model }}`` alone makes none."""
    return run.plan.uses_memory or (run.plan.may_use_memory and not turns.store.is_blank)


def named_chat(headers: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The session and the branch that a request's headers name."""
    return _text(headers.get("x-agentui-session")), _text(headers.get("x-agentui-branch"))


def chat_macros(turn: Turn) -> ChatMacros:
    """What a turn's chat tells the macros of its run, where the turn asked for what is known of it."""
    if turn.facts is None:
        return ChatMacros()
    return ChatMacros(names_of(turn.facts), idle_of(turn.past.entries, datetime.now(UTC)), greetings_of(turn.facts))


class TurnMemory:
    """The memory of a run that is a turn of a chat."""

    def __init__(
        self,
        turn: Turn,
        redact: Callable[[str], str],
        save_answer: SaveAnswer | None,
        *,
        kind: Kind = "new",
        begun: str = "",
        keeps_words: bool = False,
        assembly: Assembly | None = None,
        key: str | None = None,
    ) -> None:
        """``begun`` are the words that the answer goes on from, and is kept with. ``keeps_words`` says that an answer that
        broke off is kept as far as it came: its words stand in the history that the client sends next. ``assembly`` is what
        makes the prompt, where the session does. ``key`` is the client key that the request came with."""
        self._turn = turn
        self._redact = redact
        self._save_answer = save_answer
        self._kind = kind
        self._begun = begun
        self._keeps_words = keeps_words
        self._assembly = assembly
        self._key = key

    def staged(self) -> Staged:
        """The turn's buffer, over all five tiers."""
        return self._turn.staged()

    @property
    def headers(self) -> Mapping[str, str]:
        """Where the turn happens."""
        place = self._turn.place
        is_assembled = self._assembly is not None and self._assembly.is_sent
        assembled = {HEADER: "session"} if is_assembled else {}
        return {
            **assembled,
            "x-agentui-session": place.session_id,
            "x-agentui-branch": place.branch_id.encode("unicode_escape").decode(),
            "x-agentui-floor": place.floor_id,
            "x-agentui-turn": "regenerate" if self._kind == "continue" else self._kind,
        }

    async def commit(self, result: RunResult) -> None:
        """Keep the answer, the variables and the floor. Raises as ``Turn.commit`` does."""
        saved = None if self._save_answer is None else await self._save_answer()
        answer = result.answer
        parts = answer.reply.choices[0].parts if answer.reply is not None and answer.reply.choices else ()
        begun = self._redact(self._begun)
        parts = (Text(begun), *parts) if begun and len(parts) > 1 else parts
        tokens = answer.usage.input or 0, answer.usage.output or 0
        assembly = self._assembly
        if assembly is None:
            content = await content_of(begun + answer.text, parts, self._redact)
            await self._turn.commit(Outcome(content, *tokens, saved=saved, memories=self._memories(begun + answer.text)))
            return
        content = await assembly.kept_answer(begun + answer.text, tuple(parts))
        assembly.learn(answer.usage.input)
        explain, memories = assembly.explained(self._turn), self._memories(begun + answer.text)
        await self._turn.commit(Outcome(content, *tokens, explain=explain, saved=saved, memories=memories))

    def _memories(self, text: str) -> TurnMemories | None:
        """What the turn writes of memories. Its client sees the answer as it is, ``<summary>`` blocks and all."""
        found = self._turn.memories(None, (), self._key, is_live=False)
        if found is None:
            return None
        cutter = SummaryCutter()
        cutter.feed(self._redact(text))
        return replace(found, summaries=tuple(cutter.summaries))

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool, words: str) -> None:
        """Keep the words of an answer that broke off; where there are none, leave a failed floor behind."""
        broken = None
        if words and self._keeps_words:
            text = self._redact(self._begun + words)
            broken = Content(text) if self._assembly is None else await self._assembly.kept_answer(text, ())
        await self._turn.fail(error, cancelled=cancelled, partial=broken)


class ReadMemory:
    """The memory of a run that sees what a turn would see and keeps nothing: counting a chat's tokens is no turn of it."""

    headers: Mapping[str, str] = NO_HEADERS

    def __init__(self, staged: Staged) -> None:
        self._staged = staged

    def staged(self) -> Staged:
        """A buffer that goes nowhere."""
        return self._staged

    async def commit(self, result: RunResult) -> None:
        """Nothing."""

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool, words: str) -> None:
        """Nothing."""


class AsideMemory(ReadMemory):
    """The memory of a request about a chat that is no turn of it: a summary, a title, a quiet prompt."""

    def __init__(self, staged: Staged, aside: NoTurn) -> None:
        super().__init__(staged)
        named = {} if aside.session is None else {"x-agentui-session": aside.session}
        self.headers = {**named, "x-agentui-turn": "background"}


class SharedMemory(ReadMemory):
    """The memory of a run without a chat, which sees and writes the global variables."""

    def __init__(self, turns: TurnService, account: str, run_id: str, staged: Staged) -> None:
        super().__init__(staged)
        self._turns = turns
        self._account = account
        self._run_id = run_id

    async def commit(self, result: RunResult) -> None:
        """Keep what was written. Raises ApiError ``variable_conflict``."""
        await self._turns.commit_shared(self._account, self._run_id, self._staged)


async def _user_content(run: Run, assembly: Assembly | None, own: Sequence[str] | None) -> Content | None:
    """The user's last words, and all that is new beside them; ``own`` are the person's, where not all in the user's name are. A
    conversation that we cannot read may still be one that its own vendor can."""
    try:
        chat = run.incoming.chat
        text, parts = chat.last_user, input_parts(chat.messages)
    except BadRequest:
        return None
    if own:
        text = own[-1]
        parts = (*(part for part in parts if not isinstance(part, Text)), *map(Text, own))
    says_something = text or not all(isinstance(part, Text) for part in parts)
    if not says_something:
        return None
    return await content_of(text, parts) if assembly is None else await assembly.kept_question(text, parts)


def _text(header: str | None) -> str | None:
    """A header's value as the caller's UTF-8 text; what is none is shown as replacement characters."""
    return None if header is None else header.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
