"""What the handlers share: made once by ``create_app``, reached through one typed key."""

from dataclasses import dataclass

from aiohttp import web

from agentui.api.desk import LazyDesk
from agentui.pipeline.executor import PipelineExecutor
from agentui.pipeline.history import RunHistory
from agentui.pipeline.library import PipelineLibrary, PresetLibrary
from agentui.pipeline.node import Catalog
from agentui.pipeline.run import Services
from agentui.redaction import Redactor
from agentui.settings import Settings
from agentui.store.lazy import LazyStore


@dataclass
class State:
    """The wired-up server. ``owner`` names this process to others that share its memory."""

    settings: Settings
    catalog: Catalog
    pipelines: PipelineLibrary
    presets: PresetLibrary
    services: Services
    executor: PipelineExecutor
    history: RunHistory
    redactor: Redactor
    store: LazyStore
    desk: LazyDesk
    owner: str
    in_flight: int = 0


STATE: web.AppKey[State] = web.AppKey("state", State)
