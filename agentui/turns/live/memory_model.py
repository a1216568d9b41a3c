"""``MemoryModel``: asks the model of the slot ``memory``, else the session's own, what to remember."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agentui.chat.messages import text_message
from agentui.jsonio import Json
from agentui.pipeline.engine import Engine, RunRequest
from agentui.pipeline.run import Run
from agentui.pipeline.sink import NullSink
from agentui.principal import Principal
from agentui.profiles.resolver import choose_config
from agentui.turns.live.choice import PipelineChoice
from agentui.turns.live.generation import Conversation, chat_of, merged_params
from agentui.turns.request import ChatFacts
from agentui.vendors.base import Vendors

OWN: Final = "memory"
"""The id under which runs of the pipeline below are told."""
DOCUMENT: Final[Mapping[str, Json]] = {
    "format": 1,
    "name": "Memory",
    "nodes": [{"id": "n1", "type": "ProviderCall", "config": {"provider": "caller", "session_model": True}}],
    "edges": [],
    "answer": "n1",
}
"""The pipeline where the settings name none: a call of the session's model, or of the profile of its slot."""


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """What a model is asked: what it is to do, the data, and how much it may say, how freely."""

    system: str
    data: str
    most_tokens: int
    temperature: float = 0.2


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """What a model said, and the tokens that it took."""

    text: str
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class MemoryModel:
    """Asks models. ``pipeline`` is the one that the settings name; "" for the one above."""

    engine: Engine
    choice: PipelineChoice
    vendors: Vendors
    pipeline: str = ""

    def is_disabled(self, chat: ChatFacts) -> bool:
        """Whether an instance config switches the slot off."""
        config = choose_config("memory", chat.models.configs)
        return config is not None and not config.enabled

    async def ask(
        self, principal: Principal, chat: ChatFacts, question: MemoryQuestion, caller: "Caller | None" = None
    ) -> MemoryAnswer:
        """Ask, in somebody's name and at the expense of whom the call is counted to. Raises AgentUIError: what the run came to,
        what its upstream or its budget said, without keys."""
        model = self.choice.model(chat, "memory")
        said: dict[str, Any] = {"temperature": question.temperature, "max_output_tokens": question.most_tokens}
        params = merged_params(None, {}, slot={**said, **model.params})
        messages = [text_message("system", question.system), text_message("user", question.data)]
        asked = chat_of(messages, self.choice.model_name(model), params, stream=False)
        by = caller or Caller()
        begun: list[Run] = []

        def begin(run: Run) -> None:
            run.bound = self.choice.binding(model)
            model.tell(run)
            begun.append(run)

        own = self.choice.plan_of(OWN, DOCUMENT, model) if not self.pipeline else None
        plan = own or self.choice.plan(self.pipeline, None, model)
        incoming = await Conversation(asked, by.headers, by.api_key, self.vendors).incoming()
        request = RunRequest(principal, plan, incoming, on_begin=begin, purpose="memory", serves=chat.id)
        result = await self.engine.run(request, NullSink())
        if result.error is not None:
            # An upstream may repeat a key in what it says of it, and what a job says of its failure is kept and shown.
            result.error.message = begun[0].redactor.redact(result.error.message)
            raise result.error
        usage = result.answer.usage
        return MemoryAnswer(begun[0].redactor.redact(result.answer.text), usage.input or 0, usage.output or 0)


@dataclass(frozen=True, slots=True)
class Caller:
    """What came with the request of a turn: a job has none of it."""

    headers: Mapping[str, str] = field(default_factory=dict)
    api_key: str = field(default="", repr=False)
