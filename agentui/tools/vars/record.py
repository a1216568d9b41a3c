"""A working variable: its form, and what its fields may hold (seed 004).

Lengths are in characters (Unicode code points), times in milliseconds since 1970.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from agentui.jsonio import Json, dumps_text
from agentui.tools.vars.errors import InvalidVariable, VariableTooLarge

VarType: TypeAlias = Literal["RULE", "ToolCallResult", "ToolCallArgs", "MessageCache", "LLMAdd", "USER_ADD"]
VAR_TYPES: tuple[VarType, ...] = get_args(VarType)
LITERAL_TYPES: frozenset[VarType] = frozenset(("RULE", "ToolCallResult", "ToolCallArgs", "MessageCache"))
"""Types whose values hold text from outside, or text about references: no reference in them is followed."""

RULE_PREFIX = "Rule/"
MAX_NAME = 200
MAX_DESC = 500
MAX_TAG = 64
MAX_TAGS = 20
MAX_VALUE = 1024 * 1024
_NOT_IN_NAMES = frozenset("{}:\0\r\n")


@dataclass(frozen=True, slots=True)
class WorkingVariable:
    """One variable. The value is always a text; ``keep`` means that it never makes room for others.

    ``is_literal`` means that no reference in its value is followed. ``reference_count`` counts the reads.
    """

    name: str
    value: str
    type: VarType
    created: int
    updated: int
    last_visited: int
    desc: str = ""
    tags: tuple[str, ...] = ()
    keep: bool = False
    is_literal: bool = False
    reference_count: int = 0

    @property
    def age(self) -> tuple[int, int, int, str]:
        """What variables make room by, the least first: lastVisited, updated, created, name."""
        return self.last_visited, self.updated, self.created, self.name

    def facts(self) -> dict[str, Json]:
        """All but the value, for lists."""
        return {
            "name": self.name,
            "type": self.type,
            "length": len(self.value),
            "desc": self.desc,
            "tags": list(self.tags),
            "keep": self.keep,
            "is_literal": self.is_literal,
            "reference_count": self.reference_count,
            "created_at": self.created,
            "updated_at": self.updated,
            "last_visited_at": self.last_visited,
        }


def text_of(value: Json) -> str:
    """A value as it is kept: a text as it is, anything else as JSON. Raises VariableTooLarge and InvalidVariable."""
    text = value if isinstance(value, str) else dumps_text(value)
    if len(text) > MAX_VALUE:
        raise VariableTooLarge(f"A value may have at most {MAX_VALUE} characters; this one has {len(text)}.", path="/value")
    return _check_text(text, "/value")


def check_name(name: str) -> str:
    """The name, if it can be one: 1 to 200 characters without ``{ } :`` and line ends. Raises InvalidVariable."""
    if not 0 < len(name) <= MAX_NAME:
        raise InvalidVariable("/name", f"A variable's name has 1 to {MAX_NAME} characters.")
    if not _NOT_IN_NAMES.isdisjoint(name):
        raise InvalidVariable("/name", "A variable's name cannot hold any of { } : nor line ends.", "pattern")
    return _check_text(name, "/name")


def check_desc(desc: str) -> str:
    """The description, if it can be one. Raises InvalidVariable."""
    if len(desc) > MAX_DESC:
        raise InvalidVariable("/desc", f"A description has at most {MAX_DESC} characters.", "maxLength")
    return _check_text(desc, "/desc")


def check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags, each once, if they can be such. Raises InvalidVariable."""
    if len(tags) > MAX_TAGS or any(not 0 < len(tag) <= MAX_TAG for tag in tags):
        raise InvalidVariable("/tags", f"A variable has at most {MAX_TAGS} tags of 1 to {MAX_TAG} characters.")
    return tuple(dict.fromkeys(_check_text(tag, "/tags") for tag in tags))


def _check_text(text: str, path: str) -> str:
    """A text that both databases can keep. Raises InvalidVariable."""
    if "\0" in text:
        raise InvalidVariable(path, "A text cannot hold the character NUL.", "pattern")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidVariable(path, "A text cannot hold half a character (a lone surrogate).", "pattern") from error
    return text
