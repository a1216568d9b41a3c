"""Which pipelines call each other."""

from collections.abc import Callable, Collection


def cycle_of(id: str, calls: Collection[str], calls_of: Callable[[str], Collection[str]]) -> list[str]:
    """The way by which a pipeline that calls these comes back to itself, as ids from it to it; [] where there is none."""
    came_from = dict.fromkeys(sorted(calls), id)
    waiting = list(came_from)
    while waiting:
        other = waiting.pop()
        if other == id:
            path = [id]
            while (other := came_from[other]) != id:
                path.append(other)
            return [id, *path[:0:-1], id]
        for further in sorted(calls_of(other)):
            if further not in came_from:
                came_from[further] = other
                waiting.append(further)
    return []
