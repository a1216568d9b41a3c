"""Paths into variables: ``assets.gold`` and ``装备["剑.名"]``.

The whole text is a name first; only where no variable is called so is it a path into the value of its first step
(seed 000, "与宏兼容层的关系"). Writing a path changes the JSON of that root variable and never makes a variable
called ``assets.gold``.
"""

from collections.abc import Container, Mapping, Sequence

from agentui.jsonio import Json
from agentui.templating.core.paths import MAX_STEPS, MISSING, Step, read_path, walk
from agentui.templating.core.paths import step as _step


class PathBlocked(ValueError):
    """The path leads through a value that has no such place; the message says which."""


def read(variables: Mapping[str, Json], path: str) -> Json:
    """The value at a path, or MISSING."""
    root, steps = root_of(variables, path)
    return walk(variables.get(root, MISSING), steps)


def root_of(variables: Container[str], path: str) -> tuple[str, tuple[Step, ...]]:
    """The variable that a path reads or writes, and the steps inside its value; none when the whole text is its name."""
    if path in variables:
        return path, ()
    steps = parse_path(path)
    return steps[0].key, steps[1:]


def parse_path(path: str) -> tuple[Step, ...]:
    """The steps of a path, at least one; a text that is not written like a path is one step as it stands."""
    steps, end = read_path(path, 0)
    return steps if steps and end == len(path) else (_step(path),)


def write_path(root: Json, steps: Sequence[Step], value: Json) -> Json:
    """The root's new value, with ``value`` where the steps lead; ``root`` itself stays as it is.

    What is missing (or null) on the way becomes an object. In a list a step counts as in reading; the place after its end
    appends. Raises PathBlocked where text, a number or a boolean stands in the way, or a list has no such place.
    """
    if len(steps) > MAX_STEPS:
        raise PathBlocked(f"a path has at most {MAX_STEPS} steps")
    if not steps:
        return value
    first, rest = steps[0], steps[1:]
    if root is MISSING or root is None:
        return {first.key: write_path(MISSING, rest, value)}
    if isinstance(root, dict):
        return {**root, first.key: write_path(root.get(first.key, MISSING), rest, value)}
    if isinstance(root, list):
        return _write_place(root, first, rest, value)
    raise PathBlocked(f"{first.key!r} stands below {_kind(root)}, which has no fields")


def _write_place(root: list[Json], first: Step, rest: Sequence[Step], value: Json) -> Json:
    index = first.index
    if index is None or not -len(root) <= index <= len(root):
        raise PathBlocked(f"{first.key!r} is no place in a list of {len(root)}")
    if index == len(root):
        return [*root, write_path(MISSING, rest, value)]
    changed = list(root)
    changed[index] = write_path(root[index], rest, value)
    return changed


def _kind(value: Json) -> str:
    match value:
        case bool():
            return "a boolean"
        case str():
            return "a text"
    return "a number"
