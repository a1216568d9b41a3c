"""What goes wrong with tools before any is called."""

from agentui.errors import AgentUIError


class ToolError(AgentUIError):
    """One of the errors below; the class says its code and its status."""


class ToolCatalogConflict(ToolError):
    """Two tools have one name, so that nobody could say which of them a call means; details name it."""

    status = 409
    code = "tool_catalog_conflict"


class UnknownTool(ToolError):
    """A selector chooses no tool that this server has; details name it."""

    status = 422
    code = "unknown_tool"


class InvalidToolSchema(ToolError):
    """What should describe a tool's arguments is no JSON Schema, or one that cannot be applied."""

    status = 422
    code = "invalid_tool_schema"


class InvalidArguments(ToolError):
    """The model's arguments cannot be read or break the tool's schema; the model is told."""

    status = 422
    code = "invalid_tool_arguments"


class OutcomeUnknown(AgentUIError):
    """A call was made and its answer never came: whether it did anything is not known. Told to the model as an error; the
    call's record is ``uncertain``."""

    status = 502
    code = "tool_outcome_unknown"
