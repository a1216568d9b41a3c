"""The models that may be chosen for a call: what its provider lists for the key that the call would send."""

import asyncio
import time

from aiohttp import web

from agentui.api.keys import CATALOG, SERVICES
from agentui.errors import BadRequest
from agentui.http.guard import RUN_REDACTOR
from agentui.http.keys import PRINCIPAL, REDACTOR
from agentui.http.limits import LIMITS
from agentui.http.route import Route, answer, read_model
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.provider_call import ProviderCall
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.run import Run
from agentui.schemas.editor import ListedModel, ModelsRequest

ID = "models"
"""The id of the node and of the pipeline that a list is asked with; nobody sees either."""
MAX_SECONDS = 20.0
MAX_LISTED = 5000


async def list_models(request: web.Request) -> web.Response:
    """List the models of a provider, asked with what a ProviderCall of these fields would send.

    Stored secrets go only where they may; a caller's key is not known here.
    """
    app = request.app
    app[LIMITS].check_rate(request)
    asked = await read_model(request, ModelsRequest)
    services = app[SERVICES]
    vendor = next((each for name, each in services.vendors.items() if name == asked.provider), None)
    if vendor is None:
        raise BadRequest(f"provider must be one of {', '.join(services.vendors)}.", param="provider")
    document = {
        "format": 1,
        "name": ID,
        "nodes": [{"id": ID, "type": "ProviderCall", "config": asked.model_dump()}],
        "edges": [],
    }
    plan = await asyncio.to_thread(compile_plan, ID, document, app[CATALOG])
    path, _, query = vendor.models.endpoint().partition("?")
    incoming = Incoming("GET", "", path, query, {}, {}, b"", None, None, None, services.vendors)
    redactor = request[RUN_REDACTOR] = app[REDACTOR].child()
    run = Run(request[PRINCIPAL], plan, incoming, services, redactor, time.monotonic() + MAX_SECONDS)
    [each] = plan.nodes
    assert isinstance(each.node, ProviderCall)
    models = await each.node.list_models(NodeContext(run, each.id, each.type, None, run.frame))
    return answer([ListedModel(model.id, model.display_name) for model in models[:MAX_LISTED]])


ROUTES = (
    Route(
        "POST",
        "/api/models",
        list_models,
        answer=list[ListedModel],
        body=ModelsRequest,
        errors=(400, 403, 413, 415, 422, 429, 502, 503, 504),
        needs="edit",
    ),
)
