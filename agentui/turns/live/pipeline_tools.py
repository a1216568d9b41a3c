"""Tools that are pipelines: a call is a run of its own, whose answer is the result."""

from collections.abc import Mapping
from functools import partial

from agentui.chat.messages import text_message
from agentui.definitions.records import PipelineHandler
from agentui.definitions.templates import ARGUMENTS, arguments_scope, compiled
from agentui.errors import BadRequest
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.engine import Engine, RunRequest
from agentui.pipeline.run import Run
from agentui.pipeline.sink import NullSink
from agentui.templating.core.problems import TemplateRenderError
from agentui.templating.hadtavern.template import TextLanguage
from agentui.threads import apart
from agentui.tools.arguments import size_of
from agentui.tools.grant import ToolGrant
from agentui.tools.tool import CallPlace, Handler, ToolAnswer, ToolCallContext
from agentui.turns.live.choice import PipelineChoice, SessionModel
from agentui.turns.live.generation import NO_PARAMS, Conversation, chat_of
from agentui.upstream.headers import HOPS
from agentui.vendors.base import Vendors

MAX_WITHIN = 4
"""How many runs may stand within each other, the outermost counted."""


class PipelineTools:
    """Serves the calls of tools that are pipelines.

    A run is made in the name of who made the calling one, and sees nothing else of the caller's: neither its key nor its chat
    nor the stored variables. What it may call is what the run that called it may, and its calls are counted with that one's.
    """

    def __init__(self, engine: Engine, choice: PipelineChoice, vendors: Vendors) -> None:
        self._engine = engine
        self._choice = choice
        self._vendors = vendors

    def handler(self, definition: PipelineHandler) -> Handler:
        """What serves the calls of one definition."""

        async def handle(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
            grant = context.inner if isinstance(context.inner, ToolGrant) else None
            return await self._serve(definition, arguments, grant, context.place)

        return handle

    async def _serve(
        self, definition: PipelineHandler, arguments: Mapping[str, Json], grant: ToolGrant | None, place: CallPlace
    ) -> ToolAnswer:
        """Run the pipeline. Raises BadRequest for one that runs already or stands too deep, NotFound and InvalidPipeline."""
        id = definition.pipeline_id
        within = () if grant is None else grant.within
        if id in within:
            raise BadRequest(f"The pipeline {id!r} is running already: a pipeline cannot be a tool of itself.")
        if len(within) >= MAX_WITHIN:
            raise BadRequest(f"Pipelines that are tools of each other stand {MAX_WITHIN} deep at most.")
        plan = self._choice.plan(id, None, SessionModel())
        text = await apart(size_of(arguments), partial(_input, definition, arguments))
        chat = chat_of([text_message("user", text)], definition.model, NO_PARAMS)
        begun: list[Run] = []
        request = RunRequest(
            place.principal,
            plan,
            await Conversation(chat, {HOPS: str(place.hops - 1)}, "", self._vendors).incoming(),
            on_begin=begun.append,
            tools=grant,
            run_vars={ARGUMENTS: dict(arguments)},
            purpose="tool",
            serves=place.session_id or None,
        )
        result = await self._engine.run(request, NullSink())
        if result.error is not None:
            message = begun[0].redactor.redact(result.error.message)
            return ToolAnswer(f"Error: the pipeline {id!r} failed: {message}", {"run_id": result.run_id}, is_error=True)
        return ToolAnswer(result.answer.text, {"run_id": result.run_id, "text": result.answer.text})


def _input(definition: PipelineHandler, arguments: Mapping[str, Json]) -> str:
    """What the run's user says. Raises BadRequest for arguments that do not fit the template."""
    if not definition.input.strip():
        return dumps_text(dict(arguments))
    try:
        return compiled("input", TextLanguage(), definition.input).render(arguments_scope(arguments))
    except TemplateRenderError as error:
        raise BadRequest(f"The arguments do not fit the pipeline's input: {error.message}") from error
