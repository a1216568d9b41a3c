"""Words for the person to say next, which SillyTavern calls *impersonate*: a run over the chat as it is.

It is no turn. It opens no floor and locks no branch, the session's tools and checks have no part in it, and what it writes to
variables is forgotten.
"""

from sqlalchemy import Connection

from agentui.chats.codes import failure
from agentui.chats.state.reading import state_seen
from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.pipeline.engine import Engine, RunRequest
from agentui.pipeline.macros import ChatMacros
from agentui.pipeline.run import Run
from agentui.pipeline.walk.group import drop_frames
from agentui.threads import in_thread
from agentui.turns.live.attempt import AttemptMemory
from agentui.turns.live.broken import told_error
from agentui.turns.live.choice import PipelineChoice
from agentui.turns.live.explaining import observed
from agentui.turns.live.generation import Conversation, chat_of
from agentui.turns.live.listener import TurnListener
from agentui.turns.live.looking import LookedAt
from agentui.turns.live.preparing import assembled_prompt, stage_mutations
from agentui.turns.live.request import LiveRequest
from agentui.turns.live.words import WordSink
from agentui.turns.repeats import Claim, Saved
from agentui.turns.service import TurnService, now_ms
from agentui.variables.staging import Staged
from agentui.vendors.base import Vendors


class Drafts:
    """Asks models for what the person may say next."""

    def __init__(self, turns: TurnService, engine: Engine, vendors: Vendors, choice: PipelineChoice) -> None:
        self._turns = turns
        self._engine = engine
        self._vendors = vendors
        self._choice = choice

    async def write(self, asked: LiveRequest, looked: LookedAt, listener: TurnListener) -> dict[str, Json]:
        """Write one for the chat that was ``looked`` at, in a prompt that asks for it; returns what the caller is told.

        The listener hears ``start``, ``chunk`` and ``done``: there is no floor whose run could be told. Regex scripts do not
        change the words: they will when the person says them. Raises as ``LiveTurns.generate`` does, but for what a turn alone
        can meet.
        """
        try:
            return await self._write(asked, looked, listener)
        except AgentUIError as raised:
            drop_frames(raised)  # they know the run's result, which knows the error
            error = told_error(raised)
        try:
            raise error
        finally:
            del error  # else this frame and the error would hold each other

    async def _write(self, asked: LiveRequest, looked: LookedAt, listener: TurnListener) -> dict[str, Json]:
        look, prepared = looked.look, looked.prepared
        bindings, branch = look.facts.bindings, look.scope.target_branch_id
        await listener.tell("start", {"branch_id": branch})
        session_model = self._choice.model(look.facts)
        model = self._choice.model_name(session_model)
        await self._choice.ready(asked.principal, asked.pipeline, bindings.get("pipeline_id"))
        plan = self._choice.allowed_plan(asked.principal, asked.pipeline, bindings.get("pipeline_id"), session_model)
        staged = Staged(look.layers, now=now_ms)
        if plan.reads_state:
            place = look.facts.id, look.scope.history_source_branch_id, look.head_id, None
            staged.state = await self._turns.store.read(state_seen, asked.principal.account, *place)
        stage_mutations(prepared, staged)
        chat = chat_of(prepared.messages, model, {**looked.params, "n": None})
        conversation = Conversation(chat, asked.headers, asked.api_key, self._vendors)
        words: list[str] = []

        async def receive(text: str) -> None:
            words.append(text)
            await listener.tell("chunk", {"chunk": text})

        sink, memory = WordSink(receive, conversation.vendor), AttemptMemory(lambda: staged)
        begun: list[Run] = []

        def begin(run: Run) -> None:
            begun.append(run)
            sink.run = run
            run.session, run.branch = look.facts.id, branch
            run.answers_anew = True  # who asks again wants other words
            run.assembled = assembled_prompt(prepared)
            run.bound = self._choice.binding(session_model)
            session_model.tell(run)
            told = prepared.macro_scope
            run.chat = ChatMacros(told.values, told.idle, told.greetings)
            listener.follow(run)

        incoming = await conversation.incoming()
        request = RunRequest(asked.principal, plan, incoming, memory=memory.open, on_begin=begin, run_id=asked.turn.run_id)
        result = await self._engine.run(request, sink)
        if result.error is not None:
            raise result.error
        if memory.refused is not None:
            raise failure("upstream_error", memory.refused)
        await sink.finish(result.answer)
        usage = {"prompt_tokens": result.answer.usage.input or 0, "completion_tokens": result.answer.usage.output or 0}
        done: dict[str, Json] = {
            "branch_id": branch,
            "generated_text": "".join(words),
            "summaries": sink.summaries,
            "total_usage": {**usage, "total_tokens": sum(usage.values())},
            "final_state": "draft",
        }
        if asked.shows_snapshot or asked.shows_trace:
            redact = begun[0].redactor.redact_json
            done |= await in_thread(lambda: redact(observed(asked, prepared, looked.bundle)))
        saved = await listener.save(done)
        if asked.turn.claim is not None and saved is not None:
            await self._keep(asked.principal.account, asked.turn.claim, saved)
        await listener.tell("done", done)
        return done

    async def _keep(self, account: str, claim: Claim, saved: Saved) -> None:
        """Keep the answer of a request with a key, which gets the same one when it comes again. Two that come at once are two
        drafts: there is no floor by which one could know of the other."""
        await self._turns.once(claim, lambda _: saved, _nothing, account)


def _nothing(db: Connection, account: str) -> None:
    """A draft writes nothing."""
