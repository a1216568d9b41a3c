"""What nodes may have of the library: characters and lorebooks by name, and the prompt that a session's assets make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from agentui.assets.character import Character
from agentui.assets.lorebook import BoundBook
from agentui.chat.messages import Message
from agentui.errors import AgentUIError, Problem
from agentui.jsonio import Json
from agentui.threads import in_thread

NamedKind = Literal["character", "worldbook"]
"""What a block may name."""
CHAT_SECTION: Final = "chatHistory"
"""The section of an assembled prompt that holds what was said."""
KINDS: Final[Mapping[str, NamedKind]] = {"character": "character", "lorebook": "worldbook"}
"""The kinds of blocks that name an asset, with what they name."""
MOST_CHECKED: Final = 500
"""Assets that one check of a document looks for."""


@dataclass(frozen=True, slots=True)
class AssetName:
    """An asset of the library by its id, or by its name in any case."""

    kind: NamedKind
    name: str


@dataclass(frozen=True, slots=True)
class AssembledPrompt:
    """The prompt that a session's assets made of its history. ``sections`` are its parts by the identifiers of SillyTavern's
    prompt manager (``main``, ``charDescription``, ``chatHistory``); ``ending`` is what an intent adds behind all."""

    messages: Sequence[Message]
    sections: Mapping[str, Sequence[Message]]


class AssetReader(Protocol):
    """The library as the pipeline reaches it. Every method raises the store's errors."""

    async def character(self, name: str) -> Character | None:
        """The active character of this id or name, with its newest content; None where there is none."""

    async def worldbook(self, name: str) -> BoundBook | None:
        """The worldbook, likewise."""

    async def unknown(self, names: Sequence[AssetName]) -> frozenset[AssetName]:
        """Those that there are not."""


class NoAssets:
    """A library that holds nothing."""

    async def character(self, name: str) -> Character | None:
        """None."""
        return None

    async def worldbook(self, name: str) -> BoundBook | None:
        """None."""
        return None

    async def unknown(self, names: Sequence[AssetName]) -> frozenset[AssetName]:
        """All of them."""
        return frozenset(names)


def no_assets(_: str) -> AssetReader:
    """The library of a pipeline that runs without one."""
    return NoAssets()


async def check_assets(document: Mapping[str, Json], reader: AssetReader) -> tuple[Problem, ...]:
    """A warning for each enabled block that names an asset which there is not. Where nobody can look there is none."""
    named = await in_thread(lambda: _named_in(document))
    if not named:
        return ()
    try:
        unknown = await reader.unknown(list(dict.fromkeys(name for _, _, name in named)))
    except AgentUIError:  # a memory that cannot be read tells so by itself
        return ()
    return tuple(
        Problem(
            "asset.unknown",
            missing_text(name),
            "warning",
            node=node,
            field=field,
            facts={"name": name.name, "reason": "character" if name.kind == "character" else "lorebook"},
        )
        for node, field, name in named
        if name in unknown
    )


def missing_text(name: AssetName) -> str:
    """What is said of an asset that there is not."""
    word = "character" if name.kind == "character" else "lorebook"
    return f"The library has no active {word} {name.name!r:.200}: add it, or choose another one for the Prompt Block."


def _named_in(document: Mapping[str, Json]) -> list[tuple[str | None, str, AssetName]]:
    """Node, field and name of the assets that enabled blocks name, in a document of any shape."""
    found: list[tuple[str | None, str, AssetName]] = []
    for node in _items(document.get("nodes")):
        config = node.get("config")
        blocks = config.get("blocks") if isinstance(config, Mapping) else None
        id = node.get("id")
        for number, block in enumerate(blocks if isinstance(blocks, list) else ()):
            name = _name_in(block)
            if name is not None:
                found.append((id if isinstance(id, str) else None, f"blocks.{number}.asset", name))
                if len(found) == MOST_CHECKED:
                    return found
    return found


def _items(nodes: Json) -> list[Mapping[str, Json]]:
    return [node for node in nodes if isinstance(node, Mapping)] if isinstance(nodes, list) else []


def _name_in(block: Json) -> AssetName | None:
    if not isinstance(block, Mapping) or block.get("enabled") is False:
        return None
    kind, name = block.get("kind"), block.get("asset")
    if not isinstance(kind, str) or kind not in KINDS or not isinstance(name, str) or not name.strip():
        return None
    return AssetName(KINDS[kind], name.strip())
