"""Prompt presets: which prompts a model is sent, in which order, and with which settings."""

from functools import partial

from aiohttp import web

from agentui.api.chats.protocol import data_answer, path_id, read, route
from agentui.api.library.profiles import ProfileRoutes
from agentui.http.route import Route
from agentui.jsonio import loads
from agentui.library.content import Content
from agentui.library.entries import find_whole
from agentui.library.preset_entries import entries_of
from agentui.library.prompts import default_character_id, prompts_of, top_level_of, tracks_of
from agentui.library.records import Asset, Kept
from agentui.schemas.forms import Data
from agentui.schemas.library import NewPreset, OrderContext, PresetEditor, PresetParts, PresetPut
from agentui.threads import apart


def _content(form: NewPreset | PresetPut) -> dict[str, object]:
    return form.data if isinstance(form, NewPreset) else form.editor.content


KIND = ProfileRoutes("preset", "/presets", NewPreset, PresetPut, _content)


async def get_editor(request: web.Request) -> web.Response:
    """Read a prompt preset in the parts that an editor shows, and takes back."""
    asset, kept = await read(request, find_whole, "preset", path_id(request))
    return data_answer(await apart(len(kept.text), partial(_editor, asset, kept)))


def _editor(asset: Asset, kept: Kept) -> PresetEditor:
    content = loads(kept.text)
    by_identifier = {entry.identifier: entry for entry in entries_of(content)}
    # In the order of the file, which a preset that is put back as it was keeps.
    prompts = dict.fromkeys(prompt["identifier"] for prompt in prompts_of(content))
    parts = PresetParts(
        format="st-raw",
        default_character_id=default_character_id(content),
        entries=[by_identifier[identifier] for identifier in prompts],
        order_contexts=[_context(track) for track in tracks_of(content)],
        top_level=top_level_of(content),
    )
    return PresetEditor(
        id=kept.asset_id,
        name=kept.name,
        source=asset.source,
        version=kept.version_no,
        version_id=kept.version_id,
        created_at=asset.created_at,
        updated_at=kept.updated_at,
        editor=parts,
    )


def _context(track: Content) -> OrderContext:
    extra = {name: value for name, value in track.items() if name not in ("character_id", "order")}
    return OrderContext(track.get("character_id"), track.get("order"), extra)


ROUTES: tuple[Route, ...] = (
    *KIND.routes,
    route("GET", "/presets/{id}/editor", get_editor, Data[PresetEditor]),
)
