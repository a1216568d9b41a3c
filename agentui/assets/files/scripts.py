"""Regex scripts: SillyTavern's files of one script (an object) or several (a list), and those inside cards and presets.

What is kept of a file is ``{"name", "scripts": [...]}`` with every script as it came. Scripts that came inside of something
else do not run before they are allowed; the library keeps the hash of those that are, and no field of their own says it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.report import ImportReport
from agentui.assets.script import RegexScript, pattern_characters, too_many_patterns
from agentui.assets.values import members, text
from agentui.jsonio import Json, dumps

_KNOWN: Final = frozenset(
    (
        "id",
        "scriptName",
        "findRegex",
        "replaceString",
        "trimStrings",
        "placement",
        "disabled",
        "markdownOnly",
        "promptOnly",
        "runOnEdit",
        "substituteRegex",
        "minDepth",
        "maxDepth",
    )
)


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """Scripts as they are kept."""

    content: Mapping[str, Json]
    origin: Mapping[str, Json]
    report: ImportReport


@dataclass(frozen=True, slots=True)
class ScriptCompatibility:
    """Which scripts of a profile run, and on which texts (spec: tavern-api-2 part 7.1, with the placements that run here: what
    the user says, what the model answers, and lore)."""

    stored_count: int
    prompt_executable_count: int
    persist_executable_count: int
    display_only_count: int
    retained_non_executable_count: int
    reserved_world_info_count: int
    unsupported_runtime_count: int
    contains_prompt_only: bool
    contains_run_on_edit: bool
    contains_reasoning: bool
    contains_slash_command: bool


_RUNS: Final = frozenset({"user_input", "ai_output", "world_info"})
_RETAINED: Final = frozenset({"slash_command", "reasoning"})


def compatibility_of(scripts: Sequence[Mapping[str, Json]]) -> ScriptCompatibility:
    """What becomes of a profile's scripts."""
    read = [RegexScript.of(script) for script in scripts]
    runs, shown, others = list[RegexScript](), 0, list[RegexScript]()
    for script in read:
        if not script.is_disabled and not script.is_markdown_only and script.placements & _RUNS:
            runs.append(script)
        elif not script.is_disabled and script.is_markdown_only and not script.is_prompt_only:
            shown += 1
        else:
            others.append(script)
    return ScriptCompatibility(
        stored_count=len(read),
        prompt_executable_count=len(runs),
        persist_executable_count=sum(1 for script in runs if not script.is_prompt_only),
        display_only_count=shown,
        retained_non_executable_count=sum(1 for script in others if script.placements & (_RETAINED | {"world_info"})),
        reserved_world_info_count=0,
        unsupported_runtime_count=sum(1 for script in others if not script.placements or script.placements <= _RETAINED),
        contains_prompt_only=any(script.is_prompt_only for script in read),
        contains_run_on_edit=any(script.runs_on_edit for script in read),
        contains_reasoning=any("reasoning" in script.placements for script in read),
        contains_slash_command=any("slash_command" in script.placements for script in read),
    )


def read_scripts(document: Json, name: str, limits: FileLimits) -> ScriptFile:
    """The scripts of a file's JSON: one, a list of them, or what ``write_scripts`` gave. Raises InvalidFile."""
    limits.check(document)
    found = document.get("scripts") if isinstance(document, dict) and "scripts" in document else document
    scripts = [found] if isinstance(found, dict) else found
    if not isinstance(scripts, list):
        raise InvalidFile("Regex scripts are an object, or a list of objects.")
    wrong = too_many_patterns(pattern_characters(scripts), "profile")
    if wrong is not None:
        raise InvalidFile(f"The file cannot be taken: {wrong}.", is_too_large=True)
    report = ImportReport("regex_single" if isinstance(found, dict) else "regex_list")
    for index, script in enumerate(scripts):
        _check(script, f"[{index}]" if isinstance(found, list) else "", report)
    report.read["regex_scripts"] = len(scripts)
    own = members(document).get("name") if found is not document else None
    return ScriptFile({"name": name or text(own) or _name_of(scripts), "scripts": scripts}, {"format": report.format}, report)


def _check(script: Json, where: str, report: ImportReport) -> None:
    if not isinstance(script, dict):
        raise InvalidFile("A regex script is an object.", where)
    if not isinstance(script.get("findRegex"), str):
        raise InvalidFile("A regex script has a text findRegex.", f"{where}.findRegex".lstrip("."))
    for name in script:
        if name not in _KNOWN:
            report.ignore(f"[].{name:.60}")


def _name_of(scripts: list[Json]) -> str:
    """A name for scripts whose file has none: that of the first."""
    return next((name for script in scripts if (name := text(members(script).get("scriptName")).strip())), "Regex scripts")


def write_scripts(content: Mapping[str, Json]) -> bytes:
    """The scripts as SillyTavern's list."""
    return dumps(content.get("scripts") or [])


def embedded_scripts(content: Mapping[str, Json]) -> list[Json]:
    """The scripts inside a card's ``data`` or a preset, at ``extensions.regex_scripts``; what is no object is passed over."""
    found = members(content.get("extensions")).get("regex_scripts")
    return [script for script in (found if isinstance(found, list) else []) if isinstance(script, dict)]


def warn_of_patterns(scripts: Sequence[Json], report: ImportReport) -> None:
    """Tell of scripts inside of something else that are too many to be compiled for every prompt."""
    wrong = too_many_patterns(pattern_characters(scripts), "profile")
    if wrong is not None:
        report.downgrade(f"extensions.regex_scripts: {wrong}, so prompts leave some of them out")


def scripts_digest(scripts: Sequence[Json]) -> str:
    """The hash of the scripts inside a card or a preset, by which a consent names them; empty for none, which need none."""
    return sha256(dumps(list(scripts))).hexdigest() if scripts else ""
