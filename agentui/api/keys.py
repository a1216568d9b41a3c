"""The services that handlers share, each under a typed key: a handler takes from its application what it needs.

``create_app`` puts them there. What knows aiohttp itself has its key beside it (``WORKERS``, ``TELEMETRY``).
"""

import asyncio

from aiohttp import web

from agentui.accounts.passwords import Passwords
from agentui.accounts.sign_in import SignInService
from agentui.assets.files.limits import FileLimits
from agentui.definitions.offered import DefinedTools
from agentui.jobs.runner import JobRunner
from agentui.mcp.servers import McpServers
from agentui.memories.recall import Recall
from agentui.memories.sights import Sights
from agentui.owned.documents import OwnDocuments
from agentui.pipeline.engine import Engine
from agentui.pipeline.history import RunHistory
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.node import Catalog
from agentui.pipeline.run import Services
from agentui.presets import PresetLibrary
from agentui.profiles.service import LlmProfiles
from agentui.store.base import Store
from agentui.store.health import StoreHealth
from agentui.tools.vars.rule_folder import RuleFolder
from agentui.turns.live.driver import LiveTurns
from agentui.turns.service import TurnService
from agentui.turns.thin.assembler import Assembler
from agentui.usage.meter import UsageMeter

SIGN_INS: web.AppKey[SignInService] = web.AppKey("sign_ins", SignInService)
PASSWORDS: web.AppKey[Passwords] = web.AppKey("passwords", Passwords)
CATALOG: web.AppKey[Catalog] = web.AppKey("catalog", Catalog)
PIPELINES: web.AppKey[PipelineLibrary] = web.AppKey("pipelines", PipelineLibrary)
OWN: web.AppKey[OwnDocuments] = web.AppKey("own", OwnDocuments)
"""Pipelines, presets and keys of accounts."""
PRESETS: web.AppKey[PresetLibrary] = web.AppKey("presets", PresetLibrary)
SERVICES: web.AppKey[Services] = web.AppKey("services", Services)
"""What nodes may use: dialects, upstreams, secrets."""
DEFINED: web.AppKey[DefinedTools] = web.AppKey("defined", DefinedTools)
"""The tools that users defined."""
FILE_LIMITS: web.AppKey[FileLimits] = web.AppKey("file_limits", FileLimits)
RULES: web.AppKey[RuleFolder] = web.AppKey("rules", RuleFolder)
"""The skill rules of this server."""
STOPPING: web.AppKey[asyncio.Event] = web.AppKey("stopping", asyncio.Event)
"""Set once the server takes no more connections."""
ENGINE: web.AppKey[Engine] = web.AppKey("engine", Engine)
HISTORY: web.AppKey[RunHistory] = web.AppKey("history", RunHistory)
STORE: web.AppKey[Store] = web.AppKey("store", Store)
STORE_HEALTH: web.AppKey[StoreHealth] = web.AppKey("store_health", StoreHealth)
METER: web.AppKey[UsageMeter] = web.AppKey("meter", UsageMeter)
"""Counts the calls to models."""
JOBS: web.AppKey[JobRunner] = web.AppKey("jobs", JobRunner)
MCP: web.AppKey[McpServers] = web.AppKey("mcp", McpServers)
LLM_PROFILES: web.AppKey[LlmProfiles] = web.AppKey("llm_profiles", LlmProfiles)
RECALL: web.AppKey[Recall] = web.AppKey("recall", Recall)
SIGHTS: web.AppKey[Sights] = web.AppKey("sights", Sights)
"""What is seen of memories from the places that were asked for."""
LIVE: web.AppKey[LiveTurns] = web.AppKey("live", LiveTurns)
"""Turns that this server generates itself, for callers of the memory's API."""
ASSEMBLER: web.AppKey[Assembler] = web.AppKey("assembler", Assembler)
"""Makes the prompts of proxied turns, where their sessions are to."""
TURNS: web.AppKey[TurnService] = web.AppKey("turns", TurnService)
