"""Prompt presets: SillyTavern's chat completion presets, without the keys and addresses that they may hold.

What is kept is the preset whole, in SillyTavern's spelling (older files and TavernHeadless's have names in camel case), but for
members that say where requests go and with which key: those are dropped on the way in and on the way out, and the report
names them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.report import ImportReport
from agentui.assets.files.scripts import embedded_scripts, warn_of_patterns
from agentui.assets.preset import CURRENT_TRACK, PromptPreset
from agentui.assets.values import members
from agentui.jsonio import Json, dumps

_SECRETS: Final = frozenset(
    (
        *("reverse_proxy", "proxy_password", "custom_url", "custom_include_body", "custom_exclude_body"),
        *("custom_include_headers", "vertexai_region", "vertexai_express_project_id", "azure_base_url"),
        *("azure_deployment_name", "workers_ai_account_id"),
    )
)
"""Members that SillyTavern itself asks to remove from presets that are passed on."""
_SECRET: Final = re.compile(
    r"api[_-]?key|password|passphrase|secret|authorization|bearer|(?:access|auth)[_-]?token", re.IGNORECASE
)
"""Names of members, at any depth, that hold keys."""
_TOP: Final = (
    *("temperature", "top_p", "top_k", "top_a", "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty"),
    *("openai_max_context", "openai_max_tokens", "max_context_unlocked", "names_behavior", "send_if_empty"),
    *("impersonation_prompt", "new_chat_prompt", "new_group_chat_prompt", "new_example_chat_prompt", "continue_nudge_prompt"),
    *("wi_format", "scenario_format", "personality_format", "group_nudge_prompt", "stream_openai", "assistant_prefill"),
    *("assistant_impersonation", "squash_system_messages", "continue_prefill", "continue_postfix", "reasoning_effort"),
    *("prompt_order", "show_thoughts", "function_calling"),
)
_PROMPT: Final = (
    *("identifier", "name", "role", "content", "system_prompt", "marker", "enabled", "injection_position", "injection_depth"),
    *("injection_order", "injection_trigger", "forbid_overrides", "extension"),
)
_SWITCH: Final = ("identifier", "enabled")
_TRACK: Final = ("character_id", "order", *_SWITCH)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


_ALIASES: Final = {_camel(name): name for name in (*_TOP, *_PROMPT, *_TRACK)}
"""Names in camel case with SillyTavern's."""


@dataclass(frozen=True, slots=True)
class PresetFile:
    """A prompt preset as it is kept."""

    content: Mapping[str, Json]
    origin: Mapping[str, Json]
    report: ImportReport


def read_preset(document: Json, limits: FileLimits) -> PresetFile:
    """The preset of a file's JSON. Raises InvalidFile for what is no object, and for lists that are none."""
    limits.check(document)
    if not isinstance(document, dict):
        raise InvalidFile("A prompt preset is a JSON object.")
    report = ImportReport("sillytavern_preset")
    content = _spelled(_cleaned(document, "top_level", report), "top_level", report)
    if "prompts" in content:
        content["prompts"] = _different(_spelled_list(content["prompts"], "prompts", _PROMPT, report), report)
    if "prompt_order" in content:
        content["prompt_order"] = _tracks(_spelled_list(content["prompt_order"], "prompt_order", _TRACK, report), report)
    if not any(name in content for name in (*_TOP, "prompts", "temp_openai")):
        raise InvalidFile("This is no chat completion preset: it has no prompts and no field of one.")
    _tell(content, report)
    origin: dict[str, Json] = {"format": report.format}
    return PresetFile(content, origin, report)


def _cleaned(value: Mapping[str, Json], where: str, report: ImportReport) -> dict[str, Json]:
    """The members without those that hold keys or addresses, at every depth; what is empty is dropped without a word."""
    kept: dict[str, Json] = {}
    for name, member in value.items():
        if (where == "top_level" and name in _SECRETS) or (_SECRET.search(name) and not isinstance(member, bool | int | float)):
            if member and len(report.dropped_fields) < 100:
                report.dropped_fields.append(f"{where}.{name:.60}")
        else:
            kept[name] = _cleaned_value(member, f"{where}.{name:.60}", report)
    return kept


def _cleaned_value(value: Json, where: str, report: ImportReport) -> Json:
    if isinstance(value, dict):
        return _cleaned(value, where, report)
    if isinstance(value, list):
        return [_cleaned_value(item, f"{where}[]", report) for item in value]
    return value


def _spelled(value: Mapping[str, Json], where: str, report: ImportReport) -> dict[str, Json]:
    """The members in SillyTavern's spelling; a member that is there in both stays in both."""
    spelled: dict[str, Json] = {}
    for name, member in value.items():
        own = _ALIASES.get(name, name)
        if own != name and own not in value:
            report.downgrade(f"{where}.{name} was read as {own}")
            spelled[own] = member
        else:
            spelled[name] = member
    return spelled


def _spelled_list(value: Json, where: str, known: tuple[str, ...], report: ImportReport) -> list[dict[str, Json]]:
    """The objects of a list. Raises InvalidFile where it is none; what is no object in it is left out."""
    if not isinstance(value, list):
        raise InvalidFile("This must be a list.", where)
    objects = [_spelled(item, f"{where}[]", report) for item in value if isinstance(item, dict)]
    if len(objects) < len(value):
        report.downgrade(f"{where}[]: what is no object was left out")
    for item in objects:
        _ignore(item, known, f"{where}[]", report)
    return objects


def _different(prompts: list[dict[str, Json]], report: ImportReport) -> list[dict[str, Json]]:
    """The prompts by which a track can call them: of several with one identifier the first."""
    found: dict[str, dict[str, Json]] = {}
    for index, prompt in enumerate(prompts):
        identifier = prompt.get("identifier")
        if not isinstance(identifier, str) or not identifier:
            report.downgrade(f"prompts[{index}]: it has no identifier and was left out")
        elif identifier in found:
            report.downgrade(f"prompts[{index}]: another prompt is called {identifier!r:.60}; this one was left out")
        else:
            found[identifier] = prompt
    return list(found.values())


def _tracks(tracks: list[dict[str, Json]], report: ImportReport) -> list[dict[str, Json]]:
    """The tracks that order something; a list of switches alone, as the prompt manager writes it, is one of them."""
    if tracks and all("identifier" in track for track in tracks):
        tracks = [{"character_id": CURRENT_TRACK, "order": tracks}]
    found = []
    for index, track in enumerate(tracks):
        order = track.get("order")
        given = order if isinstance(order, list) else []
        switches = [switch for switch in given if isinstance(members(switch).get("identifier"), str)]
        if not isinstance(order, list) or len(switches) < len(given):
            report.downgrade(f"prompt_order[{index}]: what names no prompt was left out")
        for switch in switches:
            _ignore(switch, _SWITCH, "prompt_order[].order[]", report)
        found.append({**track, "order": switches})
    return found


def _ignore(item: Mapping[str, Json], known: tuple[str, ...], where: str, report: ImportReport) -> None:
    for name in item:
        if name not in known:
            report.ignore(f"{where}.{name:.60}")


def _tell(content: Mapping[str, Json], report: ImportReport) -> None:
    """Note what the reading of the preset noticed."""
    preset = PromptPreset.of(content)
    reading = preset.reading
    report.selected_track, report.ignored_tracks = reading.selected_track, list(reading.ignored_tracks)
    report.unsupported_fields += reading.unsupported
    report.unresolved_markers += reading.markers
    for name in reading.ignored:
        report.ignore(name)
    for warning in reading.warnings:
        report.warn(warning)
    report.read |= {"prompts": len(preset.order), "parameters": len(preset.params)}
    scripts = embedded_scripts(content)
    report.read["regex_scripts"] = report.scripts_waiting = len(scripts)
    warn_of_patterns(scripts, report)


def write_preset(content: Mapping[str, Json]) -> bytes:
    """A prompt preset as SillyTavern's file, without keys and addresses."""
    return dumps(_cleaned(content, "top_level", ImportReport("")))
