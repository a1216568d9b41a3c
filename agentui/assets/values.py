"""Members of an asset's JSON, taken for what they should be; what cannot be that is the default.

People's files hold numbers as texts, nulls, and lists where there should be one text: none of it is an error here.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, cast

from agentui.jsonio import Json

Role: TypeAlias = Literal["system", "user", "assistant"]

_ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant")
"""At the numbers that SillyTavern keeps for them."""
_MOST: Final = 2**53


def text(value: Json, default: str = "") -> str:
    """A text: line ends are newlines; a number is its digits; anything else is the default."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return default


def texts(value: Json) -> tuple[str, ...]:
    """The texts of a list that are not empty; one text alone is a list of it."""
    if isinstance(value, str):
        return (text(value),) if value else ()
    if not isinstance(value, list):
        return ()
    return tuple(said for item in value if (said := text(item)))


def whole(value: Json, default: int) -> int:
    """A whole number, also one written as a text or with decimals, which are cut off."""
    found = number(value, None)
    return default if found is None else int(found)


def number(value: Json, default: float | None) -> float | None:
    """A number, also one written as a text; beyond 2**53 it is none."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST <= value <= _MOST:
        return default
    return value


def flag(value: Json, default: bool = False) -> bool:
    """True or false, also as a number or as the words ``true`` and ``false``."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), default)
    return bool(value) if isinstance(value, bool | int | float) else default


def role(value: Json, default: Role = "system") -> Role:
    """Who says it: SillyTavern's number (0 system, 1 user, 2 assistant), or the name."""
    if isinstance(value, str) and value.strip().lower() in _ROLES:
        return cast(Role, value.strip().lower())
    at = whole(value, -1)
    return _ROLES[at] if 0 <= at < len(_ROLES) else default


def members(value: Json) -> Mapping[str, Json]:
    """An object's members; none for anything else."""
    return value if isinstance(value, Mapping) else {}
