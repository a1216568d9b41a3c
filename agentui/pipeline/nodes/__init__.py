"""The built-in node types, one a file."""

from collections.abc import Mapping
from typing import Any

from agentui.pipeline.node import Node
from agentui.pipeline.nodes.provider_call import ProviderCall
from agentui.pipeline.nodes.raw_forward import RawForward
from agentui.pipeline.nodes.set_vars import SetVars

BUILTIN: Mapping[str, type[Node[Any]]] = {kind.type_name: kind for kind in (SetVars, ProviderCall, RawForward)}
"""The node types that agentui brings, by name."""
