"""The history of a client, sent as the prompt of its session: with its character, persona, preset, lore and scripts.

x-agentui-assemble: session    whatever the session says
x-agentui-assemble: off        the request goes on as it came, whatever the session says

Without the header it is the session's setting ``assemble``. The client's conversation is what was said; what the model gets is
made of it as for a live turn, and goes on in the client's own dialect.

A pipeline with Prompt Blocks of the kind ``assembled`` has the prompt made in any case; where nothing else asks for it the
request goes on as it came, and the blocks put the prompt where they stand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from agentui.chat.messages import Part, Text
from agentui.chats.parts import Content, content_of
from agentui.errors import BadRequest
from agentui.jsonio import Json, dumps_text
from agentui.library.bundles import Bundle, Bundles
from agentui.pipeline.macros import ChatMacros
from agentui.pipeline.run import Run
from agentui.prompt.history import NOTHING_UNREAD
from agentui.prompt.policy import Resolution
from agentui.prompt.prepared import PreparedTurn, PromptIntent
from agentui.regexes.scripts import ScriptTrace
from agentui.threads import apart
from agentui.turns.live.explaining import explained
from agentui.turns.live.generation import filled, given_params, left_open, merged_params
from agentui.turns.live.preparing import (
    Estimators,
    Preparation,
    Seen,
    assembled_prompt,
    history_reach,
    past_macros,
    stage_mutations,
)
from agentui.turns.live.rewriting import rewritten, rewritten_messages
from agentui.turns.live.words import parts_with_text
from agentui.turns.placing.matching import Kind
from agentui.turns.placing.placed import AUTO, read_intent
from agentui.turns.request import ChatFacts, Reach, TurnRequest
from agentui.turns.rules import resolved
from agentui.turns.service import Turn, TurnService
from agentui.turns.targets import find_bindings
from agentui.turns.thin.conversation import parted, talk_of

HEADER: Final = "x-agentui-assemble"
_INTENTS: Final[Mapping[Kind, PromptIntent]] = {"regenerate": "regenerate", "continue": "continue"}


class Assembler:
    """Knows which requests are assembled. ``bundles`` and ``estimators`` are those of live turns."""

    def __init__(self, turns: TurnService, bundles: Bundles, estimators: Estimators) -> None:
        self._turns = turns
        self._bundles = bundles
        self.estimators = estimators

    async def wanted(self, run: Run, session: str) -> "Assembly | None":
        """How a chat request that names this session is assembled; None where it goes on as it came.

        Raises BadRequest: another value of the header, a session that cannot be named yet (``auto``), one that has nothing to
        make a prompt of, a conversation that is kept elsewhere.
        """
        wish, is_placed = check_wish(run.incoming.headers), run.plan.assembles
        if session == AUTO and wish == "session":
            raise BadRequest(f"{HEADER} needs a session that is named: what auto finds is known only later.", param=HEADER)
        if session == AUTO or (wish == "off" and not is_placed):
            return None
        if wish is None and not is_placed and self._turns.store.is_blank:
            return None
        request = TurnRequest(run.account, "", session, run.incoming.headers.get("x-agentui-branch") or None)
        bindings = await self._turns.store.read(find_bindings, run.account, request)
        is_sent = wish == "session" or (wish is None and bool(bindings.get("assemble")))
        if not is_sent and not is_placed:
            return None
        bundle = await self.load(run.account, bindings)
        if is_sent and bundle.assets.is_empty and not bindings.get("character_snapshot"):
            raise BadRequest(
                "The session has nothing that a prompt could be assembled of: bind a character, a user, a preset, a worldbook "
                f"or a regex profile to it (PATCH /sessions/:id), or send {HEADER}: off.",
                param=HEADER,
            )
        chat = await run.incoming.worked_out(lambda: run.incoming.chat)
        if chat.needs_state is not None:
            raise BadRequest(
                f"With {chat.needs_state!r} the conversation is kept at the provider, and cannot be assembled here: send the "
                f"whole of it, or {HEADER}: off.",
                param=chat.needs_state,
            )
        return Assembly(self, run, session, bundle, is_sent=is_sent)

    async def load(self, account: str, bindings: Mapping[str, Json]) -> Bundle:
        """What the prompts of an account's session with these bindings are made of. Raises the store's errors."""
        return await self._bundles.load(account, bindings)


def check_wish(headers: Mapping[str, str]) -> str | None:
    """What the header says; None where it is not sent. Raises BadRequest for what it cannot say, and where no session is
    named."""
    wish = headers.get(HEADER, "").strip().lower()
    if not wish:
        return None
    if wish not in ("session", "off"):
        raise BadRequest(f"{HEADER} is one of session, off.", param=HEADER)
    if wish == "session" and not headers.get("x-agentui-session"):
        raise BadRequest(f"{HEADER} needs a session: name it with the header x-agentui-session.", param=HEADER)
    return wish


class OtherAssets(Exception):
    """The branch of a turn has other assets than those that its request was read with."""

    def __init__(self, bindings: Mapping[str, Json]) -> None:
        super().__init__()
        self.bindings = bindings


@dataclass(slots=True)
class _Made:
    """The prompt of a turn, once it was made, and by which rules."""

    prepared: PreparedTurn
    resolution: Resolution


class Assembly:
    """One request on its way through the assembly. ``is_sent``: the run is asked the prompt instead of what the client sent."""

    def __init__(self, assembler: Assembler, run: Run, session: str, bundle: Bundle, *, is_sent: bool) -> None:
        self.is_sent = is_sent
        self._assembler = assembler
        self._run = run
        self._session = session
        self._bundle = bundle
        self._given = given_params(run.incoming.chat.params)
        self._made: _Made | None = None
        self._rewrites: tuple[ScriptTrace, ...] = ()

    async def with_assets(self, bindings: Mapping[str, Json]) -> "Assembly":
        """The same request, assembled of what these bindings name. Raises the store's errors."""
        bundle = await self._assembler.load(self._run.account, bindings)
        return Assembly(self._assembler, self._run, self._session, bundle, is_sent=self.is_sent)

    def history(self, facts: ChatFacts) -> Reach:
        """How much of its past the turn may need. Raises OtherAssets where the chat has others: the turn was put on a branch
        that keeps its own, or somebody bound the session anew."""
        if not self._bundle.is_of(facts.bindings):
            raise OtherAssets(facts.bindings)
        return history_reach({}, self._bundle, self._given, None, facts)

    async def kept_question(self, text: str, parts: tuple[Part, ...]) -> Content:
        """What the user says, as it is kept: after the scripts that are for it."""
        kept, self._rewrites = await rewritten(self._bundle, text, "user_input", "persist", self._session)
        if kept == text:
            return await content_of(text, parts)
        same = tuple(Text(kept) if isinstance(part, Text) and part.text == text else part for part in parts)
        content = await content_of(kept, same if same != parts else parts_with_text(parts, kept))
        return replace(content, sent=text)

    async def kept_answer(self, text: str, parts: tuple[Part, ...]) -> Content:
        """What the model said, likewise; the client has got it as it came."""
        redact = self._run.redactor.redact
        kept, rewrites = await rewritten(self._bundle, text, "ai_output", "persist", self._session)
        if self._made is not None:
            prepared = self._made.prepared
            self._made.prepared = replace(prepared, scripts=prepared.scripts.with_kept(answer=rewrites))
        if kept == text:
            return await content_of(text, parts, redact)
        content = await content_of(kept, parts_with_text(parts, kept), redact)
        return replace(content, sent=text)

    async def put(self, turn: Turn, kind: Kind, own: Sequence[str] | None = None) -> None:
        """Have the run ask what the session makes of the client's conversation; what macros and lore changed is staged.
        ``own`` are the person's words, where not all in the user's name are (``Placer.own``).

        Raises AgentUIError where it cannot be said in the client's dialect.
        """
        run, facts = self._run, turn.facts
        assert facts is not None  # every assembled turn asks for its history
        chat = run.incoming.chat
        intent = read_intent(run.incoming.headers.get("x-agentui-intent"))
        # Scripts are for what the person says, and not for what a preset says in the user's name.
        sent, behind = parted(chat.messages, own[-1]) if own else (chat.messages, ())
        messages = await rewritten_messages(self._bundle, sent, facts.id)
        talk = talk_of(messages, turn.place.floor.floor_no, turn.past, continues=kind == "continue", behind=behind)
        resolution = resolved(facts.policies)
        params = merged_params(facts.bindings.get("model_params"), self._given, self._bundle.params)
        preparation = Preparation(
            seen=Seen(facts, talk.entries, talk.is_cut, turn.staged(), None if talk.is_cut else NOTHING_UNREAD),
            message=talk.message,
            intent=_INTENTS.get(kind, intent or "normal"),
            run_kind=turn.place.kind,
            policy=resolution.policy,
            params=params,
            extra=talk.extra,
            words=talk.words,
            recalled=past_macros(turn.past),
            estimator=self._assembler.estimators.of(run.incoming.model),
            assets=self._bundle.assets,
            model=run.incoming.model,
            rewrites=self._rewrites,
            is_plain=True,
        )
        prepared = await preparation.prepared()
        self._made = _Made(prepared, resolution)
        stage_mutations(prepared, turn.staged())
        run.assembled = assembled_prompt(prepared)
        if self.is_sent:
            await self._send(prepared, left_open(params, self._given))
        told = prepared.macro_scope
        run.chat = ChatMacros(told.values, told.idle, told.greetings)

    async def _send(self, prepared: PreparedTurn, own: Mapping[str, Json]) -> None:
        """Have the run answer the prompt, with the session's ``own`` parameters where the client leaves them open."""
        run, incoming = self._run, self._run.incoming
        asked = partial(incoming.saying, prepared.messages, lambda wire: filled(incoming.vendors[wire.vendor], wire, own))
        size = len(incoming.body) + sum(len(message.text) for message in prepared.messages)
        run.replace_incoming(await apart(size, asked))

    def explained(self, turn: Turn) -> str:
        """What is kept of the prompt, as JSON."""
        assert self._made is not None  # a turn that is kept has asked
        document = explained(turn.place, self._made.prepared, self._made.resolution, self._bundle)
        return dumps_text(self._run.redactor.redact_json(document))

    def learn(self, reported: int | None) -> None:
        """The provider counted so many tokens, which tells something of the prompt where that is what was sent."""
        assert self._made is not None
        if not self.is_sent:
            return
        self._assembler.estimators.learn(self._run.incoming.model, self._made.prepared.token_estimate, reported)
