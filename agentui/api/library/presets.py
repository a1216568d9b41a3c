"""Prompt presets: which prompts a model is sent, in which order, and with which settings."""

from functools import partial

from aiohttp import web

from agentui.api.chats.protocol import data_answer, path_id, read, route
from agentui.api.library.profiles import ProfileRoutes
from agentui.http.route import Route
from agentui.jsonio import loads
from agentui.library.assets import find_content
from agentui.library.prompts import default_character_id, prompts_of, top_level_of, tracks_of
from agentui.library.records import Kept
from agentui.schemas.forms import Data
from agentui.schemas.library import NewPreset, PresetEditor, PresetPut
from agentui.threads import apart


def _content(form: NewPreset | PresetPut) -> dict[str, object]:
    return form.data if isinstance(form, NewPreset) else form.editor.content


KIND = ProfileRoutes("preset", "/presets", NewPreset, PresetPut, _content)


async def get_editor(request: web.Request) -> web.Response:
    """Read a prompt preset in the parts that an editor shows, and takes back."""
    kept = await read(request, find_content, "preset", path_id(request))
    return data_answer(await apart(len(kept.text), partial(_editor, kept)))


def _editor(kept: Kept) -> PresetEditor:
    content = loads(kept.text)
    return PresetEditor(
        id=kept.asset_id,
        name=kept.name,
        version=kept.version_no,
        version_id=kept.version_id,
        updated_at=kept.updated_at,
        default_character_id=default_character_id(content),
        entries=prompts_of(content),
        order_contexts=tracks_of(content),
        top_level=top_level_of(content),
    )


ROUTES: tuple[Route, ...] = (
    *KIND.routes,
    route("GET", "/presets/{id}/editor", get_editor, Data[PresetEditor]),
)
