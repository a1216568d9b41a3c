"""Inclusion groups: of the entries that share a group's name, one joins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentui.lore.compiled import CompiledEntry
from agentui.lore.given import LoreInput
from agentui.lore.timed import TimedEffects


@dataclass(frozen=True, slots=True)
class GroupRules:
    """What decides between the members of a group. ``score`` counts the keys of an entry that are found; ``taken`` are the
    groups of entries that have joined in earlier sweeps."""

    given: LoreInput
    timed: TimedEffects
    score: Callable[[CompiledEntry], int]
    taken: set[str]


def group_losers(found: Sequence[CompiledEntry], rules: GroupRules) -> dict[int, str]:
    """The entries that lose in their groups, by index, with the group's name."""
    losers: dict[int, str] = {}
    groups: dict[str, list[CompiledEntry]] = {}
    for one in found:
        for name in one.entry.groups:
            groups.setdefault(name, []).append(one)
    for name, group in groups.items():
        for loser in _losers(name, group, rules):
            losers.setdefault(loser.index, name)
    return losers


def _losers(name: str, group: list[CompiledEntry], rules: GroupRules) -> list[CompiledEntry]:
    """The members of one group that do not join."""
    if any(rules.timed.is_sticky(one) for one in group):
        return [one for one in group if not rules.timed.is_sticky(one)]
    best = _best_scored(group, rules)
    if name in rules.taken:
        return group
    winner = best[0] if len(best) == 1 else _winner(name, best, rules)
    return group if winner is None else [one for one in group if one is not winner]


def _best_scored(group: list[CompiledEntry], rules: GroupRules) -> list[CompiledEntry]:
    """The members without those that are compared by their keys and have fewer of them than the best."""
    by_default = rules.given.settings.is_group_scored
    if not by_default and not any(one.entry.is_group_scored for one in group):
        return group
    scores = [rules.score(one) for one in group]
    most = max(scores)
    return [
        one
        for one, score in zip(group, scores, strict=True)
        if score == most or not (by_default if one.entry.is_group_scored is None else one.entry.is_group_scored)
    ]


def _winner(name: str, group: list[CompiledEntry], rules: GroupRules) -> CompiledEntry | None:
    """The first by order of those that override, else one by chance and weight."""
    overriding = [one for one in group if one.entry.is_group_override]
    if overriding:
        return max(overriding, key=lambda one: one.entry.order)
    rolled = rules.given.rolls.roll(f"group {name}") * sum(one.entry.group_weight for one in group)
    passed = 0.0
    for one in group:
        passed += one.entry.group_weight
        if rolled <= passed:
            return one
    return group[-1]
