"""What the routes are called in the client: ``resource.method``, by method and path. A new route gets a line here."""

NAMES_TEXT = """
GET     /health                                                  health.get
GET     /ready                                                   health.ready
GET     /version                                                 health.version
GET     /metrics                                                 health.metrics
GET     /openapi.json                                            health.openapi

POST    /sessions                                                sessions.create
GET     /sessions                                                sessions.list
PATCH   /sessions/batch/status                                   sessions.update_status_batch
POST    /sessions/batch/delete                                   sessions.delete_batch
GET     /sessions/{id}                                           sessions.get
PATCH   /sessions/{id}                                           sessions.update
DELETE  /sessions/{id}                                           sessions.delete
POST    /sessions/{id}/character/sync                            sessions.sync_character
GET     /sessions/{id}/scope                                     sessions.get_scope
GET     /sessions/{id}/effective-config                          sessions.get_effective_config
GET     /sessions/{id}/active-run                                sessions.get_active_run
POST    /sessions/{id}/active-run/cancel                         sessions.cancel_active_run
GET     /sessions/{id}/timeline                                  sessions.get_timeline
POST    /sessions/{id}/respond                                   sessions.respond
POST    /sessions/{id}/respond/stream                            sessions.respond_stream
POST    /sessions/{id}/respond/dry-run                           sessions.respond_dry_run
POST    /sessions/{id}/regenerate                                sessions.regenerate
POST    /sessions/{id}/regenerate/stream                         sessions.regenerate_stream
GET     /sessions/{id}/tools/runtime                             sessions.get_runtime_tool_catalog

POST    /floors                                                  floors.create
GET     /floors                                                  floors.list
GET     /floors/{id}                                             floors.get
PATCH   /floors/{id}                                             floors.update
DELETE  /floors/{id}                                             floors.delete
GET     /floors/{id}/run                                         floors.get_run
GET     /floors/{id}/result                                      floors.get_result
POST    /floors/{id}/retry                                       floors.retry
POST    /floors/{id}/retry/stream                                floors.retry_stream

POST    /pages                                                   pages.create
GET     /pages                                                   pages.list
POST    /pages/batch/delete                                      pages.delete_batch
GET     /pages/{id}                                              pages.get
PATCH   /pages/{id}                                              pages.update
PATCH   /pages/{id}/activate                                     pages.activate
DELETE  /pages/{id}                                              pages.delete

POST    /messages                                                messages.create
GET     /messages                                                messages.list
PATCH   /messages/batch/visibility                               messages.update_visibility_batch
POST    /messages/batch/delete                                   messages.delete_batch
GET     /messages/{id}                                           messages.get
GET     /messages/{id}/blobs/{hash}                              messages.get_blob
PATCH   /messages/{id}                                           messages.update
DELETE  /messages/{id}                                           messages.delete
POST    /messages/{id}/edit-and-regenerate                       messages.edit_and_regenerate
POST    /messages/{id}/edit-and-regenerate/stream                messages.edit_and_regenerate_stream

GET     /sessions/{id}/branches                                  branches.list
GET     /sessions/{id}/branches/diff                             branches.diff
POST    /sessions/{id}/branches/{branch}/reset                   branches.reset
POST    /sessions/{id}/branches/{branch}/merge/preview           branches.preview_merge
POST    /sessions/{id}/branches/{branch}/merge                   branches.merge
POST    /floors/{id}/branch                                      branches.create_from_floor
DELETE  /branches/{id}                                           branches.delete

PUT     /variables                                               variables.put
PUT     /variables/batch                                         variables.put_batch
GET     /variables                                               variables.list
GET     /variables/resolve                                       variables.resolve_context
GET     /variables/{id}                                          variables.get
DELETE  /variables/{id}                                          variables.delete
GET     /pages/{id}/variables/staged                             variables.get_page_staged_writes
GET     /pages/{id}/variables/promotions                         variables.get_page_promotions
GET     /pages/{id}/variables/changes                            variables.get_page_changes

GET     /sessions/{id}/working-variables                         working_variables.list
GET     /sessions/{id}/working-variables/{variable}              working_variables.read
PUT     /sessions/{id}/working-variables/{variable}              working_variables.write
DELETE  /sessions/{id}/working-variables/{variable}              working_variables.delete

POST    /sessions/{id}/state/namespaces                          session_state.register_namespace
GET     /sessions/{id}/state/namespaces                          session_state.list_namespaces
POST    /sessions/{id}/state/values/write                        session_state.write_value
DELETE  /sessions/{id}/state/values                              session_state.delete_value
GET     /sessions/{id}/state/resolve                             session_state.resolve
GET     /sessions/{id}/state/floors/{floor}/snapshot             session_state.get_floor_snapshots
GET     /sessions/{id}/state/diff                                session_state.diff

GET     /prompt-runtime/capabilities                             prompt_runtime.get_capabilities
GET     /sessions/{id}/prompt-runtime                            prompt_runtime.get
GET     /sessions/{id}/prompt-runtime/assets                     prompt_runtime.get_assets
GET     /sessions/{id}/prompt-runtime/mode                       prompt_runtime.get_mode
PATCH   /sessions/{id}/prompt-runtime/mode                       prompt_runtime.patch_mode
GET     /sessions/{id}/prompt-runtime/policy                     prompt_runtime.get_policy
PATCH   /sessions/{id}/prompt-runtime/policy                     prompt_runtime.patch_policy
GET     /sessions/{id}/prompt-runtime/branches/{branch}/policy   prompt_runtime.get_branch_policy
PATCH   /sessions/{id}/prompt-runtime/branches/{branch}/policy   prompt_runtime.patch_branch_policy
POST    /sessions/{id}/prompt-runtime/preview                    prompt_runtime.preview_text
POST    /sessions/{id}/prompt-runtime/inspect                    prompt_runtime.inspect
POST    /sessions/{id}/prompt-runtime/compare                    prompt_runtime.compare
GET     /floors/{id}/prompt-runtime/explain                      prompt_runtime.get_floor_explain

POST    /characters                                              characters.create
GET     /characters                                              characters.list
GET     /characters/{id}                                         characters.get
PATCH   /characters/{id}                                         characters.update
DELETE  /characters/{id}                                         characters.delete
POST    /characters/{id}/restore                                 characters.restore
GET     /characters/{id}/image                                   characters.get_image
PUT     /characters/{id}/image                                   characters.put_image
DELETE  /characters/{id}/image                                   characters.delete_image
GET     /characters/{id}/scripts                                 characters.get_scripts
PUT     /characters/{id}/scripts                                 characters.allow_scripts
GET     /characters/{id}/versions                                characters.list_versions
POST    /characters/{id}/versions                                characters.create_version
POST    /characters/{id}/versions/compare                        characters.compare_versions
GET     /characters/{id}/versions/{version_id}                   characters.get_version
POST    /characters/{id}/versions/{version_id}/rollback          characters.rollback_version

POST    /users                                                   users.create
GET     /users                                                   users.list
POST    /users/batch/delete                                      users.delete_batch
PATCH   /users/batch/status                                      users.update_status_batch
GET     /users/{id}                                              users.get
PATCH   /users/{id}                                              users.update
DELETE  /users/{id}                                              users.delete
POST    /users/{id}/restore                                      users.restore
GET     /users/{id}/image                                        users.get_image
PUT     /users/{id}/image                                        users.put_image
DELETE  /users/{id}/image                                        users.delete_image
GET     /users/{id}/versions                                     users.list_versions
POST    /users/{id}/versions/compare                             users.compare_versions
GET     /users/{id}/versions/{version_id}                        users.get_version
POST    /users/{id}/versions/{version_id}/rollback               users.rollback_version

POST    /presets                                                 presets.create
POST    /presets/test                                            presets.test
GET     /presets                                                 presets.list
GET     /presets/{id}                                            presets.get
PUT     /presets/{id}                                            presets.put
PATCH   /presets/{id}                                            presets.update
DELETE  /presets/{id}                                            presets.delete
POST    /presets/{id}/restore                                    presets.restore
GET     /presets/{id}/editor                                     presets.get_editor
GET     /presets/{id}/scripts                                    presets.get_scripts
PUT     /presets/{id}/scripts                                    presets.allow_scripts
GET     /presets/{id}/versions                                   presets.list_versions
POST    /presets/{id}/versions/compare                           presets.compare_versions
GET     /presets/{id}/versions/{version_id}                      presets.get_version
POST    /presets/{id}/versions/{version_id}/rollback             presets.rollback_version

GET     /presets/{id}/entries                                    preset_entries.list
POST    /presets/{id}/entries                                    preset_entries.create
PUT     /presets/{id}/entries/reorder                            preset_entries.reorder
PATCH   /presets/{id}/entries/batch/update                       preset_entries.update_batch
POST    /presets/{id}/entries/batch/delete                       preset_entries.delete_batch
GET     /presets/{id}/entries/{identifier}                       preset_entries.get
PATCH   /presets/{id}/entries/{identifier}                       preset_entries.update
DELETE  /presets/{id}/entries/{identifier}                       preset_entries.delete

POST    /worldbooks                                              worldbooks.create
GET     /worldbooks                                              worldbooks.list
POST    /worldbooks/test                                         worldbooks.test
GET     /worldbooks/{id}                                         worldbooks.get
PUT     /worldbooks/{id}                                         worldbooks.put
PATCH   /worldbooks/{id}                                         worldbooks.update
DELETE  /worldbooks/{id}                                         worldbooks.delete
POST    /worldbooks/{id}/restore                                 worldbooks.restore
GET     /worldbooks/{id}/versions                                worldbooks.list_versions
POST    /worldbooks/{id}/versions/compare                        worldbooks.compare_versions
GET     /worldbooks/{id}/versions/{version_id}                   worldbooks.get_version
POST    /worldbooks/{id}/versions/{version_id}/rollback          worldbooks.rollback_version

GET     /worldbooks/{id}/entries                                 worldbook_entries.list
POST    /worldbooks/{id}/entries                                 worldbook_entries.create
PATCH   /worldbooks/{id}/entries/batch/update                    worldbook_entries.update_batch
POST    /worldbooks/{id}/entries/batch/delete                    worldbook_entries.delete_batch
PUT     /worldbooks/{id}/entries/batch/reorder                   worldbook_entries.reorder
GET     /worldbooks/{id}/entries/{entry_id}                      worldbook_entries.get
PATCH   /worldbooks/{id}/entries/{entry_id}                      worldbook_entries.update
DELETE  /worldbooks/{id}/entries/{entry_id}                      worldbook_entries.delete

POST    /regex-profiles                                          regex_profiles.create
GET     /regex-profiles                                          regex_profiles.list
POST    /regex-profiles/test                                     regex_profiles.test
GET     /regex-profiles/{id}                                     regex_profiles.get
PUT     /regex-profiles/{id}                                     regex_profiles.put
PATCH   /regex-profiles/{id}                                     regex_profiles.update
DELETE  /regex-profiles/{id}                                     regex_profiles.delete
POST    /regex-profiles/{id}/restore                             regex_profiles.restore
GET     /regex-profiles/{id}/versions                            regex_profiles.list_versions
POST    /regex-profiles/{id}/versions/compare                    regex_profiles.compare_versions
GET     /regex-profiles/{id}/versions/{version_id}               regex_profiles.get_version
POST    /regex-profiles/{id}/versions/{version_id}/rollback      regex_profiles.rollback_version

POST    /import/character                                        imports.character
POST    /import/preset                                           imports.preset
POST    /import/worldbook                                        imports.worldbook
POST    /import/regex                                            imports.regex
POST    /import/chat                                             imports.chat
POST    /import/chat/jobs                                        imports.create_chat_job
POST    /import/hadtavern                                        imports.hadtavern
POST    /import/auto                                             imports.auto

GET     /export/character/{id}                                   exports.character
GET     /export/preset/{id}                                      exports.preset
GET     /export/worldbook/{id}                                   exports.worldbook
GET     /export/regex/{id}                                       exports.regex
GET     /export/chat/{id}                                        exports.chat
POST    /export/chat/{id}/jobs                                   exports.create_chat_job

GET     /chat-transfer-jobs                                      chat_transfer_jobs.list
GET     /chat-transfer-jobs/{id}                                 chat_transfer_jobs.get
POST    /chat-transfer-jobs/{id}/cancel                          chat_transfer_jobs.cancel
POST    /chat-transfer-jobs/{id}/retry                           chat_transfer_jobs.retry
GET     /chat-transfer-jobs/{id}/file                            chat_transfer_jobs.get_file

GET     /sessions/{id}/tool-permissions                          tools.get_permissions
PUT     /sessions/{id}/tool-permissions                          tools.put_permissions
PATCH   /sessions/{id}/tool-permissions                          tools.patch_permissions
GET     /sessions/{id}/tool-catalog                              tools.list_catalog
GET     /tools/builtin                                           tools.list_builtin
GET     /tools/definitions                                       tools.list_definitions
POST    /tools/definitions                                       tools.create_definition
GET     /tools/definitions/{id}                                  tools.get_definition
PATCH   /tools/definitions/{id}                                  tools.update_definition
DELETE  /tools/definitions/{id}                                  tools.delete_definition
PATCH   /tools/definitions/{id}/toggle                           tools.toggle_definition
POST    /tools/definitions/{id}/test                             tools.test_definition
POST    /tools/test                                              tools.test
GET     /floors/{id}/tool-executions                             tools.list_floor_executions
GET     /tool-executions                                         tools.list_executions
GET     /tool-executions/{id}                                    tools.get_execution
GET     /tools/call-records                                      tools.list_call_records

GET     /mcp/servers                                             mcp.list
POST    /mcp/servers                                             mcp.create
GET     /mcp/servers/{id}                                        mcp.get
PATCH   /mcp/servers/{id}                                        mcp.update
DELETE  /mcp/servers/{id}                                        mcp.delete
POST    /mcp/servers/{id}/connect                                mcp.connect
POST    /mcp/servers/{id}/disconnect                             mcp.disconnect
GET     /mcp/servers/{id}/status                                 mcp.get_status
POST    /mcp/servers/{id}/test                                   mcp.test
PATCH   /mcp/servers/{id}/toggle                                 mcp.toggle
GET     /mcp/servers/{id}/tools                                  mcp.list_tools
GET     /mcp/statuses                                            mcp.list_statuses

GET     /llm-profiles                                            llm_profiles.list
POST    /llm-profiles                                            llm_profiles.create
GET     /llm-profiles/{id}                                       llm_profiles.get
PATCH   /llm-profiles/{id}                                       llm_profiles.update
DELETE  /llm-profiles/{id}                                       llm_profiles.delete
POST    /llm-profiles/{id}/activate                              llm_profiles.activate
DELETE  /llm-profiles/bindings/{slot}                            llm_profiles.unbind
GET     /llm-profiles/runtime                                    llm_profiles.get_runtime
POST    /llm-profiles/models/discover                            llm_profiles.discover_models
POST    /llm-profiles/models/test                                llm_profiles.test_model
GET     /llm-instances                                           llm_instances.list
GET     /llm-instances/resolved                                  llm_instances.get_resolved
GET     /llm-instances/{slot}                                    llm_instances.get
PUT     /llm-instances/{slot}                                    llm_instances.update
DELETE  /llm-instances/{slot}                                    llm_instances.delete

GET     /memories                                                memories.list
POST    /memories                                                memories.create
GET     /memories/stats                                          memories.get_stats
PATCH   /memories/batch/status                                   memories.update_status_batch
POST    /memories/batch/delete                                   memories.delete_batch
GET     /memories/{id}                                           memories.get
PATCH   /memories/{id}                                           memories.update
DELETE  /memories/{id}                                           memories.delete
GET     /memories/{id}/history                                   memories.get_history
POST    /memories/{id}/undo                                      memories.undo
GET     /pages/{id}/memory/proposals                             memories.get_page_proposals
GET     /pages/{id}/memory/promotions                            memories.get_page_promotions
GET     /memory-edges                                            memory_edges.list
POST    /memory-edges                                            memory_edges.create
GET     /memory-edges/{id}                                       memory_edges.get
PATCH   /memory-edges/{id}                                       memory_edges.update
DELETE  /memory-edges/{id}                                       memory_edges.delete
GET     /memory/scopes                                           memory_scopes.list
POST    /memory/scopes/{scope}/{scope_id}/compact                memory_scopes.compact
POST    /memory/scopes/{scope}/{scope_id}/rebuild                memory_scopes.rebuild
GET     /memory/jobs                                             memory_jobs.list
POST    /memory/jobs/{id}/cancel                                 memory_jobs.cancel
POST    /memory/jobs/{id}/retry                                  memory_jobs.retry

GET     /accounts                                                accounts.list
POST    /accounts                                                accounts.create
GET     /accounts/{id}                                           accounts.get
PATCH   /accounts/{id}                                           accounts.update
DELETE  /accounts/{id}                                           accounts.delete
PUT     /accounts/{id}/password                                  accounts.set_password
POST    /accounts/{id}/purge                                     accounts.purge
GET     /accounts/{id}/purge                                     accounts.get_purge
DELETE  /accounts/{id}/purge                                     accounts.cancel_purge
GET     /accounts/{id}/export                                    accounts.export
GET     /accounts/{id}/identities                                accounts.list_identities
POST    /accounts/{id}/identities                                accounts.link_identity
DELETE  /accounts/{id}/identities/{identity}                     accounts.unlink_identity

GET     /budgets                                                 budgets.list
PUT     /budgets                                                 budgets.set
GET     /budgets/settings                                        budgets.settings
PUT     /budgets/settings                                        budgets.change_settings
DELETE  /budgets/{id}                                            budgets.delete
GET     /usage                                                   usage.list
GET     /usage/sums                                              usage.sums

GET     /clients                                                 clients.list
POST    /clients                                                 clients.create
GET     /clients/{id}                                            clients.get
PATCH   /clients/{id}                                            clients.update
POST    /clients/{id}/disable                                    clients.disable
POST    /clients/{id}/enable                                     clients.enable
GET     /clients/{id}/api-keys                                   clients.list_keys
POST    /clients/{id}/api-keys                                   clients.create_key
PATCH   /clients/{id}/api-keys/{key}                             clients.update_key
POST    /clients/{id}/api-keys/{key}/rotate                      clients.rotate_key
POST    /clients/{id}/api-keys/{key}/revoke                      clients.revoke_key

GET     /auth/ways                                               auth.list_ways
POST    /auth/sign-in/begin                                      auth.begin_sign_in
POST    /auth/sign-in                                            auth.sign_in
POST    /auth/sign-out                                           auth.sign_out
GET     /auth/me                                                 auth.get_me
PUT     /auth/password                                           auth.set_password
GET     /auth/sign-ins                                           auth.list_sign_ins
DELETE  /auth/sign-ins/{id}                                      auth.end_sign_in
GET     /auth/keys                                               auth.list_keys
GET     /auth/passkeys                                           auth.list_passkeys
POST    /auth/passkeys/begin                                     auth.begin_passkey
POST    /auth/passkeys                                           auth.add_passkey
PATCH   /auth/passkeys/{id}                                      auth.rename_passkey
DELETE  /auth/passkeys/{id}                                      auth.remove_passkey
GET     /auth/identities                                         auth.list_identities
POST    /auth/identities/begin                                   auth.begin_identity
POST    /auth/identities                                         auth.link_identity
DELETE  /auth/identities/{id}                                    auth.unlink_identity

POST    /vc-tags                                                 tags.create
GET     /vc-tags                                                 tags.list
GET     /vc-tags/{id}                                            tags.get
DELETE  /vc-tags/{id}                                            tags.delete

GET     /projects                                                projects.list
GET     /projects/{id}                                           projects.get
GET     /projects/{id}/sessions                                  projects.list_sessions
GET     /projects/{id}/effective-config                          projects.get_effective_config

GET     /operation-logs                                          operation_logs.list
GET     /sessions/{id}/operation-logs                            operation_logs.list_by_session
GET     /floors/{id}/operation-logs                              operation_logs.list_by_floor

GET     /api/pipelines                                           pipelines.list
GET     /api/pipelines/{id}                                      pipelines.get
PUT     /api/pipelines/{id}                                      pipelines.put
DELETE  /api/pipelines/{id}                                      pipelines.delete
POST    /api/pipelines/{id}/activate                             pipelines.activate
POST    /api/pipelines/{id}/rename                               pipelines.rename
GET     /api/pipelines/{id}/versions                             pipelines.list_versions
GET     /api/pipelines/{id}/versions/{number}                    pipelines.get_version
PUT     /api/pipelines/{id}/versions/{number}/name               pipelines.name_version
POST    /api/validate                                            pipelines.validate
POST    /api/preview                                             pipelines.preview
POST    /api/try                                                 pipelines.run
POST    /api/models                                              provider_presets.list_models

GET     /api/presets                                             provider_presets.list
GET     /api/presets/{id}                                        provider_presets.get
PUT     /api/presets/{id}                                        provider_presets.put
DELETE  /api/presets/{id}                                        provider_presets.delete
GET     /api/presets/{id}/versions                               provider_presets.list_versions
GET     /api/presets/{id}/versions/{number}                      provider_presets.get_version
PUT     /api/presets/{id}/versions/{number}/name                 provider_presets.name_version

GET     /api/runs                                                runs.list
GET     /api/runs/live                                           runs.stream_live
GET     /api/runs/{id}                                           runs.get
GET     /api/runs/{id}/request                                   runs.get_request
GET     /api/runs/{id}/events                                    runs.stream_events
GET     /api/runs/{id}/events/{sequence}                         runs.get_event
POST    /api/runs/{id}/cancel                                    runs.cancel

GET     /api/rules                                               rules.list
GET     /api/rules/{group}/{rule}                                rules.get
PUT     /api/rules/{group}/{rule}                                rules.put
DELETE  /api/rules/{group}/{rule}                                rules.delete

GET     /api/secrets                                             secrets.list
GET     /api/secrets/uses                                        secrets.list_uses
PUT     /api/secrets/{secret}                                    secrets.put
DELETE  /api/secrets/{secret}                                    secrets.delete

GET     /api/changes                                             editor.stream_changes
GET     /api/events                                              editor.stream_events
GET     /api/templates                                           editor.list_templates
GET     /api/node-types                                          editor.list_node_types
GET     /api/settings                                            editor.get_settings
GET     /api/context-names                                       editor.get_context_names
"""

NAMES: dict[tuple[str, str], tuple[str, str]] = {
    (method, path): (name.partition(".")[0], name.partition(".")[2])
    for method, path, name in (line.split() for line in NAMES_TEXT.splitlines() if line)
}

RESOURCES: dict[str, tuple[str, str]] = {
    "health": ("server", "Whether the server is up, and what it is."),
    "sessions": ("chats", "Sessions, and the turns that are taken in them."),
    "floors": ("chats", "Floors: a question with its answers."),
    "pages": ("chats", "Pages: a floor's question, or one version of its answer."),
    "messages": ("chats", "Messages: what stands on pages."),
    "branches": ("chats", "Branches of sessions."),
    "variables": ("chats", "Variables of the five tiers, as they are kept."),
    "working_variables": ("chats", "Long texts and values that agents work on."),
    "session_state": ("chats", "Session State: namespaces and slots with values."),
    "prompt_runtime": ("chats", "How prompts are made, and how they were."),
    "characters": ("library", "Characters in versions."),
    "users": ("library", "Users: whom the model speaks to."),
    "presets": ("library", "Prompt presets in versions."),
    "preset_entries": ("library", "The prompts of a prompt preset."),
    "worldbooks": ("library", "Worldbooks in versions."),
    "worldbook_entries": ("library", "The entries of a worldbook."),
    "regex_profiles": ("library", "Profiles of regex scripts in versions."),
    "imports": ("library", "Files that come in."),
    "exports": ("library", "Files that go out."),
    "chat_transfer_jobs": ("library", "Chats that come in or go out in the background."),
    "tools": ("tools", "Tools: which there are, which sessions allow, and what was called."),
    "mcp": ("tools", "MCP servers and their tools."),
    "llm_profiles": ("models", "LLM profiles: providers, keys and models, and which slots they serve."),
    "llm_instances": ("models", "What slots are to do, and with which parameters."),
    "memories": ("memories", "Memories: what chats know, and from where each is seen."),
    "memory_edges": ("memories", "What memories are to each other."),
    "memory_jobs": ("memories", "The jobs that write memories, and what became of them."),
    "memory_scopes": ("memories", "How far the jobs of memories have come."),
    "accounts": ("accounts", "Accounts: to whom things belong."),
    "clients": ("accounts", "Clients: programs by which an account comes in, and their keys."),
    "budgets": ("accounts", "Budgets: how much may be spent, and how much is."),
    "usage": ("accounts", "What calls to models took and cost."),
    "auth": ("accounts", "Who one is, and signing in to the page."),
    "projects": ("chats", "Projects, in which sessions are."),
    "tags": ("chats", "Tags: names of turns and of versions of assets."),
    "operation_logs": ("accounts", "The operation log: who changed what."),
    "pipelines": ("editor", "Pipelines: documents with versions, their check and their trial."),
    "provider_presets": ("editor", "Provider presets: documents with versions."),
    "runs": ("editor", "Runs of pipelines, while they happen and afterwards."),
    "rules": ("editor", "Skill rules: texts for agents, by name."),
    "secrets": ("editor", "Provider keys, which are never read back."),
    "editor": ("editor", "What the editor knows: node types, templates, settings, names, changes."),
}
"""The folder of each resource, and what it is."""

PLACES = {
    "branch": "branch_id",
    "floor": "floor_id",
    "identity": "identity_id",
    "key": "key_id",
    "variable": "name",
    "secret": "name",
    "mutation": "mutation_id",
}
"""What a placeholder of a path is called, where it is called otherwise."""
SINGULAR = {
    "sessions": "session_id", "floors": "floor_id", "pages": "page_id", "messages": "message_id", "branches": "branch_id",
    "variables": "variable_id", "characters": "character_id", "users": "user_id", "presets": "preset_id",
    "worldbooks": "worldbook_id", "regex-profiles": "regex_profile_id", "definitions": "definition_id",
    "tool-executions": "execution_id", "servers": "server_id", "pipelines": "pipeline_id", "runs": "run_id",
    "character": "character_id", "preset": "preset_id", "worldbook": "worldbook_id", "regex": "regex_profile_id",
    "llm-profiles": "profile_id", "projects": "project_id", "vc-tags": "tag_id",
    "accounts": "id", "sign-ins": "sign_in_id", "passkeys": "passkey_id", "identities": "identity_id",
    "clients": "client_id", "budgets": "budget_id",
    "chat": "session_id", "chat-transfer-jobs": "job_id", "jobs": "job_id", "memories": "memory_id", "memory-edges": "edge_id",
}  # fmt: skip
"""What ``{id}`` is called behind each word of a path."""

DOCUMENTS = {("PUT", "/api/pipelines/{id}"), ("PUT", "/api/presets/{id}")}
"""Routes whose body is one document, of whose fields the client knows nothing."""
FILES = {
    "/import/character",
    "/import/preset",
    "/import/worldbook",
    "/import/regex",
    "/import/chat",
    "/import/chat/jobs",
    "/import/hadtavern",
    "/import/auto",
}
"""Routes that take a file in place of JSON."""
WITHIN = {
    ("POST", "/sessions/{id}/prompt-runtime/compare"): {
        "left_floor_id": ("left", "floor_id"),
        "right_floor_id": ("right", "floor_id"),
    }
}
"""Bodies whose fields, all of them texts that must be there, stand in objects; and what the method calls them."""
PLAIN_QUERIES = {"limit": "int", "after": "int"}
"""Types of parameters of routes that have no form of their queries; others are texts."""
LISTS_WITHIN = {("GET", "/sessions/{id}/timeline"): "floors"}
"""Routes whose list stands within the data, by its name."""
FEEDS = {
    ("GET", "/api/changes"): "ChangeEvent",
    ("GET", "/api/events"): "ServerEvent",
    ("GET", "/api/runs/live"): "LiveEvent",
    ("GET", "/api/runs/{id}/events"): "StepEvent",
}
"""What each feed's events are, of ``agentui/sdk/feeds.py``."""
STREAMED = {("POST", "/api/try"): "run_stream"}
"""Routes that answer as a stream where the request within theirs asks for it, and the method that reads it."""
LEFT_OUT = {
    "proxy": "The vendors' own routes: their own SDKs call them.",
    "/session-state/": "For looking into faults; the contract keeps it out of the client.",
}
"""Routes without a method: a tag or a part of a path, and why."""
