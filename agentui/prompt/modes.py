"""The prompt modes: which there are, and which one a session's prompts are assembled in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from agentui.jsonio import Json

PromptMode: TypeAlias = Literal["compat_strict", "compat_plus", "native"]
ModeSource: TypeAlias = Literal["session", "legacy_metadata", "default"]

DEFAULT_MODE: Final[PromptMode] = "compat_strict"

MODES: Final[Mapping[PromptMode, tuple[str, str]]] = {
    "compat_strict": ("What SillyTavern would send, and nothing else.", "none"),
    "compat_plus": ("What SillyTavern would send, with light additions.", "limited"),
    "native": ("The native assembly, which pipelines may change as they like.", "primary"),
}
"""What each mode is for, and how much agents may add to it."""


@dataclass(frozen=True, slots=True)
class ModeView:
    """The prompt mode of a session and where it comes from; ``prompt_mode`` is the effective one."""

    prompt_mode: PromptMode
    session_prompt_mode: PromptMode | None
    effective_prompt_mode: PromptMode
    default_prompt_mode: PromptMode
    legacy_fallback: bool
    source: ModeSource


def resolve_mode(own: str | None, metadata: Mapping[str, Json]) -> ModeView:
    """The mode of a session with this mode of its own and this metadata, where older clients keep it."""
    named = next((metadata[name] for name in ("promptMode", "prompt_mode") if metadata.get(name) in tuple(MODES)), None)
    mode = cast(PromptMode | None, own or named) or DEFAULT_MODE
    source: ModeSource = "session" if own else "legacy_metadata" if named else "default"
    return ModeView(mode, cast(PromptMode | None, own), mode, DEFAULT_MODE, source == "legacy_metadata", source)
