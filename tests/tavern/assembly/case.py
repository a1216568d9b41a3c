"""A case: the files of a chat, its history, and the turns that are played in it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

HERE = Path(__file__).parent
ANSWER = "Ada nods."
"""What the model says in every turn."""


@dataclass(frozen=True, slots=True)
class Case:
    """What SillyTavern and agentui are both given. All objects are SillyTavern's own, with nothing left to a default.

    ``lore`` are books, each with what it is bound to (``global``, ``character``, ``persona``, ``chat``); ``scripts`` are regex
    scripts by where they come from (``global``, ``character``, ``preset``); ``history`` has ``role``, ``text`` and perhaps
    ``name`` and ``hidden``, oldest first; ``note`` is the author's note, or nothing; ``metadata`` is what
    else the chat says of itself; a turn has a ``type`` and perhaps a
    ``message`` or a ``quiet`` prompt. ``source`` is the kind of provider, by SillyTavern's name.
    """

    name: str
    group: str
    character: Mapping[str, Any]
    persona: Mapping[str, Any]
    preset: Mapping[str, Any]
    lore: Sequence[Mapping[str, Any]]
    lore_settings: Mapping[str, Any]
    scripts: Mapping[str, Sequence[Mapping[str, Any]]]
    history: Sequence[Mapping[str, Any]]
    note: Mapping[str, Any]
    metadata: Mapping[str, Any]
    turns: Sequence[Mapping[str, Any]]
    source: str

    @classmethod
    def of(cls, group: str, given: Mapping[str, Any]) -> "Case":
        """A case as ``cases/`` has it: what differs from ``base.json``."""
        base = _read(HERE / "base.json")
        # A card's or preset's own texts, and what `prompts` and `order` of a case change of the base's.
        preset = {**base["preset"], **given.get("preset", {})}
        preset["prompts"] = _prompts(base["preset"]["prompts"], given.get("prompts", {}))
        if "order" in given:
            preset["prompt_order"] = [{"character_id": 100001, "order": [_placed(one) for one in given["order"]]}]
        scripts = {
            origin: [
                {**base["script"], "id": f"{origin}-{number}", "scriptName": f"{origin} {number}", **one}
                for number, one in enumerate(given.get("scripts", {}).get(origin, ()))
            ]
            for origin in ("global", "character", "preset")
        }
        return cls(
            given["name"],
            group,
            {**base["character"], **given.get("character", {})},
            {**base["persona"], **given.get("persona", {})},
            preset,
            [_book(number, one, base["entry"]) for number, one in enumerate(given.get("lore", ()))],
            {**base["lore_settings"], **given.get("lore_settings", {})},
            scripts,
            given.get("history", base["history"]),
            given.get("note", {}),
            given.get("metadata", {}),
            given.get("turns", base["turns"]),
            given.get("source", "custom"),
        )

    def object(self) -> dict[str, Any]:
        """All of it, for the page."""
        told = {name: getattr(self, name) for name in self.__slots__} | {"answer": ANSWER}
        return told if self.metadata else {name: value for name, value in told.items() if name != "metadata"}

    @property
    def digest(self) -> str:
        """What names this case's content; a recording belongs to one."""
        return sha256(json.dumps(self.object(), sort_keys=True).encode()).hexdigest()[:16]


def cases() -> list[Case]:
    """All cases, by the files they are in."""
    return [Case.of(path.stem, one) for path in sorted((HERE / "cases").glob("*.json")) for one in _read(path)]


def recorded() -> dict[str, dict[str, Any]]:
    """What SillyTavern sent, by the case's name: ``digest``, and ``turns`` with ``messages`` and ``draws`` of each, and
    the ``prefill`` that its page sends apart."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((HERE / "recorded").glob("*.json")):
        found |= _read(path)
    return found


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _prompts(base: Sequence[Mapping[str, Any]], changed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The base's prompts with what is changed in them, and the case's own behind them. A text stands for its content."""
    asked = {name: {"content": one} if isinstance(one, str) else one for name, one in changed.items()}
    known = {str(one["identifier"]) for one in base}
    own = {"system_prompt": False, "role": "system", "content": "", "injection_position": 0, "injection_depth": 4}
    return [{**one, **asked.get(str(one["identifier"]), {})} for one in base] + [
        {**own, "identifier": name, "name": name, **one} for name, one in asked.items() if name not in known
    ]


def _placed(text: str) -> dict[str, Any]:
    """A row of a prompt order; a minus before it switches it off."""
    return {"identifier": text.removeprefix("-"), "enabled": not text.startswith("-")}


def _book(number: int, given: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """A book with all fields of its entries."""
    entries = {
        str(uid): {"uid": uid, "displayIndex": uid, **entry, "comment": f"entry {uid}", **cast(Mapping[str, Any], one)}
        for uid, one in enumerate(given["entries"])
    }
    return {"bound": given.get("bound", "global"), "name": f"book {number}", "book": {"entries": entries}}
