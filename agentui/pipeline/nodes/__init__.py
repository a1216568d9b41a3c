"""The built-in node types, one a file."""

from collections.abc import Mapping
from typing import Any

from agentui.pipeline.node import Node
from agentui.pipeline.nodes.data.count_tokens import CountTokens
from agentui.pipeline.nodes.data.http_request import HttpRequest
from agentui.pipeline.nodes.data.json_query import JsonNode
from agentui.pipeline.nodes.data.log import Log
from agentui.pipeline.nodes.data.memory import Memory
from agentui.pipeline.nodes.data.random_choice import RandomChoice
from agentui.pipeline.nodes.data.set_vars import SetVars
from agentui.pipeline.nodes.data.validate import Validate
from agentui.pipeline.nodes.data.wait import Wait
from agentui.pipeline.nodes.flow.condition import If
from agentui.pipeline.nodes.flow.leave_loop import Break, Continue
from agentui.pipeline.nodes.flow.loop import Loop
from agentui.pipeline.nodes.flow.merge import Merge
from agentui.pipeline.nodes.flow.returning import Return
from agentui.pipeline.nodes.flow.sub_pipeline import SubPipeline
from agentui.pipeline.nodes.flow.switch import Switch
from agentui.pipeline.nodes.model.guard import Guard
from agentui.pipeline.nodes.model.provider_call import ProviderCall
from agentui.pipeline.nodes.model.raw_forward import RawForward
from agentui.pipeline.nodes.text.parse import Parse
from agentui.pipeline.nodes.text.text import Text

BUILTIN: Mapping[str, type[Node[Any]]] = {
    kind.type_name: kind
    for kind in (
        SetVars,
        Memory,
        CountTokens,
        Log,
        Wait,
        Loop,
        Break,
        Continue,
        SubPipeline,
        ProviderCall,
        RawForward,
        Guard,
        HttpRequest,
        JsonNode,
        RandomChoice,
        Text,
        Parse,
        Validate,
        If,
        Switch,
        Merge,
        Return,
    )
}
"""The node types that agentui brings, by name."""
