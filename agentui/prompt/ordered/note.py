"""The author's note: a text of the chat's own, with what lorebooks and the persona put around it.

A session's metadata keeps it as SillyTavern's chats do: ``note_prompt``, ``note_interval`` (in user messages),
``note_position`` (0 behind the main prompt, 1 within the chat, 2 before the main prompt), ``note_depth``, ``note_role``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentui.assets.values import Role, role, whole
from agentui.jsonio import Json
from agentui.prompt.macros import PromptMacros, text_member
from agentui.prompt.ordered.cast import Cast

Place: TypeAlias = Literal["before_main", "after_main", "in_chat"]

_DEPTH: Final = 4
_PLACES: Final[Mapping[int, Place]] = {0: "after_main", 1: "in_chat", 2: "before_main"}


@dataclass(frozen=True, slots=True)
class AuthorsNote:
    """The note as it is sent; ``depth`` counts for a note within the chat alone."""

    text: str
    place: Place
    depth: int
    role: Role


def note_of(
    metadata: Mapping[str, Json], said: int, cast: Cast, top: Sequence[str], bottom: Sequence[str], macros: PromptMacros
) -> AuthorsNote | None:
    """The note of a turn; None where there is none, or where its interval says that it is not this turn's. ``said`` counts the
    user's messages; ``top`` and ``bottom`` are the lorebooks' texts around it."""
    if not _is_due(whole(metadata.get("note_interval"), 1), said):
        return None
    own, _ = macros.expand(text_member(metadata, "note_prompt", "authors_note", "authorsNote"))
    above, below = "\n".join(top), "\n".join(bottom)
    text = f"{above}\n{own}\n{below}".removeprefix("\n").removesuffix("\n")
    if cast.persona.place == "note_top":
        text = f"{cast.persona_text}\n{text}".strip("\n")
    elif cast.persona.place == "note_bottom":
        text = f"{text}\n{cast.persona_text}".strip("\n")
    place = _PLACES.get(whole(metadata.get("note_position"), 1), "in_chat")
    depth = max(whole(metadata.get("note_depth"), _DEPTH), 0)
    return AuthorsNote(text, place, depth, role(metadata.get("note_role"))) if text.strip() else None


def _is_due(interval: int, said: int) -> bool:
    return interval == 1 or (interval > 0 and said > 0 and said % interval == 0)
