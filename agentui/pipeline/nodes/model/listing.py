"""The models that a provider lists, asked for as a call to it would be: with the node's address, headers, proxy and keys."""

from functools import partial

from agentui.errors import UpstreamError, UpstreamInvalid
from agentui.jsonio import InvalidJson, Json, loads
from agentui.pipeline.model_call import make_call
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.target import forward_target
from agentui.pipeline.nodes.model.targets import ModelTarget
from agentui.threads import apart
from agentui.vendors.base import ModelInfo, Vendor


async def listed_models(ctx: NodeContext, target: ModelTarget) -> list[ModelInfo]:
    """What a target's provider lists. ``ctx.incoming`` is the request for the list: its path and query are sent.

    Raises NodeFailed and Forbidden as rendering the target does, UpstreamError where the provider refuses (with a status of
    this server's own: the caller's key is not in question), UpstreamInvalid for what is no list, and what a call raises.
    """
    vendor = target.vendor(ctx)
    aimed = forward_target(target.fields, ctx, vendor)
    call = make_call(ctx, "GET", aimed.url, aimed.headers, None, None, aimed.proxy)
    call.retries = False  # somebody waits at a menu
    reply = await ctx.services.upstream.send(call)
    if reply.status >= 400:
        refused = vendor.parse_error(reply.status, reply.headers, reply.body)
        raise UpstreamError(f"The provider gives no list of its models ({reply.status}): {refused.message}")
    return await apart(len(reply.body), partial(_read, vendor, reply.body))


def _read(vendor: Vendor, body: bytes) -> list[ModelInfo]:
    try:
        listed: Json = loads(body)
    except InvalidJson as error:
        raise UpstreamInvalid("The provider's list of models is no JSON.") from error
    return vendor.models.parse_list(listed)
