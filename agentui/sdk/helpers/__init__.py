"""Putting the answers of the API into the shapes that a program shows: pure functions over plain data, which send nothing.

What they read is tolerant of what an answer lacks, and what they give is plain data again.
"""

from agentui.sdk.helpers.api_errors import ApiErrorUiState, ErrorKind, map_api_error_to_ui_state
from agentui.sdk.helpers.client_data import (
    CollectionItems,
    build_application_owner,
    build_plugin_owner,
    group_items_by_collection,
    organize_collection_items,
    resolve_item_by_path,
    to_client_data_map,
)
from agentui.sdk.helpers.page_variables import (
    PromotionGroup,
    PromotionRow,
    StagedWriteRow,
    flatten_page_staged_variable_writes,
    group_variable_promotion_trace,
)
from agentui.sdk.helpers.pages import get_active_page, get_display_page
from agentui.sdk.helpers.respond_stream import (
    RespondStreamError,
    RespondStreamResult,
    RespondStreamState,
    RespondStreamWarning,
    create_initial_respond_stream_state,
    reduce_respond_stream,
)
from agentui.sdk.helpers.timeline import TimelineMessageView, build_timeline_messages
from agentui.sdk.helpers.tools import (
    RuntimeToolSummary,
    ToolExecutionGroup,
    group_tool_events_by_execution,
    summarize_runtime_tool_catalog,
)
from agentui.sdk.helpers.usage import NormalizedUsage, resolve_usage
from agentui.sdk.helpers.variables import (
    VariableInspectorLayer,
    VariableInspectorRow,
    flatten_variable_snapshot,
    format_variable_preview,
    sort_variable_inspector_rows,
)

__all__ = [
    "ApiErrorUiState",
    "CollectionItems",
    "ErrorKind",
    "NormalizedUsage",
    "PromotionGroup",
    "PromotionRow",
    "RespondStreamError",
    "RespondStreamResult",
    "RespondStreamState",
    "RespondStreamWarning",
    "RuntimeToolSummary",
    "StagedWriteRow",
    "TimelineMessageView",
    "ToolExecutionGroup",
    "VariableInspectorLayer",
    "VariableInspectorRow",
    "build_application_owner",
    "build_plugin_owner",
    "build_timeline_messages",
    "create_initial_respond_stream_state",
    "flatten_page_staged_variable_writes",
    "flatten_variable_snapshot",
    "format_variable_preview",
    "get_active_page",
    "get_display_page",
    "group_items_by_collection",
    "group_tool_events_by_execution",
    "group_variable_promotion_trace",
    "map_api_error_to_ui_state",
    "organize_collection_items",
    "reduce_respond_stream",
    "resolve_item_by_path",
    "resolve_usage",
    "sort_variable_inspector_rows",
    "summarize_runtime_tool_catalog",
    "to_client_data_map",
]
