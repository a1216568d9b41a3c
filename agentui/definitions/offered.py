"""The defined tools as models are offered them."""

from collections.abc import Callable, Collection

from agentui.definitions.http import HttpTemplates, HttpTools
from agentui.definitions.records import Definition, HttpHandler, PipelineHandler
from agentui.definitions.stored import enabled_definitions
from agentui.definitions.templates import compiled
from agentui.store.base import Store
from agentui.templating.hadtavern.template import TextLanguage
from agentui.tools.tool import ALL_SLOTS, Handler, HostedTool

GROUP = "definitions"
"""What nodes choose all defined tools by."""
SPARE_SECONDS = 1.0
"""How much longer a call may take than what serves it, so that this can tell how it ended."""

ServePipeline = Callable[[PipelineHandler], Handler]
"""Gives what serves the calls of a tool that is a pipeline."""


class DefinedTools:
    """The source of the tools that users defined; ``pipelines`` serves those that are runs."""

    def __init__(self, store: Store, http: HttpTools, pipelines: ServePipeline) -> None:
        self._store = store
        self._http = http
        self._pipelines = pipelines

    async def tools(self, account: str, taken: Collection[str]) -> list[HostedTool]:
        """An account's tools that are on. Names in ``taken`` are others' and never replaced."""
        definitions = await self._store.read(enabled_definitions, account)
        return [self.hosted(definition) for definition in definitions if definition.name not in taken]

    def hosted(self, definition: Definition) -> HostedTool:
        """The tool that a definition makes, whether or not it is on."""
        handler, side_effect = definition.handler, definition.side_effect_level
        return HostedTool(
            name=definition.name,
            description=definition.description,
            parameters=definition.parameters,
            handler=self._http.handler(handler, side_effect) if isinstance(handler, HttpHandler) else self._pipelines(handler),
            group=GROUP,
            provider_type="preset",
            provider_id=definition.id,
            side_effect=side_effect,
            replay_safety="safe" if side_effect == "none" else "confirm_on_replay",
            slots=frozenset(definition.allowed_slots) or ALL_SLOTS,
            timeout=handler.timeout_ms / 1000 + SPARE_SECONDS,
        )


def check_handler(handler: HttpHandler | PipelineHandler) -> None:
    """Raises Fault where a handler's templates are wrong."""
    if isinstance(handler, HttpHandler):
        HttpTemplates.of(handler)
    else:
        compiled("input", TextLanguage(), handler.input)
