"""The entries of a prompt preset: its ``prompts``, each with whether the order that counts switches it on.

The functions that change a content take it as it was parsed, and change it in place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentui.assets.preset import CURRENT_TRACK, FACTORY_ORDER
from agentui.assets.values import Role, flag, role, text, whole
from agentui.chats.codes import failure
from agentui.jsonio import Json, dumps_text
from agentui.library.content import Content
from agentui.library.entries import check_length, part_missing
from agentui.library.prompts import active_track, prompts_of, tracks_of

MEMBERS: Final = (
    *("identifier", "name", "role", "content", "system_prompt", "marker", "injection_position", "injection_depth"),
    *("injection_order", "forbid_overrides", "injection_trigger", "enabled"),
)
"""Members of a prompt that are fields of an entry; whatever else it has is ``extra``."""


@dataclass(frozen=True, slots=True)
class PresetEntry:
    """One prompt. ``enabled``: the order that counts switches it on. What it does not say is null."""

    identifier: str
    name: str
    role: Role
    content: str
    system_prompt: bool
    marker: bool
    injection_position: int
    injection_depth: int | None
    injection_order: int | None
    forbid_overrides: bool | None
    injection_trigger: Json
    enabled: bool
    extra: Mapping[str, Json]


def entries_of(content: Content) -> list[PresetEntry]:
    """The entries in the order that counts, then those that it does not name as they stand in the file."""
    prompts = {prompt["identifier"]: prompt for prompt in prompts_of(content)}
    switches = _switches(content)
    listed = [*(name for name in switches if name in prompts), *(name for name in prompts if name not in switches)]
    return [_entry(prompts[name], switches.get(name, False)) for name in listed]


def find_entry(content: Content, identifier: str) -> PresetEntry:
    """One entry. Raises 404."""
    for prompt in prompts_of(content):
        if prompt["identifier"] == identifier:
            return _entry(prompt, _switches(content).get(identifier, False))
    raise part_missing("preset", identifier)


def create_entry(content: Content, identifier: str, fields: Mapping[str, Json]) -> PresetEntry:
    """Add a prompt, at the end of the prompts and of the order that counts. Raises 409 ``preset_entry_exists``."""
    prompts = content.setdefault("prompts", [])
    if any(prompt["identifier"] == identifier for prompt in prompts):
        message = f"The prompt preset has an entry {identifier!r} already: change that one, or take another identifier."
        raise failure("preset_entry_exists", message, identifier=identifier)
    prompt: Content = {"identifier": identifier, "name": "", "role": "system", "content": "", "system_prompt": False}
    prompts.append({**prompt, "marker": False, "injection_position": 0})
    return change_entry(content, identifier, {"enabled": True, **fields})


def change_entry(content: Content, identifier: str, fields: Mapping[str, Json]) -> PresetEntry:
    """Change fields of an entry. Raises 404."""
    changed = change_entries(content, [identifier], fields)[0]
    if changed is None:
        raise part_missing("preset", identifier)
    return changed


def change_entries(content: Content, identifiers: Sequence[str], fields: Mapping[str, Json]) -> list[PresetEntry | None]:
    """Change the same fields of several entries; None for those that are not there. ``extra`` takes the place of all that is
    extra, and null removes what the prompt need not say. Raises 413."""
    prompts = {prompt["identifier"]: prompt for prompt in prompts_of(content)}
    found = [identifier for identifier in identifiers if identifier in prompts]
    check_length("preset", len(dumps_text(dict(fields))) * len(found))
    for identifier in found:
        _write(prompts[identifier], fields)
    if "enabled" in fields and found:
        order = _order(content)
        places = {place["identifier"]: place for place in reversed(order)}
        for identifier in found:
            if identifier in places:
                places[identifier]["enabled"] = fields["enabled"]
            else:
                order.append({"identifier": identifier, "enabled": fields["enabled"]})
    switches = _switches(content)
    return [_entry(prompts[name], switches.get(name, False)) if name in prompts else None for name in identifiers]


def delete_entry(content: Content, identifier: str) -> None:
    """Remove an entry. Raises 404."""
    if not delete_entries(content, [identifier])[0]:
        raise part_missing("preset", identifier)


def delete_entries(content: Content, identifiers: Sequence[str]) -> list[bool]:
    """Remove entries, from every order too; False for those that are not there."""
    gone = set(identifiers)
    there = {prompt["identifier"] for prompt in prompts_of(content)}
    if gone & there:
        content["prompts"] = [prompt for prompt in content["prompts"] if prompt["identifier"] not in gone]
        for track in tracks_of(content):
            track["order"] = [place for place in track["order"] if place["identifier"] not in gone]
    return [identifier in there for identifier in identifiers]


def reorder_entries(content: Content, identifiers: Sequence[str]) -> list[PresetEntry]:
    """Put entries into this order, the others behind them as they stood. Raises 404 for an identifier that no entry has."""
    prompts = {prompt["identifier"]: prompt for prompt in prompts_of(content)}
    for identifier in identifiers:
        if identifier not in prompts:
            raise part_missing("preset", identifier)
    rank = {identifier: place for place, identifier in enumerate(identifiers)}
    if prompts:
        content["prompts"].sort(key=lambda prompt: rank.get(prompt["identifier"], len(rank)))
    order = _order(content)
    named = {place["identifier"] for place in order}
    order += [{"identifier": name, "enabled": False} for name in identifiers if name not in named]
    order.sort(key=lambda place: rank.get(place["identifier"], len(rank)))
    return entries_of(content)


def _entry(prompt: Content, enabled: bool) -> PresetEntry:
    optional = {name: prompt.get(name) for name in ("injection_depth", "injection_order")}
    depth, order = (None if value is None else whole(value, 0) for value in optional.values())
    forbids = prompt.get("forbid_overrides")
    return PresetEntry(
        identifier=prompt["identifier"],
        name=text(prompt.get("name")),
        role=role(prompt.get("role")),
        content=text(prompt.get("content")),
        system_prompt=flag(prompt.get("system_prompt")),
        marker=flag(prompt.get("marker")),
        injection_position=whole(prompt.get("injection_position"), 0),
        injection_depth=depth,
        injection_order=order,
        forbid_overrides=None if forbids is None else flag(forbids),
        injection_trigger=prompt.get("injection_trigger"),
        enabled=enabled,
        extra={name: value for name, value in prompt.items() if name not in MEMBERS},
    )


def _write(prompt: Content, fields: Mapping[str, Json]) -> None:
    """Write fields to a prompt; ``enabled`` stands in an order and not there."""
    for name, value in fields.items():
        if name == "extra":
            for other in [other for other in prompt if other not in MEMBERS]:
                del prompt[other]
            prompt.update(value)
        elif name != "enabled":
            if value is None:
                prompt.pop(name, None)
            else:
                prompt[name] = value


def _switches(content: Content) -> Mapping[str, bool]:
    """What the order that counts says of each identifier that it names, in its order."""
    track = active_track(content)
    if track is None:
        return FACTORY_ORDER
    switches: dict[str, bool] = {}
    for place in track["order"]:
        switches.setdefault(place["identifier"], flag(place.get("enabled")))
    return switches


def _order(content: Content) -> list[Content]:
    """The order that counts, to be changed; where there is none, one is made of SillyTavern's own."""
    track = active_track(content)
    if track is None:
        track = {"character_id": CURRENT_TRACK}
        track["order"] = [{"identifier": name, "enabled": is_on} for name, is_on in FACTORY_ORDER.items()]
        content["prompt_order"] = [*tracks_of(content), track]
    order: list[Content] = track["order"]
    return order
