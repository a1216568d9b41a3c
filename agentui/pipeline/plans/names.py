"""Names in conditions that nothing gives: each is missing in every run, and what is compared with it never holds."""

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from itertools import islice

from agentui.errors import Problem
from agentui.jsonio import Json
from agentui.pipeline.context import CONTEXT_NAMES, context_members
from agentui.pipeline.node import Build, root_and_member
from agentui.templating.core.language import Macro

_LIKE = 0.75
"""How alike two names are of which one is taken for a slip of the other."""
_MOST_KNOWN = 500
"""Names that one is held against; to compare each with each costs their product."""
_MOST_TOLD = 100
"""Paths that are told of in one pipeline."""


def unknown_names(builds: Iterable[Build], given: Collection[str]) -> Iterator[Problem]:
    """A warning for each path of a condition that leads nowhere. ``given`` are the variables that the pipeline sets or stores.

    A name that nobody sets may be a stored variable, so it is told of only where it looks like another one. The members of the
    context are known, but a variable of the name hides them.
    """
    return islice(_unknown(builds, given), _MOST_TOLD)


def _unknown(builds: Iterable[Build], given: Collection[str]) -> Iterator[Problem]:
    known, members = {*CONTEXT_NAMES, *given}, context_members()
    alike: dict[str, str] = {}
    for build in builds:
        for field, macro in build.paths:
            name, member = root_and_member(macro.text)
            if name in given:
                continue
            if name in members:
                if member and member not in members[name]:
                    text = f"{name} has no member {member!r}{_meant(member, members[name], f'{name}.')}"
                    facts: dict[str, Json] = {"name": name, "member": member, "reason": "member"}
                    yield Problem("condition.unknown_name", text + _NEVER, "warning", build.node, field, *_at(macro), facts)
            elif name not in known and len(known) <= _MOST_KNOWN and len(alike) < _MOST_KNOWN:
                if name not in alike:
                    alike[name] = _like(name, known)
                if alike[name]:
                    text = f"Nothing sets {name!r} here: did you mean {alike[name]}?"
                    facts = {"name": name, "like": alike[name], "reason": "like"}
                    yield Problem("condition.unknown_name", text + _NEVER, "warning", build.node, field, *_at(macro), facts)


_NEVER = " It is missing, and what is compared with it never holds."


def _at(macro: Macro) -> tuple[int, int]:
    return macro.line, macro.column


def _meant(name: str, known: Collection[str], before: str) -> str:
    like = _like(name, known)
    return f": did you mean {before}{like}?" if like else f"; it has {', '.join(sorted(known))}."


def _like(name: str, known: Collection[str]) -> str:
    return next(iter(get_close_matches(name, known, 1, _LIKE)), "")
