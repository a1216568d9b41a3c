"""Live turns: prepare -> run -> commit.

    begin       one transaction: the floor is open, the branch locked, history and variables are read
    prepare     pure: ``assemble`` makes the messages
    run         ``Engine.run`` of the session's pipeline, with those messages as the caller's conversation
    commit      one transaction: the answer, variables, usage, what explains the prompt

A draft of what the person may say next (``drafting``) looks at the chat in place of the first, and has no last.

``LiveTurns`` knows no HTTP: it gets a ``LiveRequest``, tells a ``TurnListener`` what happens, and returns what was committed.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

from agentui.assets.preset import PromptPreset
from agentui.chats.codes import failure
from agentui.chats.records import MAIN
from agentui.jsonio import Json
from agentui.library.bundles import Bundle, Bundles
from agentui.memories.reading import Spot as MemorySpot
from agentui.pipeline.engine import Engine
from agentui.profiles.resolver import choose_config
from agentui.prompt.memory import NO_PROMPT_MEMORY, PromptMemory
from agentui.prompt.prepared import TurnMessage
from agentui.prompt.tokens import TokenEstimator
from agentui.regexes.scripts import Channel, ScriptTrace
from agentui.tools.sources import ToolSources
from agentui.turns.live.checks import Adviser
from agentui.turns.live.choice import PipelineChoice
from agentui.turns.live.consolidating import Consolidation
from agentui.turns.live.drafting import Drafts
from agentui.turns.live.generation import merged_params
from agentui.turns.live.listener import TurnListener
from agentui.turns.live.looking import Look, LookedAt, look_at
from agentui.turns.live.preparing import (
    Estimators,
    Preparation,
    Seen,
    asked_of,
    history_reach,
    past_macros,
)
from agentui.turns.live.progress import ActiveRuns
from agentui.turns.live.request import LiveRequest, PromptRequest
from agentui.turns.live.rewriting import ANY_CHAT, rewritten
from agentui.turns.live.turn import LiveServices, LiveTurn
from agentui.turns.reminding import Reminder
from agentui.turns.request import ChatFacts, TurnRequest
from agentui.turns.rules import resolved
from agentui.turns.service import TurnService, now_ms
from agentui.turns.targets import find_bindings
from agentui.variables.staging import Staged
from agentui.vendors.base import Vendors


class LiveTurns:
    """Generates turns. ``active`` are those under way."""

    def __init__(
        self,
        turns: TurnService,
        engine: Engine,
        vendors: Vendors,
        choice: PipelineChoice,
        *,
        director: str,
        verifier: str,
        tools: ToolSources,
        consolidation: Consolidation,
        reminder: Reminder,
    ) -> None:
        """``director`` and ``verifier`` are the server's own pipelines for these; "" for none. ``tools`` gives the tools that
        need nothing of a turn, ``consolidation`` asks what a turn taught, ``reminder`` tells what it is reminded of."""
        self.tools = tools
        self._reminder = reminder
        self.turns = turns
        self.choice = choice
        self.active = ActiveRuns()
        self.bundles = Bundles(turns.store)
        self.estimators = Estimators()
        adviser = Adviser(engine, choice, director=director, verifier=verifier)
        self._drafts = Drafts(turns, engine, vendors, choice)
        self._services = LiveServices(
            turns, engine, vendors, choice, self.bundles, self.estimators, adviser, tools, consolidation, reminder
        )

    async def generate(self, asked: LiveRequest, listener: TurnListener) -> dict[str, Json]:
        """Generate one turn and commit it, or a draft of the user's words; returns what the caller is told of it.

        Raises ApiError: ``upstream_error`` and ``generation_timeout`` for what an upstream did, ``generation_cancelled`` where
        somebody stopped it, ``verifier_failed``, and what ``TurnService.begin`` and ``Turn.commit`` raise; NotFound and
        InvalidPipeline for its pipeline; ListenerGone and CancelledError where the caller left.
        """
        if asked.pipeline is not None:
            await self.choice.ready(asked.principal, asked.pipeline)
            self.choice.check(asked.principal, asked.pipeline)
        if asked.is_draft:
            return await self._drafts.write(asked, await self.look(asked.prompt(), run_kind="respond"), listener)
        bundle = await self.bundle_of(asked.turn)
        sized = partial(history_reach, asked.policy, bundle, asked.params, self._estimator, slot_params=self._narrator_params)
        user, rewrites = asked.turn.user, tuple[ScriptTrace, ...]()
        if user is not None:
            channel: Channel = "edit" if asked.turn.kind == "edit_and_regenerate" else "persist"
            text, rewrites = await rewritten(bundle, user.text, "user_input", channel, asked.turn.session or ANY_CHAT)
            user = user if text == user.text else replace(user, text=text)
        turn = await self.turns.begin(replace(asked.turn, user=user, history=sized))
        live = LiveTurn(self._services, asked, listener, turn, bundle, rewrites)
        self.active.add(live.progress)
        try:
            return await live.generate()
        finally:
            live.progress.stop = None  # it knows the turn, which knows the progress
            self.active.remove(live.progress)

    async def look(
        self,
        asked: PromptRequest,
        preset: PromptPreset | None = None,
        unknown: str = "session_not_found",
        run_kind: Literal["dry_run", "respond"] = "dry_run",
    ) -> LookedAt:
        """Make the prompt of a turn that nobody takes, with another ``preset`` than the session's where one is given; nothing
        is opened, and nothing is kept. Macros are told the ``run_kind``. Raises as ``look_at`` does, ``unknown`` where there is
        no such session."""
        bundle = await self.bundle_of(
            TurnRequest(asked.account, "", asked.session, asked.branch, source_floor_id=asked.source_floor_id)
        )
        if preset is not None:
            bundle = replace(bundle, assets=replace(bundle.assets, preset=preset))
        slot_params = self._slot_params if run_kind == "dry_run" else self._narrator_params
        size = partial(history_reach, asked.policy, bundle, asked.params, self._estimator, slot_params=slot_params)
        place = asked.session, asked.branch, asked.source_floor_id
        look = await self.turns.store.read(look_at, asked.account, *place, size, unknown)
        resolution = resolved(look.facts.policies, asked.policy)
        message, rewrites = None, tuple[ScriptTrace, ...]()
        if asked.message is not None:
            text, rewrites = await rewritten(bundle, asked.message, "user_input", "persist", asked.session)
            message = TurnMessage(text)
        model = self._model(look.facts)
        preparation = Preparation(
            seen=Seen(look.facts, look.past.entries, look.past.is_cut, Staged(look.layers, now=now_ms), look.past.unread),
            message=message,
            intent=asked.intent,
            run_kind=run_kind,
            phase="dry_run" if run_kind == "dry_run" else "assemble",
            policy=resolution.policy,
            params=merged_params(
                look.facts.bindings.get("model_params"), asked.params, bundle.params, self._slot_params(look.facts)
            ),
            recalled=past_macros(look.past),
            estimator=self.estimators.of(model),
            model=model,
            assets=bundle.assets,
            rewrites=rewrites,
        )
        memory = await self.reminded(asked.account, look, preparation)
        if memory is not NO_PROMPT_MEMORY:
            preparation = replace(preparation, memory=memory)
        return LookedAt(look, resolution, await preparation.prepared(), bundle, preparation.params)

    async def reminded(self, account: str, look: Look, preparation: Preparation) -> PromptMemory:
        """What a prompt of a chat that is looked at is reminded of. Raises the store's errors."""
        scope = look.scope
        branch_id = scope.target_branch_id if scope.branch_exists or look.head_id is not None else MAIN
        spot = MemorySpot(scope.session_id, branch_id, look.head_id)
        return await self._reminder.remind(asked_of(preparation, account, spot, look.session.memory))

    def _model(self, chat: ChatFacts) -> str | None:
        """The model that a chat's turns ask."""
        return self.choice.model_name(self.choice.model(chat))

    def _slot_params(self, chat: ChatFacts) -> Mapping[str, Json]:
        """The parameters of a chat's narrator."""
        return self.choice.model(chat).params

    def _narrator_params(self, chat: ChatFacts) -> Mapping[str, Json]:
        """The same, of a turn. Raises 409 ``instance_slot_disabled_required`` where the narrator is disabled: here, before
        anything is opened."""
        config = choose_config("narrator", chat.models.configs)
        if config is not None and not config.enabled:
            raise failure(
                "instance_slot_disabled_required",
                "The narrator is disabled by an instance config, and no turn is without one.",
                instance_slot="narrator",
                scope=config.scope,
            )
        return self._slot_params(chat)

    def _estimator(self, chat: ChatFacts) -> TokenEstimator:
        return self.estimators.of(self._model(chat))

    async def bundle_of(self, request: TurnRequest) -> Bundle:
        """What the prompts of a turn's session are made of; nothing where there is no such session. Raises the store's
        errors."""
        return await self.bundles.load(request.account, await self.turns.store.read(find_bindings, request.account, request))
