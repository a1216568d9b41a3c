"""A provider asked for its models, or one of them for a word, before anything is kept: with what a turn would send.

What goes out is what a ProviderCall of a profile's fields sends, so that what works here works in turns. Nothing of it is a run
that lists show, and no stored secret but the profile's own is in reach.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiohttp import web

from agentui.api.keys import CATALOG, SERVICES
from agentui.chat.messages import text_message
from agentui.chats.codes import failure
from agentui.errors import AgentUIError, UpstreamInvalid
from agentui.http.guard import RUN_REDACTOR
from agentui.http.keys import PRINCIPAL, REDACTOR
from agentui.jsonio import Json
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.provider_call import ProviderCall
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.run import Run
from agentui.profiles.providers import call_fields, list_path, other_dialect
from agentui.profiles.records import Provider
from agentui.redaction import Redactor
from agentui.schemas.profiles import DiscoveredModel
from agentui.secrets.store import Secret
from agentui.turns.live.generation import Conversation, chat_of

ID = "profile"
"""The id of the node and of the pipeline that asks; nobody sees either."""
DISCOVERY_SECONDS = 10.0
"""How long a provider has for its list (TavernHeadless' contract, 6.1)."""
TRIAL_SECONDS = 60.0
"""How long a model has for each attempt to answer."""
MAX_LISTED = 5000
HELLO = "Hello"


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom to ask, with which key."""

    provider: Provider
    base_url: str | None
    key: Secret


async def discovered(request: web.Request, asked: Asked) -> list[DiscoveredModel]:
    """The models that a provider lists. Raises 502 ``model_discovery_failed``, 502 ``model_discovery_invalid_response``."""
    vendors = request.app[SERVICES].vendors
    path, _, query = list_path(vendors, asked.provider, asked.base_url).partition("?")
    incoming = Incoming("GET", "", path, query, {}, {}, b"", None, None, None, vendors)
    fields = call_fields(vendors, asked.provider, asked.base_url, "", asked.key.name)
    try:
        node, ctx = await _node(request, asked, fields, incoming, DISCOVERY_SECONDS)
        async with asyncio.timeout(DISCOVERY_SECONDS):
            models = await node.list_models(ctx)
    except UpstreamInvalid as error:
        raise failure("model_discovery_invalid_response", _said(request, error)) from error
    except AgentUIError as error:
        raise failure("model_discovery_failed", _said(request, error)) from error
    except TimeoutError as error:
        raise failure("model_discovery_failed", f"The provider gave no list within {DISCOVERY_SECONDS:.0f} seconds.") from error
    return [DiscoveredModel(model.id, model.display_name or model.id) for model in models[:MAX_LISTED]]


async def tried(request: web.Request, asked: Asked, model: str, effort: str | None) -> str:
    """What a model answers to a word: whole, else streamed, else by OpenAI's Responses, where the provider speaks OpenAI's
    dialect. Raises 502 ``model_test_failed`` with what was said to the first attempt, 502 ``model_test_invalid_response``."""
    vendors = request.app[SERVICES].vendors
    fields = call_fields(vendors, asked.provider, asked.base_url, model, asked.key.name)
    attempts: list[tuple[dict[str, Json], bool]] = [(fields, False), (fields, True)]
    if (other := other_dialect(fields)) is not None:
        attempts.append((other, False))
    params: Mapping[str, Json] = {} if effort is None else {"reasoning_effort": effort}
    failures: list[AgentUIError] = []
    for config, is_streamed in attempts:
        try:
            return await _answer(request, asked, config, params, is_streamed=is_streamed)
        except AgentUIError as error:
            failures.append(error)
    return _raise(request, failures)


def _raise(request: web.Request, failures: Sequence[AgentUIError]) -> str:
    first = failures[0]  # the later attempts say what other ways of asking come to, which fewer people mean
    code = "model_test_invalid_response" if isinstance(first, UpstreamInvalid) else "model_test_failed"
    raise failure(code, _said(request, first)) from first


async def _answer(
    request: web.Request, asked: Asked, config: dict[str, Json], params: Mapping[str, Json], *, is_streamed: bool
) -> str:
    """The words of one attempt. Raises AgentUIError."""
    vendors = request.app[SERVICES].vendors
    chat = chat_of([text_message("user", HELLO)], str(config["model"]), params, stream=is_streamed)
    incoming = await Conversation(chat, {}, "", vendors).incoming()
    node, ctx = await _node(request, asked, config, incoming, TRIAL_SECONDS)
    out = await node.run(ctx)
    return str(out.get("response_text") or "")


async def _node(
    request: web.Request, asked: Asked, config: dict[str, Json], incoming: Incoming, seconds: float
) -> tuple[ProviderCall, NodeContext]:
    """A node that asks, and a run around it that nobody executes. Raises InvalidPipeline."""
    app = request.app
    node: Json = {"id": ID, "type": "ProviderCall", "config": config}
    document: Mapping[str, Json] = {"format": 1, "name": ID, "nodes": [node], "edges": []}
    plan = await asyncio.to_thread(compile_plan, ID, document, app[CATALOG])
    redactor = request[RUN_REDACTOR] = app[REDACTOR].child()
    redactor.register(asked.key.value)
    run = Run(request[PRINCIPAL], plan, incoming, app[SERVICES], redactor, time.monotonic() + seconds)
    run.keys = {asked.key.name: asked.key}
    [each] = plan.nodes
    assert isinstance(each.node, ProviderCall)
    return each.node, NodeContext(run, each.id, each.type, None, run.frame)


def _said(request: web.Request, error: AgentUIError) -> str:
    """What went wrong, without the key: some providers repeat it in what they say."""
    redactor: Redactor = request.get(RUN_REDACTOR, request.app[REDACTOR])
    return redactor.redact(error.message)
