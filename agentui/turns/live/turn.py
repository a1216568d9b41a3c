"""One live turn on its way, from its first event to its commit or its failure."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentui.chat.request import ChatRequest
from agentui.chats.codes import failure
from agentui.chats.parts import Content, content_of
from agentui.errors import AgentUIError
from agentui.ids import new_id
from agentui.jsonio import Json, dumps_text
from agentui.library.bundles import Bundle, Bundles
from agentui.memories.reading import Spot as MemorySpot
from agentui.memories.writing.modes import TurnMemories, ingest_id
from agentui.pipeline.engine import Engine, RunRequest, to_its_end
from agentui.pipeline.macros import ChatMacros
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.result import RunResult
from agentui.pipeline.run import Run
from agentui.pipeline.sink import ListenerGone
from agentui.pipeline.walk.executor import INTERNAL
from agentui.pipeline.walk.group import drop_frames
from agentui.profiles.stored import USE_NOTED_MS, note_use
from agentui.prompt.history import HistoryEntry
from agentui.prompt.memory import NO_PROMPT_MEMORY
from agentui.prompt.prepared import PreparedTurn, TurnMessage
from agentui.prompt.summaries import SummaryCutter
from agentui.regexes.scripts import ScriptTrace
from agentui.threads import in_thread
from agentui.tools.sources import ToolSources
from agentui.turns.live.attempt import AttemptMemory
from agentui.turns.live.broken import BROKEN_OFF, LEFT, LEFT_STATUS, NOT_KEPT, kept, told_error
from agentui.turns.live.checks import SKIPPED, Adviser, Verdict
from agentui.turns.live.choice import PipelineChoice
from agentui.turns.live.consolidating import Consolidation
from agentui.turns.live.explaining import asked_with, explained, observed
from agentui.turns.live.generation import Conversation, chat_of, merged_params
from agentui.turns.live.listener import TurnListener
from agentui.turns.live.memory_model import Caller
from agentui.turns.live.preparing import (
    Estimators,
    Preparation,
    Seen,
    asked_of,
    assembled_prompt,
    past_macros,
    stage_mutations,
    swipe_macros,
)
from agentui.turns.live.progress import Pending, Phase, Progress
from agentui.turns.live.request import LiveRequest
from agentui.turns.live.rewriting import rewritten
from agentui.turns.live.tool_round import call_tools
from agentui.turns.live.tools import TurnTools, permissions_for
from agentui.turns.live.words import WordSink, parts_with_text
from agentui.turns.reminding import Reminder
from agentui.turns.request import Outcome
from agentui.turns.rules import resolved
from agentui.turns.service import Turn, TurnService, now_ms
from agentui.vendors.base import Vendors


@dataclass(frozen=True, slots=True)
class LiveServices:
    """What every live turn works with."""

    turns: TurnService
    engine: Engine
    vendors: Vendors
    choice: PipelineChoice
    bundles: Bundles
    estimators: Estimators
    adviser: Adviser
    tools: ToolSources
    consolidation: Consolidation
    reminder: Reminder


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer that may be kept. ``text`` is without keys and without its summaries; ``rewrites`` say what became of the
    scripts for it; ``others`` are further answers that the model gave at once."""

    text: str
    summaries: list[str]
    result: RunResult
    others: tuple[Content, ...] = ()
    rewrites: tuple[ScriptTrace, ...] = ()
    verdict: Verdict = SKIPPED


class LiveTurn:
    """One turn on its way."""

    def __init__(
        self,
        services: LiveServices,
        asked: LiveRequest,
        listener: TurnListener,
        turn: Turn,
        bundle: Bundle,
        rewrites: tuple[ScriptTrace, ...],
    ) -> None:
        place, now = turn.place, now_ms()
        self._services = services
        self._asked = asked
        self._listener = listener
        self._turn = turn
        self._task = asyncio.current_task()
        self._is_stopped = False
        self._run: Run | None = None
        self._has_tools = False
        self._answer: Content | None = None
        """What was to be kept."""
        self._tokens_in = self._tokens_out = 0
        assert turn.facts is not None  # every live turn asks for its history
        self._chat = turn.facts
        self._bundle = bundle
        self._rewrites = rewrites
        self._session_model = services.choice.model(self._chat)
        self._params = self._merged()
        self._resolution = resolved(self._chat.policies, asked.policy)
        self._model = services.choice.model_name(self._session_model)
        self._words = said_in(turn.past.answer) if asked.intent == "continue" else ""
        """Those of the answer that this turn continues, whole or stopped."""
        self.progress = Progress(
            place.session_id,
            place.branch_id,
            place.floor.floor_id,
            asked.turn.run_id,
            asked.turn.kind,
            now,
            now,
            stop=self._stop,
        )

    def _merged(self) -> dict[str, Json]:
        session = self._chat.bindings.get("model_params")
        return merged_params(session, self._asked.params, self._bundle.params, self._session_model.params)

    def _stop(self) -> None:
        """Somebody stops the turn: whatever it waits for is cancelled."""
        if self._task is not None:
            self.progress.stop = None
            self._is_stopped = True
            self._task.cancel()

    async def generate(self) -> dict[str, Json]:
        """The whole turn. One that fails leaves a failed floor, or the words that had arrived."""
        try:
            return await self._succeed()
        except (asyncio.CancelledError, ListenerGone) as left:
            if isinstance(left, ListenerGone) or not self._is_stopped:
                await to_its_end(self._fail(LEFT, LEFT_STATUS, is_cancelled=True))
                raise
            assert self._task is not None
            self._task.uncancel()
            error: AgentUIError = failure("generation_cancelled", "The generation was stopped.")
        except AgentUIError as raised:
            drop_frames(raised)  # they know the run's result, which knows the error
            error = told_error(raised)
        except BaseException:
            await to_its_end(self._fail(INTERNAL, 500, is_cancelled=False))
            raise
        self.progress.stop = None  # what has failed is not stopped: its caller would not be told why
        told: dict[str, Json] = {"code": error.code, "message": self._shown(error.message)}
        await to_its_end(self._fail(told, error.status, is_cancelled=error.code == "generation_cancelled"))
        answer = {} if self._answer is None else {"generated_text": self._answer.text}
        is_partial = self._partial(error.code) is not None or (self._answer is not None and error.code in NOT_KEPT)
        error.details = {**error.details, "floor_id": self.progress.floor_id, "is_partial": is_partial, **answer}
        await self._tell_run()
        try:
            raise error
        finally:
            del error  # else this frame and the error would hold each other, and the turn

    async def _succeed(self) -> dict[str, Json]:
        """Everything that happens when nothing goes wrong. Raises what does."""
        turn, listener = self._turn, self._listener
        await listener.tell("start", self._where())
        await self._move("semantic_resolved")
        asked = self._asked
        await self._services.choice.ready(asked.principal, asked.pipeline, self._chat.bindings.get("pipeline_id"))
        plan = self._plan()
        if plan.reads_state:
            await turn.see_state()
        await self._move("prechecked")
        permissions = await permissions_for(
            self._services.turns.store, turn.place.account, turn.place.session_id, wanted=self._asked.tools
        )
        tools = TurnTools(
            self._services.tools, permissions, self._asked.principal, turn, lambda: self._bundle.assets, listener.tell
        )
        self._has_tools = tools.are_allowed
        preparation, prepared = await self._prepared(tools)
        await self._move("prompt_assembled")
        prepared, candidate = await self._checked(plan, preparation, prepared, tools)
        if candidate.rewrites:
            prepared = replace(prepared, scripts=prepared.scripts.with_kept(answer=candidate.rewrites))
        self.progress.stop = None  # what is being kept is not stopped: its caller would be told of a failure that was none
        await self._move("transaction_prepared")
        if candidate.summaries:
            await listener.tell("summary", {"summaries": candidate.summaries})
        memories = await self._memories(candidate)
        done = await self._done(prepared, candidate) | told_memories(memories, turn.place.floor.output_page_id)
        self._answer = await self._content(candidate)
        outcome = Outcome(
            answer=self._answer,
            tokens_in=self._tokens_in,
            tokens_out=self._tokens_out,
            summaries=tuple(candidate.summaries),
            verifier=candidate.verdict.as_json(),
            explain=self._explained(prepared, plan, tools),
            saved=await listener.save(done),
            others=candidate.others,
            memories=memories,
            used_memories=prepared.memory.item_ids,
        )
        await kept(turn.commit(outcome))
        await self._note_use()
        await listener.tell("done", done)
        return done

    async def _memories(self, candidate: Candidate) -> TurnMemories | None:
        """What the turn writes of memories; where the slot ``memory`` is disabled no model is asked."""
        asked, services = self._asked, self._services
        asks = False if services.consolidation.model.is_disabled(self._chat) else asked.asks_memory
        wanted = self._turn.memories(asks, candidate.summaries, asked.principal.key, is_live=True)
        if wanted is None or not wanted.is_asked:
            return wanted
        question = "\n".join(entry.text for entry in self._turn.past.question if entry.role == "user" and not entry.is_hidden)
        place, caller = self._turn.place, Caller(asked.headers, asked.api_key)
        consolidated, made = await services.consolidation.consolidated(
            wanted, place, self._chat, asked.principal, caller, question, candidate.text
        )
        self._tokens_in += made.tokens_in
        self._tokens_out += made.tokens_out
        return consolidated

    async def _note_use(self) -> None:
        """Keep that the profile was used, once a minute."""
        profile, now = self._session_model.profile, now_ms()
        if profile is not None and (profile.last_used_at or 0) <= now - USE_NOTED_MS:
            await self._services.turns.store.write(note_use, self._turn.place.account, profile.id, now)

    def _plan(self) -> Plan:
        """What answers. Raises as ``PipelineChoice.allowed_plan`` does."""
        own = self._chat.bindings.get("pipeline_id")
        choice, asked = self._services.choice, self._asked
        return choice.allowed_plan(asked.principal, asked.pipeline, own, self._session_model)

    async def _prepared(self, tools: TurnTools) -> tuple[Preparation, PreparedTurn]:
        """The prompt, with what the director says of it where one is asked."""
        turn, asked, services = self._turn, self._asked, self._services
        if not self._bundle.is_of(self._chat.bindings):  # somebody bound the session to others before the turn was opened
            self._bundle = await services.bundles.load(turn.place.account, self._chat.bindings)
            self._params = self._merged()
        past = turn.past
        *before, message = past.question or (None,)
        preparation = Preparation(
            seen=Seen(self._chat, (*past.entries, *before), past.is_cut, turn.staged(), past.unread),
            message=None if message is None else TurnMessage(message.text, message.parts, turn.place.floor_id),
            intent=asked.intent,
            run_kind=asked.turn.kind,
            policy=self._resolution.policy,
            params=self._params,
            words=self._words,
            recalled={**past_macros(past), **swipe_macros(asked.turn.kind, asked.intent, past)},
            estimator=services.estimators.of(self._model),
            model=self._model,
            assets=self._bundle.assets,
            rewrites=self._rewrites,
        )
        place = turn.place
        spot = MemorySpot(place.session_id, place.branch_id, place.floor.parent_floor_id)
        is_anew = place.floor.parent_floor_id is None and place.replaced_floor_id is not None
        asked_for = asked_of(preparation, place.account, spot, place.memory, is_anew=is_anew)
        memory = await services.reminder.remind(asked_for)
        if memory is not NO_PROMPT_MEMORY:
            preparation = replace(preparation, memory=memory)
        prepared = await preparation.prepared()
        if asked.checks.director:
            advice = await services.adviser.direct(
                asked.principal, self._conversation(prepared), self._chat, tools.grant(1, "director")
            )
            preparation = replace(preparation, extra=advice.sections("director"), notes=advice.notes)
            prepared = await preparation.prepared()
        return preparation, prepared

    async def _checked(
        self, plan: Plan, preparation: Preparation, prepared: PreparedTurn, tools: TurnTools
    ) -> tuple[PreparedTurn, Candidate]:
        """An answer that is to be kept, and the prompt that it answers. Raises what the run raises, and ``verifier_failed``."""
        checks, progress = self._asked.checks, self.progress
        while True:
            prepared = await self._informed(plan, preparation, prepared, tools)
            candidate = await self._attempt(plan, prepared, tools)
            await self._move("candidate_generated")
            verdict = await self._verdict(prepared, candidate, tools)
            progress.verifier = verdict.as_json()
            await self._move("candidate_generated")
            if verdict.status == "fail" and checks.fail_strategy == "block":
                raise failure("verifier_failed", "The verifier refused the answer.", verifier=verdict.as_json())
            if verdict.status == "fail" and checks.fail_strategy == "retry" and self._may_try_again():
                progress.attempt_no += 1
                self._turn.begin_again()
                seen = replace(preparation.seen, staged=self._turn.staged())
                preparation = replace(preparation, seen=seen, extra=(*preparation.extra, verdict.section()))
                prepared = await preparation.prepared()
                continue
            await self._move("verifier_checked")
            return prepared, replace(candidate, verdict=verdict)

    def _may_try_again(self) -> bool:
        """Whether another answer may be asked for: some are left, and none would do again what nobody takes back."""
        return self.progress.attempt_no <= self._asked.checks.max_retries and self._turn.calls.may_be_repeated

    async def _verdict(self, prepared: PreparedTurn, candidate: Candidate, tools: TurnTools) -> Verdict:
        """What the verifier says of an answer, where one is wanted."""
        if not self._asked.checks.verifier:
            return SKIPPED
        grant = tools.grant(self.progress.attempt_no, "verifier")
        return await self._services.adviser.verify(
            self._asked.principal, self._conversation(prepared), candidate.text, self._chat, grant
        )

    async def _informed(self, plan: Plan, preparation: Preparation, prepared: PreparedTurn, tools: TurnTools) -> PreparedTurn:
        """The prompt, with what a round of tools before the answer gave where one is wanted."""
        if self._asked.tool_mode == "inline" or not tools.are_allowed:
            return prepared
        conversation, attempt_no = self._conversation(prepared), self.progress.attempt_no
        made = await call_tools(self._services.engine, plan, conversation, tools, attempt_no, self._session_model.tell)
        self._tokens_in += made.tokens_in
        self._tokens_out += made.tokens_out
        extra, notes = (*preparation.extra, *made.sections), (*preparation.notes, *made.notes)
        return await replace(preparation, extra=extra, notes=notes).prepared()

    async def _attempt(self, plan: Plan, prepared: PreparedTurn, tools: TurnTools) -> Candidate:
        """Run the pipeline once. Raises AgentUIError where the run fails."""
        services, asked, turn, progress = self._services, self._asked, self._turn, self.progress
        await self._move("page_generating")
        stage_mutations(prepared, turn.staged())
        conversation = self._conversation(prepared)
        incoming = await conversation.incoming()
        pending = progress.pending = Pending(new_id("out"), progress.attempt_no, now_ms(), now_ms())
        if self._words:
            pending.add(self._words)
        await self._move("page_generating")
        sink = WordSink(self._receive, conversation.vendor, wants_stream=conversation.chat.stream)
        memory = AttemptMemory(turn.staged)

        def begin(run: Run) -> None:
            sink.run = self._run = run
            run.working = turn.working
            run.session, run.branch, run.floor = progress.session_id, progress.branch_id, progress.floor_id
            run.answers_anew = asked.turn.kind != "respond" or progress.attempt_no > 1
            run.assembled = assembled_prompt(prepared)
            run.bound = services.choice.binding(self._session_model)
            self._session_model.tell(run)
            told = prepared.macro_scope
            run.chat = ChatMacros(told.values, told.idle, told.greetings)
            self._listener.follow(run)

        run_id = asked.turn.run_id if progress.attempt_no == 1 else None
        grant = tools.grant(progress.attempt_no, is_offered=asked.tool_mode != "standalone")
        request = RunRequest(asked.principal, plan, incoming, memory=memory.open, on_begin=begin, run_id=run_id, tools=grant)
        try:
            result = await services.engine.run(request, sink)
        finally:
            if memory.words:
                progress.append(sink.unsent(memory.words), now_ms())
        if result.error is not None:
            raise result.error
        if memory.refused is not None:
            raise failure("upstream_error", memory.refused)
        await sink.finish(result.answer)
        pending.state = "generated"
        await self._move("page_generating")
        usage = result.answer.usage
        self._tokens_in += usage.input or 0
        self._tokens_out += usage.output or 0
        services.estimators.learn(self._model, prepared.token_estimate, usage.input)
        # What stood around a summary is no part of the answer (TavernHeadless trims it, too).
        said = pending.text.strip() if sink.summaries and not self._words else pending.text
        text, rewrites = await rewritten(self._bundle, said, "ai_output", "persist", self._chat.id)
        return Candidate(text, sink.summaries, result, await self._others(result, asked_for=conversation.chat), rewrites)

    async def _others(self, result: RunResult, asked_for: ChatRequest) -> tuple[Content, ...]:
        """The answers behind the first, as they are stored; none where the turn asked for one."""
        reply = result.reply
        if reply is None or not asked_for.params.answers:
            return ()
        assert self._run is not None
        found: list[Content] = []
        for choice in reply.choices[1 : asked_for.params.answers]:
            cutter = SummaryCutter()
            said = cutter.feed(self._shown(choice.text)) + cutter.end()
            text = (await rewritten(self._bundle, said, "ai_output", "persist", self._chat.id)).text
            found.append(await content_of(text, parts_with_text(choice.parts, text), self._run.redactor.redact))
        return tuple(found)

    def _conversation(self, prepared: PreparedTurn) -> Conversation:
        asked = self._asked
        several = {} if self._may_have_others else {"n": None}
        is_streamed = self._session_model.params.get("stream") is not False
        chat = chat_of(prepared.messages, self._model, {**self._params, **several}, stream=is_streamed)
        return Conversation(chat, asked.headers, asked.api_key, self._services.vendors)

    @property
    def _may_have_others(self) -> bool:
        """Whether several answers can be versions of one floor: not of words that are continued, nor where tools are called or
        Session State is written, which belong to one of them (SillyTavern asks for several in the same turns), nor where a
        verifier judges the answer, which reads one."""
        asked = self._asked
        is_answer = asked.intent in ("normal", "swipe", "regenerate")
        return is_answer and not self._has_tools and not asked.turn.state_writes and not asked.checks.verifier

    async def _receive(self, text: str) -> None:
        """More words have arrived."""
        self.progress.append(text, now_ms())
        if self.progress.pending is not None and self.progress.pending.is_to_be_told:
            await self._tell_run()
        await self._listener.tell("chunk", {"chunk": text})

    async def _move(self, phase: Phase) -> None:
        self.progress.move(phase, now_ms())
        await self._tell_run()

    async def _tell_run(self) -> None:
        await self._listener.moved(self.progress)

    async def _content(self, candidate: Candidate) -> Content:
        """The answer with all its parts, as it is stored."""
        reply = candidate.result.reply
        parts = reply.choices[0].parts if reply is not None and reply.choices else ()
        assert self._run is not None
        return await content_of(candidate.text, parts_with_text(parts, candidate.text), self._run.redactor.redact)

    def _where(self) -> dict[str, Json]:
        place = self._turn.place
        return {"floor_id": place.floor.floor_id, "floor_no": place.floor.floor_no, "branch_id": place.branch_id}

    async def _done(self, prepared: PreparedTurn, candidate: Candidate) -> dict[str, Json]:
        """What the caller is told of a turn that is kept."""
        usage = {"prompt_tokens": self._tokens_in, "completion_tokens": self._tokens_out}
        done: dict[str, Json] = {
            **self._where(),
            "generated_text": candidate.text,
            "summaries": candidate.summaries,
            "total_usage": {**usage, "total_tokens": self._tokens_in + self._tokens_out},
            "final_state": "committed",
        }
        place = self._turn.place
        sources = {
            "previous_floor_id": place.previous_floor_id,
            "source_floor_id": place.source_floor_id,
            "source_message_id": place.source_message_id,
        }
        done |= {name: id for name, id in sources.items() if id is not None}
        assert self._run is not None
        if not self._asked.shows_snapshot and not self._asked.shows_trace:
            return done
        redact = self._run.redactor.redact_json
        told: dict[str, Json] = await in_thread(lambda: redact(observed(self._asked, prepared, self._bundle)))
        return done | told

    def _explained(self, prepared: PreparedTurn, plan: Plan, tools: TurnTools) -> str:
        """What is kept of the prompt, and of how the model was asked, as JSON."""
        offered = tools.offered() if self._asked.tool_mode != "standalone" else []
        generation = asked_with(plan.id, self._model, self._params, offered)
        document = explained(self._turn.place, prepared, self._resolution, self._bundle) | {"generation": generation}
        assert self._run is not None
        return self._run.redactor.redact(dumps_text(document))

    async def _fail(self, error: Mapping[str, Json], status: int, *, is_cancelled: bool) -> None:
        """Leave a failed floor, or what had arrived of the answer, and a run that says so. ``status`` is what the caller is
        told."""
        if self._run is not None:
            self._run.revoke(error)
        self.progress.fail(dict(error), now_ms(), cancelled=is_cancelled)
        partial = await self._words_to_keep(str(error["code"]))
        await self._turn.fail(error, cancelled=is_cancelled, partial=partial, told_status=status)

    async def _words_to_keep(self, code: str) -> Content | None:
        """The answer that could not be kept, or the words of one that broke off; None where there is nothing to keep."""
        if self._answer is not None and code in NOT_KEPT:
            return self._answer
        words = self._partial(code)
        if words is None:
            return None
        return Content((await rewritten(self._bundle, words, "ai_output", "persist", self._chat.id)).text)

    def _partial(self, code: str) -> str | None:
        """The words of an answer that broke off; None where none came, or the answer was not broken off but refused."""
        pending = self.progress.pending
        has_come = pending is not None and len(pending.text) > len(self._words)
        return pending.text if pending is not None and has_come and code in BROKEN_OFF else None

    def _shown(self, text: str) -> str:
        """A text without the keys of the run."""
        return text if self._run is None else self._run.redactor.redact(text)


def told_memories(memories: TurnMemories | None, page_id: str) -> dict[str, Json]:
    """What the caller is told of the memories that a turn writes (TavernHeadless' contract, 3.5); nothing where it has none."""
    if memories is None:
        return {}
    job_id = ingest_id(page_id) if memories.is_queued else None
    return {"memory": {"mode": memories.mode, "status": "queued" if job_id else "applied", "job_id": job_id}}


def said_in(entries: Sequence[HistoryEntry]) -> str:
    """The words of the model in these."""
    return "".join(entry.text for entry in entries if entry.role == "assistant")
