"""What a prompt would be: previews of texts, and inspections of whole prompts. Nothing is written, and no model is asked."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial

from aiohttp import web

from agentui.api.chats.prompt_policy import mode_of
from agentui.api.chats.protocol import account_of, data_answer, now_ms, path_id, read, read_form, route
from agentui.api.keys import LIVE
from agentui.http.keys import PRINCIPAL
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.library.bundles import Bundle
from agentui.prompt.capabilities import LIMITATIONS
from agentui.prompt.explain import (
    Diagnostic,
    diagnostics,
    governance,
    section_stats,
    shown_policy,
    shown_sections,
    shown_sources,
)
from agentui.prompt.macro_report import macro_report
from agentui.prompt.memory import memory_document
from agentui.prompt.prepared import PreparedTurn
from agentui.prompt.preview import TextPreview, preview_text
from agentui.prompt.report import history_normalization, prompt_snapshot, runtime_trace, shown_messages
from agentui.prompt.section_runs import runs_of
from agentui.schemas.forms import Data
from agentui.schemas.prompt_look import (
    InspectedTurn,
    InspectForm,
    Inspection,
    PreparePhase,
    PreviewedText,
    PreviewForm,
    StateWrites,
)
from agentui.threads import in_thread
from agentui.turns.live.generation import NO_PARAMS, merged_params
from agentui.turns.live.looking import Look, LookedAt, look_at
from agentui.turns.live.preparing import Preparation, Seen, history_reach, in_its_thread, macro_work, past_macros
from agentui.turns.live.request import PromptRequest
from agentui.turns.rules import resolved
from agentui.variables.staging import Staged

TURN_CONFIG: Mapping[str, Json] = {
    "enableTools": False,
    "enableDirector": False,
    "enableVerifier": False,
    "enableMemoryConsolidation": False,
    "toolMode": "inline",
    "verifierFailStrategy": "warn",
    "maxRetries": 1,
}
"""How a turn goes, unless its request says otherwise."""


async def check_pipeline(request: web.Request) -> None:
    """Raise NotFound or InvalidPipeline where the path names a pipeline that could answer no turn."""
    named = request.match_info.get("pipeline")
    if named is not None:
        await request.app[LIVE].choice.ready(request[PRINCIPAL], named)
        request.app[LIVE].choice.check(request[PRINCIPAL], named)


async def preview(request: web.Request) -> web.Response:
    """Replace the macros of a text, as they would be in the next prompt of a branch."""
    await check_pipeline(request)
    id, form = path_id(request), await read_form(request, PreviewForm)
    size = partial(history_reach, form.override, Bundle(), NO_PARAMS, None)
    look = await read(request, look_at, id, form.branch_id, form.source_floor_id, size)
    resolution = resolved(look.facts.policies, form.override)
    seen = Seen(look.facts, look.past.entries, look.past.is_cut, Staged(look.layers, now=now_ms), look.past.unread)
    bound, live = look.facts.bindings, request.app[LIVE]
    bundle, model = await live.bundles.load(account_of(request), bound), live.choice.model(look.facts)
    preparation = Preparation(
        seen,
        None,
        run_kind="dry_run",
        phase="preview",
        policy=resolution.policy,
        params=merged_params(bound.get("model_params"), {}, bundle.params, model.params),
        recalled=past_macros(look.past),
        model=live.choice.model_name(model),
        assets=bundle.assets,
    )
    memory = await live.reminded(account_of(request), look, preparation)
    given = replace(preparation, memory=memory).input()
    shown = await in_its_thread(given, lambda: preview_text(given, form.text), macro_work(form.text))
    return data_answer(
        PreviewedText(
            scope=look.scope,
            policy=shown_policy(resolution),
            source_map=shown_sources(resolution, look.scope),
            text=shown.text,
            runtime_trace=_preview_trace(shown),
            memory=memory_document(memory),
            diagnostics=diagnostics(resolution) + _look_diagnostics(look, "preview"),
            limitations=["A preview replaces macros; it tells nothing of the prompt as a whole.", *LIMITATIONS],
        )
    )


async def inspect(request: web.Request) -> web.Response:
    """Make the prompt of a message without sending it, and tell all of it."""
    await check_pipeline(request)
    id, form = path_id(request), await read_form(request, InspectForm)
    params = form.generation_params.given
    looked = await request.app[LIVE].look(
        PromptRequest(
            account_of(request),
            id,
            form.message,
            form.branch_id,
            form.source_floor_id,
            form.prompt_intent,
            params,
            form.override,
        )
    )
    return data_answer(await in_thread(lambda: _inspected(form, looked)))


def _inspected(form: InspectForm, looked: LookedAt) -> Inspection:
    """All that is told of a prompt."""
    look, resolution, prepared = looked.look, looked.resolution, looked.prepared
    debug, config = form.debug_options.model_dump(), form.config.given
    runs = runs_of(prepared.sections)
    return Inspection(
        scope=look.scope,
        mode=mode_of(look.session),
        policy=shown_policy(resolution, debug),
        source_map=shown_sources(resolution, look.scope, debug),
        history_normalization=history_normalization(prepared),
        diagnostics=diagnostics(resolution, prepared) + _look_diagnostics(look, "dry_run"),
        trim_reasons=[asdict(reason) for reason in prepared.trim_reasons],
        excluded_sources=[asdict(exclusion) for exclusion in prepared.excluded_sources],
        section_stats=section_stats(runs),
        limitations=list(LIMITATIONS),
        prepared_turn=InspectedTurn(
            messages=shown_messages(prepared.messages),
            token_estimate=prepared.token_estimate,
            available_for_reply=prepared.available_for_reply,
            preprocessed_user_message=prepared.preprocessed_user_message,
            prompt_snapshot=prompt_snapshot(prepared, looked.bundle.ids()),
            runtime_trace=runtime_trace(prepared, is_kept=False, with_matches=form.debug_options.include_worldbook_matches),
            sections=shown_sections(runs),
            memory=memory_document(prepared.memory),
            memory_summary=prepared.memory.text or None,
            generation_params=dict(looked.params),
            requested_turn_config=config or None,
            turn_config={**TURN_CONFIG, **{name: value for name, value in config.items() if value is not None}},
            session_state_writes=StateWrites(len(form.told_writes), form.told_writes),
            contributors=[],
            prepare_phase_trace=_phases(look, prepared),
        ),
        governance=governance(runs),
    )


def _preview_trace(shown: TextPreview) -> dict[str, Json]:
    prepared = shown.prepared
    visibility = prepared.policy.visibility
    return {
        "macro": macro_report(shown.report, is_kept=False),
        "source_selection": {"excluded_sources": [asdict(each) for each in prepared.excluded_sources]},
        "visibility": {
            "hidden_floor_ranges": [asdict(each) for each in visibility.hidden_floor_ranges],
            "filtered_floor_nos": list(prepared.filtered_floor_nos),
        },
        "history_normalization": history_normalization(prepared),
    }


def _look_diagnostics(look: Look, phase: str) -> list[Diagnostic]:
    """What is to be known of the branch."""
    scope, found = look.scope, []
    if not scope.branch_exists:
        text = f"The branch {scope.target_branch_id!r} does not exist yet, so that it has no policy of its own."
        code = "unmaterialized_branch_preview" if phase == "preview" else "unmaterialized_branch_inspect"
        found.append(Diagnostic(code, text, "info", "branch", phase=phase))
    if look.ignored_source_floor_id is not None:
        text = f"The branch {scope.target_branch_id!r} exists, and goes on from its head: the source floor does not count."
        found.append(Diagnostic("source_floor_ignored", text, "info", "branch", "source_floor_id", phase))
    return found


def _phases(look: Look, prepared: PreparedTurn) -> list[PreparePhase]:
    """How the prompt came about, step by step."""
    sections = prepared.sections
    return [
        PreparePhase("conversation_resolve", {"entries": len(look.past.entries), "is_cut": look.past.is_cut}),
        PreparePhase("source_resolve", {"excluded": len(prepared.excluded_sources)}),
        PreparePhase("assemble", {"sections": len(sections), "kept": sum(section.kept for section in sections)}),
        PreparePhase("materialize", {"messages": len(prepared.messages), "structure": prepared.structure.mode}),
        PreparePhase("inspect", {"token_estimate": prepared.token_estimate, "input_limit": prepared.input_limit}),
    ]


ROUTES: tuple[Route, ...] = (
    route(
        "POST", "/sessions/{id}/prompt-runtime/preview", preview, Data[PreviewedText], 409, 413, body=PreviewForm, writes=False
    ),
    route("POST", "/sessions/{id}/prompt-runtime/inspect", inspect, Data[Inspection], 409, 413, body=InspectForm, writes=False),
)
