"""SubPipeline: another pipeline, called like a function."""

from collections.abc import Mapping
from functools import partial

from pydantic import Field

from agentui.chat.messages import Message, Text
from agentui.documents.document import ID_PATTERN
from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.walk.executor import execute
from agentui.pipeline.walk.frame import Frame
from agentui.pipeline.walk.said import said_in

MAX_DEPTH = 8
"""How many pipelines may call each other, one within the other."""


class SubPipelineParams(NodeParams):
    """Which pipeline, and what it gets."""

    pipeline: str = Field(
        "",
        pattern=f"^(~?{ID_PATTERN})?$",
        description="The id of the pipeline that is called.",
        json_schema_extra={"ui": "pipeline"},
    )
    inputs: dict[str, str] = Field(
        default_factory=dict,
        description="Variables that it has when it begins, by their names; values are templates.",
        json_schema_extra={"ui": "macro"},
    )
    message: str = Field(
        "",
        description="What it hears in place of the caller's conversation; empty: that conversation.",
        json_schema_extra={"ui": "macro"},
    )


@node("SubPipeline")
class SubPipeline(Node[SubPipelineParams]):
    """Calls another pipeline and gives its answer; where this node answers, that one speaks, streamed too.

    It has the same keys, stored variables and deadline. It sees no OUT of this pipeline and no variables of this run but its
    inputs. OUT: what its answering node gave, with ``response_text``; ``outputs``, the variables that it has set; and
    ``nodes``, the OUT of all its nodes by their ids.
    """

    Params = SubPipelineParams
    title = "Sub-pipeline"
    category = "control"
    icon = "workflow"
    summary = "{pipeline}"
    calls_upstream = True
    address_field = ""

    def prepare(self, build: Build) -> None:
        """Compile the inputs and the message."""
        params = self.params
        if params.pipeline:
            build.calls.add(params.pipeline)
        else:
            build.problem("pipeline.none", "No pipeline is chosen: choose the one to call.", "pipeline")
        for name in params.inputs:
            if not name.isidentifier():
                text = f"{name!r:.80} cannot be a variable's name: use letters, digits and _."
                build.problem("pipeline.input", text, "inputs", facts={"name": name[:80]})
        self._inputs = {name: build.text(f"inputs.{name}", source) for name, source in params.inputs.items()}
        self._message = build.text("message", params.message) if params.message.strip() else None
        # What the other one reads and writes is not known here.
        build.stores = build.reads.chat = True

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Walk the other pipeline in this run. Raises NotFound where there is none of the id, InvalidPipeline, NodeFailed where
        pipelines call each other too deep, and the errors of its nodes."""
        depth = ctx.frame.depth + 1
        if depth > MAX_DEPTH:
            raise NodeFailed(f"Pipelines call each other more than {MAX_DEPTH} deep. Let {self.params.pipeline!r} call none.")
        plan = ctx.run.bound(ctx.plan_of(self.params.pipeline))
        inputs, incoming = await ctx.apart(partial(self._given, ctx))
        frame = Frame(plan, f"{ctx.node_id}/", inputs, depth=depth, incoming=incoming, allowance=ctx.frame.allowance)
        await execute(ctx.run, frame, ctx.sink)
        answer = dict(frame.answer)
        answer.pop("vars", None)
        ctx.run.tell_usage_again(ctx.frame, answer.get("usage"))
        set_there = {name: value for name, value in frame.run_vars.items() if inputs.get(name) is not value}
        return {**answer, "response_text": said_in(frame.answer), "outputs": set_there, "nodes": dict(frame.out)}

    async def preview(self, ctx: NodeContext) -> Json:
        """What the other pipeline would get; nothing runs."""
        inputs = {name: ctx.render(field) for name, field in self._inputs.items()}
        message = None if self._message is None else ctx.render(self._message)
        return {"pipeline": self.params.pipeline, "inputs": inputs, "message": message}

    def _given(self, ctx: NodeContext) -> tuple[dict[str, Json], Incoming]:
        """What the other pipeline begins with."""
        inputs: dict[str, Json] = {name: ctx.render(field) for name, field in self._inputs.items()}
        if self._message is None:
            return inputs, ctx.incoming
        return inputs, ctx.incoming.asking(Message("user", (Text(ctx.render(self._message)),)))
