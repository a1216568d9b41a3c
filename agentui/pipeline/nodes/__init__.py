"""The built-in node types, one a file."""

from collections.abc import Mapping
from typing import Any

from agentui.pipeline.node import Node
from agentui.pipeline.nodes.data.random_choice import RandomChoice
from agentui.pipeline.nodes.data.set_vars import SetVars
from agentui.pipeline.nodes.model.provider_call import ProviderCall
from agentui.pipeline.nodes.model.raw_forward import RawForward
from agentui.pipeline.nodes.text.text import Text

BUILTIN: Mapping[str, type[Node[Any]]] = {
    kind.type_name: kind
    for kind in (
        SetVars,
        ProviderCall,
        RawForward,
        RandomChoice,
        Text,
    )
}
"""The node types that agentui brings, by name."""
