"""ProviderCall: asks a model. What to send is assembled here, and what comes is passed on and kept as OUT."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from pydantic import Field

from agentui.chat.messages import Message
from agentui.chat.origin import has_tokens, kept_for, origin_of
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, ToolChoice, VendorName, WireRequest
from agentui.errors import BadRequest, NodeFailed, Unsupported, UnsupportedState
from agentui.jsonio import Json
from agentui.pipeline.model_call import ModelRequest, make_call
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.blocks import Block, BlockList, Found
from agentui.pipeline.nodes.model.cached_call import CacheParams, OpenedCall
from agentui.pipeline.nodes.model.calls import Calls, Targets
from agentui.pipeline.nodes.model.chat_out import collect_reply, reply_out
from agentui.pipeline.nodes.model.checked import AnswerParams, AnswerSchema, checked_out
from agentui.pipeline.nodes.model.extraction import Extraction
from agentui.pipeline.nodes.model.forwarding import forwarded, own_body
from agentui.pipeline.nodes.model.listing import listed_models
from agentui.pipeline.nodes.model.model_differences import compile_differences
from agentui.pipeline.nodes.model.other_out import asked_embeddings, count_out, embeddings_out
from agentui.pipeline.nodes.model.target import Target, TargetFields, forward_target
from agentui.pipeline.nodes.model.targets import ModelTarget, RoutingParams, compile_candidates
from agentui.pipeline.nodes.model.tool_loop import Ask, converse, executor_of, offering, with_steps
from agentui.pipeline.sink import Sink
from agentui.pipeline.tokens import estimate_outgoing, estimate_tokens
from agentui.templating.hadtavern.scope import Scope
from agentui.tools.catalog import Catalog
from agentui.tools.executor import Executor
from agentui.upstream.call import UpstreamCall
from agentui.vendors.base import ModelInfo, Vendor
from agentui.vendors.registry import VENDOR_TITLES

MAX_MODEL = 1000
"""Characters of a model's name, which is looked for the names of families: no server has longer ones."""


class CallParams(NodeParams):
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
    ignore_profiles: bool = Field(
        False,
        description="Turns of a chat: always call what this node says, whatever LLM profile the account or the chat has bound.",
    )
    capabilities: str = Field(
        "",
        description="What this model takes otherwise than others of its name, as JSON; empty: what the table says.",
        json_schema_extra={"ui": "json"},
    )
    prompt_cache: Literal["caller", "auto"] = Field(
        "caller",
        description="Claude's prompt cache: caller: what the caller marks; auto: all that may be cached of every request.",
        json_schema_extra={"enumDescriptions": ["As the caller says", "Always"]},
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


class ProviderCallParams(CacheParams, RoutingParams, AnswerParams, CallParams):
    """One call, what is wanted of its answer, the targets that may give it, and what is kept. Forms show the last first."""


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
        fields = TargetFields(
            build.url("base_url", params.base_url, "address"),
            build.url("endpoint", params.endpoint, "path", secrets=True),
            build.headers("headers", params.headers),
            build.proxy("proxy", params.proxy),
        )
        differences = compile_differences(build, params.capabilities)
        own = ModelTarget(params.provider, fields, build.text("model", params.model), differences)
        candidates = compile_candidates(
            build, params, own, own_model=params.model.strip(), has_template=bool(params.template.strip())
        )
        self._targets = Targets(own, candidates, params, params)
        self._blocks = BlockList(params.blocks, build)
        self._template = build.object("template", params.template) if params.template.strip() else None
        if self._template is not None and params.tools:
            build.problem("tools.template", "Tools go with Prompt Blocks: a template writes the whole request itself.", "tools")
        self._schema = AnswerSchema(build, params, has_template=self._template is not None)
        self._extraction = Extraction(build, params.extract, params.extract_expression)
        if self._template is None and not self._blocks.has_question:
            build.warning(
                "blocks.no_conversation",
                "The Prompt Blocks leave out what the caller says: add the block Conversation, or a text by the user.",
                "blocks",
            )

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Ask, pass the answer on where this node answers, and give OUT. Raises UpstreamError and its kin, NodeFailed,
        BadRequest, TemplateProblem."""
        calls = Calls(ctx, self._targets)
        match ctx.incoming.operation:
            case "forward":
                opened = await calls.forward(self._forwarded)
                return {**await forwarded(ctx, opened), **calls.out()}
            case "count_tokens":
                if calls.first_target().vendor(ctx).count_tokens is None:
                    return await self._estimate(ctx, calls.first_target())
                return {**await count_out(ctx, calls, self.assemble), **calls.out()}
            case "embeddings":
                return {**await embeddings_out(ctx, calls, self.assemble), **calls.out()}
            case "chat":
                return {**await self._chat_out(ctx, calls), **calls.out()}

    async def _chat_out(self, ctx: NodeContext, calls: Calls) -> Mapping[str, Json]:
        """OUT of a chat, with or without tools of this server."""
        ask = partial(self._answer, ctx, calls, await self._executor(ctx))
        if self._schema.retries is None:
            out = reply_out(*await ask((), ctx.sink))
        else:
            out = await checked_out(ctx, self._schema, ask)
        return await self._extraction.applied(ctx, out)

    async def _answer(
        self, ctx: NodeContext, calls: Calls, executor: Executor | None, told: Sequence[Message], sink: Sink | None
    ) -> tuple[Reply, Json]:
        """What a model answers to the conversation and what it was ``told`` behind it, also in the provider's JSON."""
        if executor is not None:
            steps = converse(ctx, executor, self._steps(calls, told))
            return await collect_reply(ctx, lambda: calls.request, steps, None, sink)

        async def make(ctx: NodeContext, target: ModelTarget) -> ModelRequest:
            chat = await self._conversation(ctx, target)
            return await self._rendered(ctx, target, replace(chat, messages=(*chat.messages, *told)))

        answer = await calls.chat(make if told else self.assemble)
        return await collect_reply(ctx, lambda: calls.request, answer.pieces, answer.written_by, sink)

    async def preview(self, ctx: NodeContext) -> Json:
        """The request that would go out: method, url, headers and body, about how many tokens go in, and the targets in their
        order where there are several."""
        calls = Calls(ctx, self._targets)
        if ctx.incoming.operation == "forward":
            call = self._forwarded(ctx, calls.forward_target())
            return {"method": call.method, "url": call.url, "headers": dict(call.headers), "body": ctx.incoming.json}
        executor = await self._executor(ctx)
        target = calls.first_target()
        if executor is None:
            request = await self.assemble(ctx, target)
        else:
            chat = with_steps(ctx, await self._conversation(ctx, target))
            request = await self._rendered(ctx, target, offering(target.vendor(ctx), chat, executor.offered()))
        return {
            "method": "POST",
            "url": request.url,
            "headers": dict(request.headers),
            "body": request.wire.body,
            "dropped": list(request.wire.dropped),
            "stream": request.wire.stream,
            "tokens": estimate_outgoing(request.vendor, request.wire),
            **calls.shown(),
        }

    async def list_models(self, ctx: NodeContext) -> list[ModelInfo]:
        """The models that the provider of the node's own fields lists. Raises as ``listed_models`` does."""
        return await listed_models(ctx, self._targets.own)

    async def assemble(self, ctx: NodeContext, target: ModelTarget | None = None) -> ModelRequest:
        """Everything that is sent to a target (the node's own, where none is given), rendered, with nothing sent yet."""
        target = target or self._targets.own
        scope = ctx.scope()
        model = await ctx.apart(partial(_model_name, ctx, target, scope))
        return await _aimed(ctx, target, await self._wire(ctx, scope, target, model))

    async def _executor(self, ctx: NodeContext) -> Executor | None:
        """What runs the tools that this node offers in a chat; None where it offers none. Raises UnknownTool."""
        if ctx.incoming.operation != "chat" or self._template is not None:
            return None
        return await executor_of(ctx, self.params.tools)

    def _steps(self, calls: Calls, told: Sequence[Message]) -> Ask:
        """What asks for each step of an answer with tools. What is said before the steps, with what the model was ``told``
        behind it, is made once for each target."""
        begun: dict[int, ChatRequest] = {}

        async def ask(made: Sequence[Message], tools: Catalog, choice: ToolChoice | None) -> OpenedCall:
            async def make(ctx: NodeContext, target: ModelTarget) -> ModelRequest:
                chat = begun.get(id(target))
                if chat is None:
                    chat = with_steps(ctx, await self._conversation(ctx, target))
                    chat = begun[id(target)] = replace(chat, messages=(*chat.messages, *told))
                chat = replace(chat, messages=(*chat.messages, *made))
                return await self._rendered(ctx, target, offering(target.vendor(ctx), chat, tools, choice))

            return await calls.chat(make)

        return ask

    async def _conversation(self, ctx: NodeContext, target: ModelTarget) -> ChatRequest:
        """The conversation before any step, as it is sent to a target."""
        scope = ctx.scope()
        model = await ctx.apart(partial(_model_name, ctx, target, scope))
        stream = ctx.sink is not None and ctx.sink.wants_stream
        return await self._chat(ctx, scope, target, model, stream)

    async def _rendered(self, ctx: NodeContext, target: ModelTarget, chat: ChatRequest) -> ModelRequest:
        """A conversation as a target's request."""
        chat = await self._with_own_thoughts(ctx, target, chat)
        wire = await ctx.incoming.worked_out(partial(target.vendor(ctx).render_request, chat))
        return await _aimed(ctx, target, wire)

    def _forwarded(self, ctx: NodeContext, chosen: ModelTarget) -> UpstreamCall:
        """The caller's own request to a target: blocks, template, model and endpoint are for conversations."""
        incoming = ctx.incoming
        target = forward_target(chosen.fields, ctx, chosen.vendor(ctx))
        body = incoming.upload or own_body(incoming) or None
        return make_call(ctx, incoming.method, target.url, target.headers, body, incoming.wire, target.proxy)

    async def _lacks_thoughts(self, ctx: NodeContext, vendor: Vendor) -> bool:
        """Whether a request that may go as it came lacks thoughts that are kept here: an OpenAI-compatible server refuses it
        without them, and the caller's client dropped them."""
        if vendor.keeps_thoughts or not ctx.services.thought_cache.has_any(vendor.name):
            return False
        try:
            messages = (await ctx.incoming.worked_out(lambda: ctx.incoming.chat)).messages
        except BadRequest:
            return False  # what is not understood here goes as it came, and its own server judges it
        restored = ctx.services.thought_cache.restore(vendor.name, ctx.run.account, ctx.incoming, messages)
        return any(new is not old for new, old in zip(restored, messages, strict=True))

    async def _with_own_thoughts(self, ctx: NodeContext, target: ModelTarget, chat: ChatRequest) -> ChatRequest:
        """The request with the thoughts of this target's server alone, where such are told apart (``chat.origin``)."""
        if not has_tokens(chat.messages):
            return chat
        return replace(chat, messages=kept_for(await ctx.apart(partial(_origin, ctx, target)), chat.messages))

    async def _wire(self, ctx: NodeContext, scope: Scope, target: ModelTarget, model: str) -> WireRequest:
        """The request in the upstream's dialect, for each of the ways to make one."""
        vendor = target.vendor(ctx)
        incoming = ctx.incoming
        stream = ctx.sink is not None and ctx.sink.wants_stream
        own = incoming.wire
        if own is not None and own.operation == "embeddings":
            if vendor.embeddings is None:
                raise Unsupported(f"{vendor.title} has no embeddings; choose a provider of another kind for them.")
            if own.vendor == vendor.name:
                return vendor.patch_request(own, model=model, stream=False)
            asked = asked_embeddings(ctx, own)
            return vendor.embeddings.render_request(replace(asked, model=model, body={**asked.body, "model": model}))
        if self._template is not None and incoming.operation == "chat":
            if vendor is not self._targets.own.vendor(ctx):
                raise NodeFailed(
                    "The template writes the request in one dialect, and this target speaks another.", field="template"
                )
            await incoming.worked_out(lambda: incoming.chat)  # the blocks ask for it
            found = await self._blocks.find(ctx)
            return await ctx.apart(partial(self._from_template, ctx, scope, vendor, model, stream, found), found.size)
        is_as_it_came = own is not None and own.vendor == vendor.name and not own.is_retold
        is_untouched = is_as_it_came and self._blocks.is_whole_history and self._schema.field.schema is None
        is_untouched = is_untouched and not (self.params.prompt_cache == "auto" and vendor.takes_cache_marks)
        # A turn's request was made before anybody knew what its model takes.
        is_untouched = is_untouched and not (target.differences and incoming.is_made_here)
        if is_untouched and await self._lacks_thoughts(ctx, vendor):
            is_untouched = False
        if own is not None and is_untouched and ctx.sink is not None:
            return vendor.patch_request(own, model=model, stream=stream)
        chat = await self._chat(ctx, scope, target, model, stream)
        chat = await self._with_own_thoughts(ctx, target, chat)
        if incoming.operation == "chat":
            return await incoming.worked_out(partial(vendor.render_request, chat))
        if vendor.count_tokens is None:
            raise Unsupported(f"{vendor.title} has no call that counts tokens; choose a provider of another kind for that.")
        return await incoming.worked_out(partial(vendor.count_tokens.render_request, chat))

    async def _chat(self, ctx: NodeContext, scope: Scope, target: ModelTarget, model: str, stream: bool) -> ChatRequest:
        """The caller's request with the blocks' conversation, for a target.

        Tools, choices, formats and candidates describe the answer that the caller wants, so a node that does not answer
        goes without them; one whose answer another node hands on keeps the tools, their choice and the format.
        """
        vendor = target.vendor(ctx)
        chat = await ctx.incoming.worked_out(lambda: ctx.incoming.chat)
        if chat.needs_state is not None and (vendor.name != chat.vendor or ctx.sink is None):
            raise _beyond_reach(chat.needs_state)
        messages = await self._blocks.composed(ctx, scope)
        if not messages and chat.needs_state is None:
            raise NodeFailed("There is nothing to answer: the conversation is empty. Add a text or the block Conversation.")
        messages = ctx.services.thought_cache.restore(vendor.name, ctx.run.account, ctx.incoming, messages)
        chat = chat.asking(messages, model, stream=stream)
        if self.params.prompt_cache == "auto" and chat.cache is None:
            chat = replace(chat, cache={"type": "ephemeral"})
        if target.differences:
            chat = replace(chat, differences=target.differences)
        if ctx.sink is None:
            params = replace(chat.params, n=None, answers=None, logprobs=None, top_logprobs=None)
            chat = replace(chat, vendor="agentui", params=params, unmodelled=())
            if not ctx.is_handed_on:
                chat = replace(chat, tools=(), tool_choice=None, response_format=None)
        return self._schema.asked_for(vendor, chat)

    async def _estimate(self, ctx: NodeContext, target: ModelTarget) -> Mapping[str, Json]:
        """A token count made here, because the provider has no call for it: of the blocks' conversation."""
        scope = ctx.scope()
        chat = await self._chat(ctx, scope, target, _model_name(ctx, target, scope), stream=False)
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


def _model_name(ctx: NodeContext, target: ModelTarget, scope: Scope) -> str:
    """The model to ask of a target. Raises BadRequest where nobody names one."""
    model = ctx.render(target.model, scope).strip() or ctx.incoming.model
    if not model:
        raise BadRequest(
            "The request names a pipeline but no model, and the node sets none: ask for pipeline/<id>/<model>, "
            "or set the node's model.",
            param="model",
        )
    if len(model) > MAX_MODEL:
        raise BadRequest(f"The model's name is longer than {MAX_MODEL} characters.", param="model")
    return model


def _origin(ctx: NodeContext, target: ModelTarget) -> str:
    """What tells a target's server from others."""
    base = ctx.render(target.fields.base_url, ctx.scope()).strip() or target.vendor(ctx).default_base_url
    return origin_of(ctx.services.upstream.resolve(base))


async def _aimed(ctx: NodeContext, target: ModelTarget, wire: WireRequest) -> ModelRequest:
    """A request with where it goes."""
    vendor = target.vendor(ctx)
    place = await ctx.apart(partial(Target.render, target.fields, ctx, ctx.scope(), vendor, wire))
    if wire.stream != place.stream:
        wire = replace(wire, stream=place.stream)
    return ModelRequest(vendor, wire, place.url, place.headers, place.proxy)
