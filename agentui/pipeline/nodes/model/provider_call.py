"""ProviderCall: asks a model. What to send is assembled here, and what comes is passed on and kept as OUT."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

from pydantic import Field

from agentui.chat.request import ChatRequest, VendorName, WireRequest
from agentui.errors import BadRequest, NodeFailed, Unsupported, UnsupportedState
from agentui.jsonio import Json
from agentui.pipeline.model_call import ModelRequest, ask_model, call_model, make_call
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.nodecontext import NodeContext
from agentui.pipeline.nodes.model.blocks import Block, BlockList, Found
from agentui.pipeline.nodes.model.chat_out import chat_out
from agentui.pipeline.nodes.model.forwarding import check_offered, forward, own_body
from agentui.pipeline.nodes.model.target import Target, TargetFields, forward_target
from agentui.pipeline.nodes.model.tool_loop import Render, converse, executor_of, offering, with_rules
from agentui.pipeline.tokens import estimate_outgoing, estimate_tokens
from agentui.templating.hadtavern.scope import Scope
from agentui.tools.executor import Executor
from agentui.upstream.call import UpstreamCall
from agentui.vendors.base import Embeddings, Vendor
from agentui.vendors.registry import VENDOR_TITLES

MAX_MODEL = 1000
"""Characters of a model's name, which is looked for the names of families: no server has longer ones."""


class ProviderCallParams(NodeParams):
    """Where to call and what to say there. Empty fields take the provider's own defaults."""

    provider: Literal["caller", VendorName] = Field(
        "caller",
        description="The dialect to speak to the upstream; caller: the one that the caller speaks.",
        json_schema_extra={"enumDescriptions": ["The caller's own dialect", *VENDOR_TITLES.values()]},
    )
    base_url: str = Field(
        "",
        description="Where the API lives; empty: the vendor's own. demo: the built-in demo.",
        json_schema_extra={"ui": "macro"},
    )
    endpoint: str = Field("", description="Path and query; empty: the dialect's own.", json_schema_extra={"ui": "macro"})
    headers: dict[str, str] = Field(
        default_factory=dict,
        description="Headers to send. Without one that holds a key the caller's own key is passed on.",
        json_schema_extra={"ui": "macro"},
    )
    proxy: str = Field(
        "",
        description="Proxy to go through: http://, https://, socks5:// or socks5h://; empty: the server's own; direct: none.",
        json_schema_extra={"ui": "macro"},
    )
    model: str = Field("", description="The model; empty: the one the caller named.", json_schema_extra={"ui": "macro"})
    blocks: list[Block] = Field(
        default_factory=list, max_length=1000, description="Prompt Blocks; none: the caller's whole conversation."
    )
    session_model: bool = Field(
        False,
        description="Turns of a chat: call the preset that the session names as its model_provider, with its model_name; "
        "the fields above are for sessions without one.",
    )
    tools: list[str] = Field(
        default_factory=list,
        max_length=100,
        description="Tools of this server that the model may call: names, group:NAME, mcp:SERVER, or * for all.",
    )
    template: str = Field(
        "",
        description="The request body, with [[PROMPT]] and pm.*; empty: made from blocks and the caller's parameters.",
        json_schema_extra={"ui": "json"},
    )


@node("ProviderCall")
class ProviderCall(Node[ProviderCallParams]):
    """Asks a model, in the dialect of ``provider``, and gives its answer in OUT.

    Without a template the request is made of the Prompt Blocks and the caller's parameters; with one it is exactly what
    the template renders to. When this node answers the pipeline, its words stream to the caller while they arrive.
    OUT: ``result`` (the provider's JSON), ``response_text``, ``usage``, ``finish_reason``, ``tool_calls``.
    """

    Params = ProviderCallParams
    title = "Provider call"
    category = "model"
    icon = "message"
    summary = "{provider} · {model}"
    calls_upstream = True

    def prepare(self, build: Build) -> None:
        """Compile endpoint, headers, model, blocks and body."""
        params = self.params
        self._target = TargetFields(
            build.url("base_url", params.base_url, "address"),
            build.url("endpoint", params.endpoint, "path", secrets=True),
            build.headers("headers", params.headers),
            build.proxy("proxy", params.proxy),
        )
        self._model = build.text("model", params.model)
        self._blocks = BlockList(params.blocks, build)
        self._template = build.object("template", params.template) if params.template.strip() else None
        if self._template is not None and params.tools:
            build.problem("tools.template", "Tools go with Prompt Blocks: a template writes the whole request itself.", "tools")
        if self._template is None and not self._blocks.has_question:
            build.warning(
                "blocks.no_conversation",
                "The Prompt Blocks leave out what the caller says: add the block Conversation, or a text by the user.",
                "blocks",
            )

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Ask, pass the answer on where this node answers, and give OUT. Raises UpstreamError and its kin, NodeFailed,
        BadRequest, TemplateProblem."""
        if ctx.incoming.operation == "forward":
            return await forward(ctx, self._forwarded(ctx))
        if ctx.incoming.operation == "count_tokens" and self._vendor(ctx).count_tokens is None:
            return await self._estimate(ctx)
        executor = await self._executor(ctx)
        if executor is not None:
            return await self._with_tools(ctx, executor)
        request = await self.assemble(ctx)
        match request.wire.operation:
            case "chat":
                return await chat_out(ctx, request.vendor, lambda: request.wire, call_model(ctx, request), request.vendor.name)
            case "count_tokens":
                return await _count_out(ctx, request)
            case "embeddings":
                return await _embeddings_out(ctx, request)
            case "forward":
                raise AssertionError("What is forwarded is not assembled.")

    async def preview(self, ctx: NodeContext) -> Json:
        """The request that would go out: method, url, headers and body, and about how many tokens go in."""
        if ctx.incoming.operation == "forward":
            call = self._forwarded(ctx)
            return {"method": call.method, "url": call.url, "headers": dict(call.headers), "body": ctx.incoming.json}
        executor = await self._executor(ctx)
        request = await (self.assemble(ctx) if executor is None else self._first_step(ctx, executor))
        return {
            "method": "POST",
            "url": request.url,
            "headers": dict(request.headers),
            "body": request.wire.body,
            "dropped": list(request.wire.dropped),
            "stream": request.wire.stream,
            "tokens": estimate_outgoing(request.vendor, request.wire),
        }

    async def assemble(self, ctx: NodeContext) -> ModelRequest:
        """Everything that is sent, rendered, with nothing sent yet."""
        vendor = self._vendor(ctx)
        scope = ctx.scope()
        model = await ctx.apart(partial(self._model_name, ctx, scope))
        wire = await self._wire(ctx, scope, vendor, model)
        return await self._aimed(ctx, scope, vendor, wire)

    async def _aimed(self, ctx: NodeContext, scope: Scope, vendor: Vendor, wire: WireRequest) -> ModelRequest:
        """A request with where it goes."""
        target = await ctx.apart(partial(Target.render, self._target, ctx, scope, vendor, wire))
        if wire.stream != target.stream:
            wire = replace(wire, stream=target.stream)
        return ModelRequest(vendor, wire, target.url, target.headers, target.proxy)

    async def _executor(self, ctx: NodeContext) -> Executor | None:
        """What runs the tools that this node offers in a chat; None where it offers none. Raises UnknownTool."""
        if ctx.incoming.operation != "chat" or self._template is not None:
            return None
        return await executor_of(ctx, self.params.tools)

    async def _with_tools(self, ctx: NodeContext, executor: Executor) -> dict[str, Json]:
        """Ask, run the tools that the model asks for, and ask again until it answers; OUT is that of all steps together."""
        chat, vendor, render = await self._steps(ctx)
        sent: list[ModelRequest] = []

        async def remember(chat: ChatRequest) -> ModelRequest:
            sent[:] = [await render(chat)]
            return sent[0]

        return await chat_out(ctx, vendor, lambda: sent[0].wire, converse(ctx, vendor, chat, executor, remember), None)

    async def _first_step(self, ctx: NodeContext, executor: Executor) -> ModelRequest:
        """What is sent first where tools are offered."""
        chat, vendor, render = await self._steps(ctx)
        return await render(offering(vendor, chat, executor.offered()))

    async def _steps(self, ctx: NodeContext) -> tuple[ChatRequest, Vendor, Render]:
        """The conversation before any step, whom it is sent to, and how each step is written."""
        vendor, scope = self._vendor(ctx), ctx.scope()
        model = await ctx.apart(partial(self._model_name, ctx, scope))
        stream = ctx.sink is not None and ctx.sink.wants_stream

        async def render(chat: ChatRequest) -> ModelRequest:
            wire = await ctx.incoming.worked_out(partial(vendor.render_request, chat))
            return await self._aimed(ctx, scope, vendor, wire)

        return with_rules(ctx, await self._chat(ctx, scope, vendor, model, stream)), vendor, render

    def _forwarded(self, ctx: NodeContext) -> UpstreamCall:
        """The caller's own request to this node's upstream: blocks, template, model and endpoint are for conversations.

        Raises NotFound where the provider is of another kind than the caller.
        """
        incoming, vendor = ctx.incoming, self._vendor(ctx)
        assert incoming.vendor is not None
        check_offered(incoming, ctx.services.vendors[incoming.vendor], vendor)
        target, body = forward_target(self._target, ctx, vendor), incoming.upload or own_body(incoming) or None
        return make_call(ctx, incoming.method, target.url, target.headers, body, incoming.wire, target.proxy)

    def _vendor(self, ctx: NodeContext) -> Vendor:
        name: VendorName | None = ctx.incoming.vendor if self.params.provider == "caller" else self.params.provider
        if name is None:
            raise NodeFailed("The caller's dialect is unknown, so provider cannot be 'caller' here: choose one.")
        return ctx.services.vendors[name]

    def _model_name(self, ctx: NodeContext, scope: Scope) -> str:
        model = ctx.render(self._model, scope).strip() or ctx.incoming.model
        if not model:
            raise BadRequest(
                "The request names a pipeline but no model, and the node sets none: ask for pipeline/<id>/<model>, "
                "or set the node's model.",
                param="model",
            )
        if len(model) > MAX_MODEL:
            raise BadRequest(f"The model's name is longer than {MAX_MODEL} characters.", param="model")
        return model

    async def _wire(self, ctx: NodeContext, scope: Scope, vendor: Vendor, model: str) -> WireRequest:
        """The request in the upstream's dialect, for each of the ways to make one."""
        incoming = ctx.incoming
        stream = ctx.sink is not None and ctx.sink.wants_stream
        own = incoming.wire
        if own is not None and own.operation == "embeddings":
            if vendor.embeddings is None:
                raise Unsupported(f"{vendor.title} has no embeddings; choose a provider of another kind for them.")
            if own.vendor == vendor.name:
                return vendor.patch_request(own, model=model, stream=False)
            asked = _asked_embeddings(ctx, own)
            return vendor.embeddings.render_request(replace(asked, model=model, body={**asked.body, "model": model}))
        if self._template is not None and incoming.operation == "chat":
            await incoming.worked_out(lambda: incoming.chat)  # the blocks ask for it
            found = await self._blocks.find(ctx)
            return await ctx.apart(partial(self._from_template, ctx, scope, vendor, model, stream, found), found.size)
        is_as_it_came = own is not None and own.vendor == vendor.name and not own.is_retold
        if own is not None and is_as_it_came and self._blocks.is_whole_history and ctx.sink is not None:
            return vendor.patch_request(own, model=model, stream=stream)
        chat = await self._chat(ctx, scope, vendor, model, stream)
        if incoming.operation == "chat":
            return await incoming.worked_out(partial(vendor.render_request, chat))
        if vendor.count_tokens is None:
            raise Unsupported(f"{vendor.title} has no call that counts tokens; choose a provider of another kind for that.")
        return await incoming.worked_out(partial(vendor.count_tokens.render_request, chat))

    async def _chat(self, ctx: NodeContext, scope: Scope, vendor: Vendor, model: str, stream: bool) -> ChatRequest:
        """The caller's request with the blocks' conversation.

        Tools, choices, formats and candidates describe the answer that the caller wants, so a node that does not answer
        goes without them.
        """
        chat = await ctx.incoming.worked_out(lambda: ctx.incoming.chat)
        if chat.needs_state is not None and (vendor.name != chat.vendor or ctx.sink is None):
            raise _beyond_reach(chat.needs_state)
        messages = await self._blocks.composed(ctx, scope)
        if not messages and chat.needs_state is None:
            raise NodeFailed("There is nothing to answer: the conversation is empty. Add a text or the block Conversation.")
        messages = ctx.services.thought_cache.restore(vendor.name, ctx.incoming, messages)
        chat = chat.asking(messages, model, stream=stream)
        if ctx.sink is not None:
            return chat
        params = replace(chat.params, n=None, logprobs=None, top_logprobs=None)
        return replace(chat, vendor="agentui", params=params, tools=(), tool_choice=None, response_format=None, unmodelled=())

    async def _estimate(self, ctx: NodeContext) -> Mapping[str, Json]:
        """A token count made here, because the provider has no call for it: of the blocks' conversation."""
        scope = ctx.scope()
        chat = await self._chat(ctx, scope, self._vendor(ctx), self._model_name(ctx, scope), stream=False)
        tokens = estimate_tokens(chat)
        if ctx.sink is not None:
            await ctx.sink.tokens(tokens, estimated=True)
        return {"result": {"estimated_tokens": tokens}, "response_text": str(tokens)}

    def _from_template(
        self, ctx: NodeContext, scope: Scope, vendor: Vendor, model: str, stream: bool, found: Found
    ) -> WireRequest:
        """The body that the template renders to (seed 003 part 5)."""
        assert self._template is not None
        prompt = vendor.render_prompt(self._blocks.compose(ctx, scope, found))
        body = ctx.render(self._template, ctx.scope({"pm": prompt.pm}, prompt.members))
        if not isinstance(body, dict):
            raise NodeFailed("The template must render to a JSON object.", field="template")
        needed = ctx.incoming.chat.needs_state
        if needed is not None and needed not in body:
            raise _beyond_reach(needed)
        return replace(vendor.fit_body(body, model=model, stream=stream), dropped=prompt.dropped)


def _beyond_reach(field: str) -> UnsupportedState:
    """The refusal of a request whose ``field`` leans on what only its own vendor keeps."""
    return UnsupportedState(
        f"{field} leans on something that is kept at the vendor of the caller's dialect, and a node of this pipeline asks "
        "another one, or in its own words: send the whole conversation instead.",
        param=field,
    )


async def _count_out(ctx: NodeContext, request: ModelRequest) -> dict[str, Json]:
    """OUT of a token count."""
    assert request.vendor.count_tokens is not None
    body = await ask_model(ctx, request)
    tokens = request.vendor.count_tokens.parse_reply(body)
    if ctx.sink is not None:
        await ctx.sink.tokens(tokens, estimated=False)
    return {"result": body, "response_text": str(tokens)}


async def _embeddings_out(ctx: NodeContext, request: ModelRequest) -> dict[str, Json]:
    """OUT of embeddings."""
    own = ctx.incoming.wire
    assert own is not None and request.vendor.embeddings is not None
    answer = body = await ask_model(ctx, request)
    if own.vendor != request.vendor.name:
        answer = request.vendor.embeddings.parse_reply(body, _asked_embeddings(ctx, own))
        answer = _embeddings(ctx, own).render_reply(answer, own)
    if ctx.sink is not None:
        await ctx.sink.document(answer)
    return {"result": body, "response_text": ""}


def _asked_embeddings(ctx: NodeContext, own: WireRequest) -> WireRequest:
    """The caller's request for embeddings as all dialects understand it."""
    return _embeddings(ctx, own).parse_request(own)


def _embeddings(ctx: NodeContext, own: WireRequest) -> Embeddings:
    embeddings = ctx.services.vendors[own.vendor].embeddings
    assert embeddings is not None  # or its reader had made something else of the request
    return embeddings
