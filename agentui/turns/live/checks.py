"""Director and verifier: pipelines that say something of a turn before and after its answer.

The director sees the turn's conversation; what it answers becomes a section of the prompt. The verifier sees the conversation
with the answer behind it, and says ``{"status": "pass" | "fail", "issues": [...], "suggestion": "..."}``. Neither sees or
writes stored variables, but by tools: they judge a turn and are none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentui.chat.messages import text_message
from agentui.errors import AgentUIError
from agentui.jsonio import InvalidJson, Json, loads, members
from agentui.pipeline.engine import Engine, RunRequest
from agentui.pipeline.run import Run
from agentui.pipeline.sink import NullSink
from agentui.principal import Principal
from agentui.profiles.resolver import choose_config
from agentui.prompt.prepared import ExtraSection, Note
from agentui.tools.grant import ToolGrant
from agentui.turns.live.choice import PipelineChoice
from agentui.turns.live.generation import Conversation
from agentui.turns.request import ChatFacts

ASK_DIRECTOR = (
    "[You are the director of this conversation. Do not answer the last message yourself: say in a few sentences what the "
    "next answer should do.]"
)
ASK_VERIFIER = (
    "[Judge the last answer of this conversation: does it fit the instructions and what was said before? Answer with nothing "
    'but JSON: {"status": "pass" or "fail", "issues": ["what is wrong", ...], "suggestion": "how to do better"}.]'
)
MOST_ISSUES = 20
MOST_TEXT = 2000
"""Characters of an issue or a suggestion that are kept."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verifier said of an answer. ``skipped``: it was not asked, or could not be understood; ``issues`` say why."""

    status: Literal["pass", "fail", "skipped"] = "skipped"
    suggestion: str | None = None
    issues: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """As events show it."""
        return {**members(self), "issues": list(self.issues)}

    def section(self) -> ExtraSection:
        """What the next attempt is told."""
        told = ["An answer to this was refused.", *self.issues, *([self.suggestion] if self.suggestion else [])]
        return ExtraSection("verifier", "verifier", "\n".join(told))


SKIPPED = Verdict()
"""Nobody asked."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What the director said; ``notes`` tell why it said nothing."""

    text: str = ""
    notes: tuple[Note, ...] = ()

    def sections(self, name: str) -> tuple[ExtraSection, ...]:
        """It as a section of the prompt."""
        return (ExtraSection(name, name, self.text),) if self.text.strip() else ()


class Adviser:
    """Asks directors and verifiers, in the name of who asked for the turn. ``director`` and ``verifier`` are the server's own,
    for sessions that name none."""

    def __init__(self, engine: Engine, choice: PipelineChoice, *, director: str, verifier: str) -> None:
        self._engine = engine
        self._choice = choice
        self._pipelines = {"director": director, "verifier": verifier}

    async def direct(self, principal: Principal, conversation: Conversation, chat: ChatFacts, tools: ToolGrant) -> Advice:
        """What the director says of the turn that is about to be answered."""
        asked = conversation.saying(text_message("user", ASK_DIRECTOR))
        text, complaint = await self._ask("director", principal, asked, chat, tools)
        return Advice(text) if complaint is None else Advice(notes=(Note("director_skipped", complaint, "director"),))

    async def verify(
        self, principal: Principal, conversation: Conversation, answer: str, chat: ChatFacts, tools: ToolGrant
    ) -> Verdict:
        """What the verifier says of an answer. Where it fails itself the answer is not held against it."""
        asked = conversation.saying(text_message("assistant", answer or "(nothing)"), text_message("user", ASK_VERIFIER))
        text, complaint = await self._ask("verifier", principal, asked, chat, tools)
        return Verdict(issues=(complaint,)) if complaint is not None else verdict_of(text)

    async def _ask(
        self,
        role: Literal["director", "verifier"],
        principal: Principal,
        conversation: Conversation,
        chat: ChatFacts,
        tools: ToolGrant,
    ) -> tuple[str, str | None]:
        """What the pipeline of a role answers, or why it does not."""
        bound = chat.bindings
        pipeline = bound.get(f"{role}_pipeline_id") or self._pipelines[role]
        if not pipeline:
            setting = f"AGENTUI_{role.upper()}_PIPELINE"
            return "", f"No pipeline is set for the {role}: the session names none in {role}_pipeline_id, nor does {setting}."
        config = choose_config(role, chat.models.configs)
        if config is not None and not config.enabled:
            return "", f"The {role} is disabled by an instance config."
        model = self._choice.model(chat, role)
        if model.served is not None:
            conversation = conversation.asking(self._choice.model_name(model), model.params)
        begun: list[Run] = []

        def begin(run: Run) -> None:
            run.bound = self._choice.binding(model)
            model.tell(run)
            begun.append(run)

        try:
            plan = self._choice.plan(pipeline, None, model)
            incoming = await conversation.incoming()
            request = RunRequest(principal, plan, incoming, on_begin=begin, tools=tools, purpose=role, serves=chat.id)
            result = await self._engine.run(request, NullSink())
        except AgentUIError as error:
            return "", f"The {role}'s pipeline {pipeline!r} cannot run: {error.message}"
        if result.error is not None:
            # An upstream may repeat a key in what it says of it, and a complaint is kept and shown.
            said = begun[0].redactor.redact(result.error.message)
            return "", f"The {role}'s pipeline {pipeline!r} failed: {said}"
        return result.answer.text, None


def verdict_of(text: str) -> Verdict:
    """A verdict out of a model's words: the JSON object in them."""
    start, end = text.find("{"), text.rfind("}")
    try:
        said = loads(text[start : end + 1].encode()) if 0 <= start < end else None
    except InvalidJson:
        said = None
    if not isinstance(said, Mapping) or said.get("status") not in ("pass", "fail"):
        return Verdict(issues=("The verifier's answer is no verdict: JSON with status pass or fail was asked for.",))
    issues, suggestion = said.get("issues"), said.get("suggestion")
    told = issues if isinstance(issues, list) else []
    return Verdict(
        said["status"],
        suggestion[:MOST_TEXT] if isinstance(suggestion, str) and suggestion else None,
        tuple(issue[:MOST_TEXT] for issue in told[:MOST_ISSUES] if isinstance(issue, str)),
    )
