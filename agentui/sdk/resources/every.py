"""All groups of calls of a client. Made by ``python -m tests.sdk.generate``."""

from agentui.sdk.asynctransport import AsyncTransport
from agentui.sdk.resources.accounts.accounts import AccountsResource, AsyncAccountsResource
from agentui.sdk.resources.accounts.auth import AsyncAuthResource, AuthResource
from agentui.sdk.resources.accounts.budgets import AsyncBudgetsResource, BudgetsResource
from agentui.sdk.resources.accounts.clients import AsyncClientsResource, ClientsResource
from agentui.sdk.resources.accounts.operation_logs import AsyncOperationLogsResource, OperationLogsResource
from agentui.sdk.resources.accounts.usage import AsyncUsageResource, UsageResource
from agentui.sdk.resources.chats.branches import AsyncBranchesResource, BranchesResource
from agentui.sdk.resources.chats.floors import AsyncFloorsResource, FloorsResource
from agentui.sdk.resources.chats.messages import AsyncMessagesResource, MessagesResource
from agentui.sdk.resources.chats.pages import AsyncPagesResource, PagesResource
from agentui.sdk.resources.chats.projects import AsyncProjectsResource, ProjectsResource
from agentui.sdk.resources.chats.prompt_runtime import AsyncPromptRuntimeResource, PromptRuntimeResource
from agentui.sdk.resources.chats.session_state import AsyncSessionStateResource, SessionStateResource
from agentui.sdk.resources.chats.sessions import AsyncSessionsResource, SessionsResource
from agentui.sdk.resources.chats.tags import AsyncTagsResource, TagsResource
from agentui.sdk.resources.chats.variables import AsyncVariablesResource, VariablesResource
from agentui.sdk.resources.chats.working_variables import AsyncWorkingVariablesResource, WorkingVariablesResource
from agentui.sdk.resources.editor.editor import AsyncEditorResource, EditorResource
from agentui.sdk.resources.editor.pipelines import AsyncPipelinesResource, PipelinesResource
from agentui.sdk.resources.editor.provider_presets import AsyncProviderPresetsResource, ProviderPresetsResource
from agentui.sdk.resources.editor.rules import AsyncRulesResource, RulesResource
from agentui.sdk.resources.editor.runs import AsyncRunsResource, RunsResource
from agentui.sdk.resources.editor.secrets import AsyncSecretsResource, SecretsResource
from agentui.sdk.resources.library.characters import AsyncCharactersResource, CharactersResource
from agentui.sdk.resources.library.chat_transfer_jobs import AsyncChatTransferJobsResource, ChatTransferJobsResource
from agentui.sdk.resources.library.exports import AsyncExportsResource, ExportsResource
from agentui.sdk.resources.library.imports import AsyncImportsResource, ImportsResource
from agentui.sdk.resources.library.preset_entries import AsyncPresetEntriesResource, PresetEntriesResource
from agentui.sdk.resources.library.presets import AsyncPresetsResource, PresetsResource
from agentui.sdk.resources.library.regex_profiles import AsyncRegexProfilesResource, RegexProfilesResource
from agentui.sdk.resources.library.users import AsyncUsersResource, UsersResource
from agentui.sdk.resources.library.worldbook_entries import AsyncWorldbookEntriesResource, WorldbookEntriesResource
from agentui.sdk.resources.library.worldbooks import AsyncWorldbooksResource, WorldbooksResource
from agentui.sdk.resources.memories.memories import AsyncMemoriesResource, MemoriesResource
from agentui.sdk.resources.memories.memory_edges import AsyncMemoryEdgesResource, MemoryEdgesResource
from agentui.sdk.resources.memories.memory_jobs import AsyncMemoryJobsResource, MemoryJobsResource
from agentui.sdk.resources.memories.memory_scopes import AsyncMemoryScopesResource, MemoryScopesResource
from agentui.sdk.resources.models.llm_instances import AsyncLlmInstancesResource, LlmInstancesResource
from agentui.sdk.resources.models.llm_profiles import AsyncLlmProfilesResource, LlmProfilesResource
from agentui.sdk.resources.server.health import AsyncHealthResource, HealthResource
from agentui.sdk.resources.tools.mcp import AsyncMcpResource, McpResource
from agentui.sdk.resources.tools.tools import AsyncToolsResource, ToolsResource
from agentui.sdk.transport import Transport


class Resources:
    """All groups of calls; each call waits for its answer."""

    def __init__(self, transport: Transport) -> None:
        self.health = HealthResource(transport)
        self.sessions = SessionsResource(transport)
        self.floors = FloorsResource(transport)
        self.pages = PagesResource(transport)
        self.messages = MessagesResource(transport)
        self.branches = BranchesResource(transport)
        self.variables = VariablesResource(transport)
        self.working_variables = WorkingVariablesResource(transport)
        self.session_state = SessionStateResource(transport)
        self.prompt_runtime = PromptRuntimeResource(transport)
        self.characters = CharactersResource(transport)
        self.users = UsersResource(transport)
        self.presets = PresetsResource(transport)
        self.preset_entries = PresetEntriesResource(transport)
        self.worldbooks = WorldbooksResource(transport)
        self.worldbook_entries = WorldbookEntriesResource(transport)
        self.regex_profiles = RegexProfilesResource(transport)
        self.imports = ImportsResource(transport)
        self.exports = ExportsResource(transport)
        self.chat_transfer_jobs = ChatTransferJobsResource(transport)
        self.tools = ToolsResource(transport)
        self.mcp = McpResource(transport)
        self.llm_profiles = LlmProfilesResource(transport)
        self.llm_instances = LlmInstancesResource(transport)
        self.memories = MemoriesResource(transport)
        self.memory_edges = MemoryEdgesResource(transport)
        self.memory_jobs = MemoryJobsResource(transport)
        self.memory_scopes = MemoryScopesResource(transport)
        self.accounts = AccountsResource(transport)
        self.clients = ClientsResource(transport)
        self.budgets = BudgetsResource(transport)
        self.usage = UsageResource(transport)
        self.auth = AuthResource(transport)
        self.projects = ProjectsResource(transport)
        self.tags = TagsResource(transport)
        self.operation_logs = OperationLogsResource(transport)
        self.pipelines = PipelinesResource(transport)
        self.provider_presets = ProviderPresetsResource(transport)
        self.runs = RunsResource(transport)
        self.rules = RulesResource(transport)
        self.secrets = SecretsResource(transport)
        self.editor = EditorResource(transport)


class AsyncResources:
    """All groups of calls; each call is awaited."""

    def __init__(self, transport: AsyncTransport) -> None:
        self.health = AsyncHealthResource(transport)
        self.sessions = AsyncSessionsResource(transport)
        self.floors = AsyncFloorsResource(transport)
        self.pages = AsyncPagesResource(transport)
        self.messages = AsyncMessagesResource(transport)
        self.branches = AsyncBranchesResource(transport)
        self.variables = AsyncVariablesResource(transport)
        self.working_variables = AsyncWorkingVariablesResource(transport)
        self.session_state = AsyncSessionStateResource(transport)
        self.prompt_runtime = AsyncPromptRuntimeResource(transport)
        self.characters = AsyncCharactersResource(transport)
        self.users = AsyncUsersResource(transport)
        self.presets = AsyncPresetsResource(transport)
        self.preset_entries = AsyncPresetEntriesResource(transport)
        self.worldbooks = AsyncWorldbooksResource(transport)
        self.worldbook_entries = AsyncWorldbookEntriesResource(transport)
        self.regex_profiles = AsyncRegexProfilesResource(transport)
        self.imports = AsyncImportsResource(transport)
        self.exports = AsyncExportsResource(transport)
        self.chat_transfer_jobs = AsyncChatTransferJobsResource(transport)
        self.tools = AsyncToolsResource(transport)
        self.mcp = AsyncMcpResource(transport)
        self.llm_profiles = AsyncLlmProfilesResource(transport)
        self.llm_instances = AsyncLlmInstancesResource(transport)
        self.memories = AsyncMemoriesResource(transport)
        self.memory_edges = AsyncMemoryEdgesResource(transport)
        self.memory_jobs = AsyncMemoryJobsResource(transport)
        self.memory_scopes = AsyncMemoryScopesResource(transport)
        self.accounts = AsyncAccountsResource(transport)
        self.clients = AsyncClientsResource(transport)
        self.budgets = AsyncBudgetsResource(transport)
        self.usage = AsyncUsageResource(transport)
        self.auth = AsyncAuthResource(transport)
        self.projects = AsyncProjectsResource(transport)
        self.tags = AsyncTagsResource(transport)
        self.operation_logs = AsyncOperationLogsResource(transport)
        self.pipelines = AsyncPipelinesResource(transport)
        self.provider_presets = AsyncProviderPresetsResource(transport)
        self.runs = AsyncRunsResource(transport)
        self.rules = AsyncRulesResource(transport)
        self.secrets = AsyncSecretsResource(transport)
        self.editor = AsyncEditorResource(transport)
