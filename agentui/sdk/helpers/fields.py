"""Reading members of answers that may lack them: another server, or an older one, may leave out what it likes."""

from collections.abc import Iterator, Mapping


def record(value: object) -> Mapping[str, object]:
    """An object's members; none where it is none."""
    return value if isinstance(value, Mapping) else {}


def records(value: object) -> Iterator[Mapping[str, object]]:
    """The objects of a list, in order; what is no object is passed over."""
    if isinstance(value, list | tuple):
        yield from (each for each in value if isinstance(each, Mapping))


def text(value: object) -> str | None:
    """A text, None for anything else."""
    return value if isinstance(value, str) else None


def number(value: object) -> int | None:
    """A whole number, None for anything else (true and false are none)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
