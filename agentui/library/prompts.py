"""The parts of a prompt preset: its ``prompts``, and the tracks of its ``prompt_order``."""

from collections.abc import Mapping, Sequence

from agentui.assets.preset import CURRENT_TRACK, selected_track
from agentui.assets.values import whole
from agentui.jsonio import Json
from agentui.library.content import Content


def joined(top_level: Mapping[str, Json], prompts: Sequence[Json], tracks: Sequence[Json]) -> Content:
    """A preset out of the three parts that an editor shows."""
    return {**top_level, "prompts": list(prompts), "prompt_order": list(tracks)}


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
