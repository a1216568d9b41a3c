"""What the server speaks of: editor, secrets."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class NewSecret(TypedDict):
    """A provider key to store. Without ``origins`` it is bound to those that are known for its name."""

    value: str
    origins: NotRequired[list[str] | None]


class SecretLine(TypedDict):
    """A provider key by its name: where it is kept, and where it may be sent (null: anywhere)."""

    name: str
    source: Literal["environment", "store", "account"]
    origins: list[str] | None


class SecretUse(TypedDict):
    """The ids of the pipelines and presets that name a key."""

    name: str
    pipelines: NotRequired[list[str]]
    presets: NotRequired[list[str]]
