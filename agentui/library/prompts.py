"""The parts of a prompt preset: its ``prompts``, and the tracks of its ``prompt_order``."""

from collections.abc import Mapping, Sequence

from agentui.assets.preset import CURRENT_TRACK, selected_track
from agentui.assets.values import whole
from agentui.jsonio import Json
from agentui.library.content import Content


def joined(top_level: Mapping[str, Json], prompts: Sequence[Content], tracks: Sequence[Content]) -> Content:
    """A preset out of the three parts that an editor shows, whose ``extra`` stands beside the other members in the file.
    Whether a prompt is switched on stands in the orders: what an entry says of it is only shown."""
    return {
        **top_level,
        "prompts": [_flat(prompt, "enabled") for prompt in prompts],
        "prompt_order": [_flat(track) for track in tracks],
    }


def _flat(part: Content, *shown: str) -> Content:
    """A part of a preset as its file has it, without what is only ``shown`` and without what nobody said (null)."""
    extra = part.get("extra")
    own = {name: value for name, value in part.items() if name not in ("extra", *shown) and value is not None}
    return {**own, **extra} if isinstance(extra, dict) else own


def top_level_of(content: Mapping[str, Json]) -> Content:
    """All of a preset but its prompts and their orders."""
    return {name: value for name, value in content.items() if name not in ("prompts", "prompt_order")}


def prompts_of(content: Mapping[str, Json]) -> list[Content]:
    """The prompts, in the order of the file."""
    return [prompt for prompt in content.get("prompts") or [] if isinstance(prompt, dict) and "identifier" in prompt]


def tracks_of(content: Mapping[str, Json]) -> list[Content]:
    """The orders."""
    return [track for track in content.get("prompt_order") or [] if isinstance(track, dict)]


def active_track(content: Mapping[str, Json]) -> Content | None:
    """The order that counts; None where there is none that names a prompt."""
    tracks = [track for track in tracks_of(content) if track.get("order")]
    by_id = {whole(track.get("character_id"), 0): track for track in reversed(tracks)}
    selected = selected_track([whole(track.get("character_id"), 0) for track in tracks])
    return None if selected is None else by_id[selected]


def default_character_id(content: Mapping[str, Json]) -> int:
    """The id of the order that counts; that of a new one where there is none."""
    track = active_track(content)
    return CURRENT_TRACK if track is None else whole(track.get("character_id"), 0)
