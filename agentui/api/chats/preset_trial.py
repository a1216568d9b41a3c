"""Trying a prompt preset: the prompt that it makes, of the chat of a session or of nothing. Nothing is kept."""

from aiohttp import web

from agentui.api.chats.protocol import BODY, account_of, data_answer, now_ms, read_form, route
from agentui.api.keys import LIVE
from agentui.assets.bundle import PromptAssets
from agentui.assets.preset import PromptPreset
from agentui.http.route import Route
from agentui.library.content import MAX_CONTENT
from agentui.prompt.explain import shown_sections
from agentui.prompt.prepared import PreparedTurn, TurnMessage
from agentui.prompt.report import shown_messages
from agentui.prompt.section_runs import runs_of
from agentui.schemas.forms import Data
from agentui.schemas.prompt_look import PresetTestForm, TriedPreset
from agentui.threads import apart
from agentui.turns.live.preparing import Preparation, Seen
from agentui.turns.live.request import PromptRequest
from agentui.turns.request import ChatFacts
from agentui.variables.staging import Staged


async def test_preset(request: web.Request) -> web.Response:
    """Tell the prompt that a prompt preset would make, with what each of its texts costs. Raises 404 ``session_not_found`` and
    409 ``session_archived``."""
    form = await read_form(request, PresetTestForm, limit=MAX_CONTENT)
    preset = await apart(len(request[BODY]), lambda: PromptPreset.of(form.preset))
    if form.session_id is None:
        prepared = await _of_nothing(form, preset)
    else:
        asked = PromptRequest(account_of(request), form.session_id, form.message, form.branch_id, intent=form.prompt_intent)
        prepared = (await request.app[LIVE].look(asked, preset)).prepared
    return data_answer(await apart(len(request[BODY]), lambda: _tried(prepared)))


async def _of_nothing(form: PresetTestForm, preset: PromptPreset) -> PreparedTurn:
    """The prompt of a chat in which nothing was said, with nobody in it but who the macros name."""
    return await Preparation(
        seen=Seen(ChatFacts("", None, None, {}, {}), (), False, Staged({}, now=now_ms)),
        message=TurnMessage(form.message) if form.message else None,
        intent=form.prompt_intent,
        run_kind="dry_run",
        phase="preview",
        params=preset.params,
        recalled=form.macros,
        assets=PromptAssets(preset=preset),
    ).prepared()


def _tried(prepared: PreparedTurn) -> TriedPreset:
    facts = prepared.preset
    return TriedPreset(
        is_used=facts is not None,
        messages=shown_messages(prepared.messages),
        sections=shown_sections(runs_of(prepared.sections)),
        token_estimate=prepared.token_estimate,
        window=prepared.window,
        available_for_reply=prepared.available_for_reply,
        trigger_filtered_entry_ids=[] if facts is None else list(facts.trigger_filtered),
        warnings=[] if facts is None else list(facts.reading.warnings),
    )


ROUTES: tuple[Route, ...] = (
    route("POST", "/presets/test", test_preset, Data[TriedPreset], 404, 409, 413, body=PresetTestForm, writes=False),
)
