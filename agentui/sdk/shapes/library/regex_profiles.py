"""What the server speaks of: library, regex profiles."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class NewRegexProfile(TypedDict):
    """A regex profile to be made; ``data`` are its scripts."""

    name: str
    data: list[dict[str, Json]]
    tags: NotRequired[list[str]]


class RegexProfilePut(TypedDict):
    """What a regex profile shall be like from now on; ``data`` are its scripts."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    name: str
    data: list[dict[str, Json]]


class RegexTestForm(TypedDict):
    """Scripts in SillyTavern's members, and a text of a kind: ``placement`` is SillyTavern's number. ``depth`` counts
    messages from the newest, which is 0; null is a text without one. ``macros`` are values of macros by name.
    """

    scripts: list[dict[str, Json]]
    text: str
    placement: NotRequired[Literal[1, 2, 3, 5, 6]]
    depth: NotRequired[int | None]
    macros: NotRequired[dict[str, str]]


class TriedChannel(TypedDict):
    """The text as it becomes in one channel, how long that took, and what became of the scripts that are for its
    placement.
    """

    text: str
    milliseconds: float
    trace: list[TriedScript]


class TriedScript(TypedDict):
    """What became of one script: ``skipped`` says why it changed nothing, null that it matched."""

    name: str
    matches: int
    skipped: (
        Literal["not_allowed", "channel_filtered", "depth_filtered", "invalid_regex", "no_match", "timed_out", "too_large"]
        | None
    )
    error: str


class TriedText(TypedDict):
    """The text as it is kept, sent to a model, shown, and kept after an edit."""

    persist: TriedChannel
    prompt: TriedChannel
    display: TriedChannel
    edit: TriedChannel
