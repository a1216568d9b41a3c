"""What the handlers share: made once by ``create_app``, reached through one typed key."""

from dataclasses import dataclass

from aiohttp import web

from agentui.api.ops.telemetry import Telemetry
from agentui.api.proxy.detached import DetachedRuns
from agentui.http.workers import Workers
from agentui.jobs.runner import JobRunner
from agentui.pipeline.engine import Engine
from agentui.pipeline.history import RunHistory
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.node import Catalog
from agentui.pipeline.run import Services
from agentui.presets import PresetLibrary
from agentui.redaction import Redactor
from agentui.settings import Settings
from agentui.store.base import Store
from agentui.store.health import StoreHealth
from agentui.turns.service import TurnService


@dataclass
class State:
    """The wired-up server. ``owner`` names this process to others that share its memory."""

    settings: Settings
    catalog: Catalog
    pipelines: PipelineLibrary
    presets: PresetLibrary
    services: Services
    engine: Engine
    history: RunHistory
    redactor: Redactor
    store: Store
    store_health: StoreHealth
    jobs: JobRunner
    turns: TurnService
    owner: str
    workers: Workers
    telemetry: Telemetry
    detached: DetachedRuns
    in_flight: int = 0


STATE: web.AppKey[State] = web.AppKey("state", State)
