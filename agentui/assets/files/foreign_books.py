"""Lorebooks of NovelAI, Agnai and RisuAI, made into SillyTavern's form.

Members that have no place there are kept below ``extensions`` of the entry or of the book, under the program's name.
"""

from collections.abc import Callable, Mapping
from typing import Final

from agentui.assets.files.report import ImportReport
from agentui.assets.values import flag, members, text, texts, whole
from agentui.jsonio import Json

_PLAIN: Final[Mapping[str, Json]] = {
    "constant": False,
    "selective": False,
    "selectiveLogic": 0,
    "position": 0,
    "disable": False,
    "probability": 100,
    "useProbability": True,
}
"""What an entry is unless its program says otherwise."""


def _novelai(book: Mapping[str, Json], report: ImportReport) -> dict[str, Json]:
    def convert(entry: Mapping[str, Json]) -> dict[str, Json]:
        context = members(entry.get("contextConfig"))
        return {
            "key": list(texts(entry.get("keys"))),
            "comment": text(entry.get("displayName")),
            "content": text(entry.get("text")),
            "constant": flag(entry.get("forceActivation")),
            "order": whole(context.get("budgetPriority"), 0),
            "disable": not flag(entry.get("enabled"), True),
        }

    return _converted(
        book, "entries", "novelai", convert, ("keys", "displayName", "text", "forceActivation", "enabled"), report
    )


def _agnai(book: Mapping[str, Json], report: ImportReport) -> dict[str, Json]:
    def convert(entry: Mapping[str, Json]) -> dict[str, Json]:
        return {
            "key": list(texts(entry.get("keywords"))),
            "comment": text(entry.get("name")),
            "content": text(entry.get("entry")),
            "order": whole(entry.get("weight"), 0),
            "disable": not flag(entry.get("enabled"), True),
        }

    return _converted(book, "entries", "agnai", convert, ("keywords", "name", "entry", "weight", "enabled"), report)


def _risu(book: Mapping[str, Json], report: ImportReport) -> dict[str, Json]:
    def convert(entry: Mapping[str, Json]) -> dict[str, Json]:
        chance = entry.get("activationPercent")
        return {
            "key": _split(entry.get("key")),
            "keysecondary": _split(entry.get("secondkey")),
            "comment": text(entry.get("comment")),
            "content": text(entry.get("content")),
            "constant": flag(entry.get("alwaysActive")),
            "selective": flag(entry.get("selective")),
            "order": whole(entry.get("insertorder"), 100),
            "probability": whole(chance, 100),
        }

    read = ("key", "secondkey", "comment", "content", "alwaysActive", "selective", "insertorder", "activationPercent")
    return _converted(book, "data", "risu", convert, read, report)


def _split(keys: Json) -> list[str]:
    """Keys that stand in one text with commas between them."""
    return [key for part in text(keys).split(",") if (key := part.strip())]


def _converted(
    book: Mapping[str, Json],
    at: str,
    program: str,
    convert: Callable[[Mapping[str, Json]], dict[str, Json]],
    read: tuple[str, ...],
    report: ImportReport,
) -> dict[str, Json]:
    """The book with each entry of the list ``at`` converted; ``read`` are the members that went into it."""
    made: dict[str, Json] = {}
    for index, entry in enumerate(book[at]):
        if not isinstance(entry, dict):
            report.downgrade(f"{at}[{index}]: this is no object and was left out")
            continue
        rest = {name: value for name, value in entry.items() if name not in read}
        for name in rest:
            report.ignore(f"{at}[].{name:.60}")
        own = {"uid": len(made), "displayIndex": len(made), "keysecondary": [], **_PLAIN, **convert(entry)}
        made[str(len(made))] = {**own, "addMemo": bool(own["comment"]), "extensions": {program: rest} if rest else {}}
    beside = {name: value for name, value in book.items() if name not in (at, "name")}
    return {"name": text(book.get("name")), "entries": made, "extensions": {program: beside}}


FOREIGN: Final[Mapping[str, Callable[[Mapping[str, Json], ImportReport], dict[str, Json]]]] = {
    "novelai": _novelai,
    "agnai": _agnai,
    "risu": _risu,
}
"""By the name of the program."""
