"""The macros that there are: their names and aliases, how many arguments they take, what they give.

Read-only values come from the context; the rest is computed here. Sources: TavernHeadless' names (seeds 000 and 002) and
SillyTavern's utility macros.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from random import Random
from typing import Final, Protocol

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING
from agentui.templating.sillytavern.moments import format_moment, humanized, in_zone, parse_moment
from agentui.templating.sillytavern.scope import MacroRefused, MacroScope
from agentui.templating.sillytavern.variables import Scope, number_text, shown, to_number

VALUES: Final[dict[str, tuple[str, ...]]] = {
    "user": ("userName",),
    "char": ("assistantName",),
    "group": ("charIfNotGroup",),
    "groupNotMuted": (),
    "notChar": (),
    "description": ("charDescription",),
    "personality": ("charPersonality",),
    "scenario": ("charScenario",),
    "persona": (),
    "systemPrompt": (),
    "defaultSystemPrompt": (),
    "charPrompt": (),
    "charInstruction": ("charJailbreak",),
    "charDepthPrompt": (),
    "charVersion": ("version", "char_version"),
    "mesExamples": (),
    "mesExamplesRaw": (),
    "charAuthorsNote": ("charCreatorNotes", "creatorNotes"),
    "authorsNote": (),
    "defaultAuthorsNote": (),
    "original": (),
    "model": (),
    "runKind": (),
    "promptMode": (),
    "summary": (),
    "memory": (),
    "input": (),
    "maxPrompt": ("maxPromptTokens",),
    "maxContext": ("maxContextTokens",),
    "maxResponse": ("maxResponseTokens",),
    "lastMessage": (),
    "lastUserMessage": (),
    "lastCharMessage": (),
    "lastMessageId": (),
    "firstIncludedMessageId": (),
    "firstDisplayedMessageId": (),
    "lastSwipeId": (),
    "currentSwipeId": (),
    "lastGenerationType": (),
}
"""Read-only macros without arguments, with their aliases. Names are found without regard to case."""

EXPECTED: Final = frozenset(
    {"systemPrompt", "charPrompt", "charInstruction", "charDepthPrompt", "mesExamples", "mesExamplesRaw", "authorsNote"}
    | {"defaultAuthorsNote", "model"}
)
"""Those whose absence is worth a warning."""

_MOST_DICE = 10_000
_DIE = 16
"""What a die counts for, in characters: about as long as one takes to throw."""
_LONGEST_PATTERN = 1_000
_DICE = re.compile(r"(?P<count>[0-9]{0,5})\s*d\s*(?P<sides>[0-9]{1,9})\s*(?P<plus>[+-]\s*[0-9]{1,9})?", re.IGNORECASE)
_COMMA = re.compile(r"(?<!\\),")


class Call(Protocol):
    """One macro's call."""

    @property
    def context(self) -> MacroScope:
        """What macros read."""

    @property
    def args(self) -> Sequence[str]:
        """The arguments, as texts."""

    @property
    def place(self) -> str:
        """Which macro of which text this is, for choices that are to stay."""

    def read(self, scope: Scope, key: str) -> Json:
        """A variable; MISSING where there is none. Raises MacroRefused."""

    def write(self, scope: Scope, key: str, value: str | None) -> None:
        """Set a variable, or delete it. Raises MacroRefused."""

    def spend(self, length: int) -> None:
        """Count characters before they are made."""


@dataclass(frozen=True, slots=True)
class Builtin:
    """A macro: its name, how many arguments it takes (``most`` None: any number), what it gives."""

    name: str
    least: int
    most: int | None
    run: Callable[[Call], str]
    aliases: tuple[str, ...] = ()


def getvar(scope: Scope) -> Callable[[Call], str]:
    """The value of a variable, "" where there is none."""
    return lambda call: shown(call.read(scope, call.args[0]))


def _hasvar(scope: Scope) -> Callable[[Call], str]:
    return lambda call: "false" if call.read(scope, call.args[0]) is MISSING else "true"


def setvar(scope: Scope) -> Callable[[Call], str]:
    """Set a variable to a text."""

    def run(call: Call) -> str:
        call.write(scope, call.args[0], call.args[1])
        return ""

    return run


def addvar(scope: Scope) -> Callable[[Call], str]:
    """Add to a number, or append to a text. What is missing is 0 for a number and nothing for a text."""

    def run(call: Call) -> str:
        key, more = call.args
        value = call.read(scope, key)
        old = shown(value)
        amount, base = to_number(more), 0.0 if value is MISSING else to_number(old)
        if amount is None or base is None:
            call.spend(len(old) + len(more))
            call.write(scope, key, old + more)
        else:
            call.write(scope, key, _counted(base + amount))
        return ""

    return run


def subtract(scope: Scope) -> Callable[[Call], str]:
    """Take from a number."""

    def run(call: Call) -> str:
        amount = to_number(call.args[1])
        if amount is None:
            raise MacroRefused("macro_arg_type_invalid", "Only numbers can be subtracted.")
        step(scope, -amount)(call)
        return ""

    return run


def step(scope: Scope, by: float) -> Callable[[Call], str]:
    """Count a number up or down; the new number."""

    def run(call: Call) -> str:
        value = call.read(scope, call.args[0])
        number = 0.0 if value is MISSING else to_number(shown(value))
        if number is None:
            raise MacroRefused("macro_arg_type_invalid", "Only numbers can be counted up and down.")
        text = _counted(number + by)
        call.write(scope, call.args[0], text)
        return text

    return run


def _counted(number: float) -> str:
    """A number that was counted, as a text. Raises MacroRefused for one that is too large to be one."""
    if not isfinite(number):
        raise MacroRefused("macro_arg_type_invalid", "The number would be too large.")
    return number_text(number)


def deletevar(scope: Scope) -> Callable[[Call], str]:
    """Delete a variable, or a member of one."""

    def run(call: Call) -> str:
        call.write(scope, call.args[0], None)
        return ""

    return run


def _variables() -> list[Builtin]:
    """The variable macros of both views."""
    found = []
    scopes: tuple[tuple[Scope, str], ...] = (("branch", ""), ("global", "global"))
    for scope, word in scopes:
        found += [
            Builtin(f"get{word}var", 1, 1, getvar(scope)),
            Builtin(f"has{word}var", 1, 1, _hasvar(scope), (f"{word}varexists",)),
            Builtin(f"set{word}var", 2, 2, setvar(scope)),
            Builtin(f"add{word}var", 2, 2, addvar(scope)),
            Builtin(f"inc{word}var", 1, 1, step(scope, 1)),
            Builtin(f"dec{word}var", 1, 1, step(scope, -1)),
            Builtin(f"delete{word}var", 1, 1, deletevar(scope), (f"flush{word}var",)),
        ]
    return found


def _repeated(text: str) -> Callable[[Call], str]:
    """``{{newline}}``, ``{{newline::3}}``."""

    def run(call: Call) -> str:
        count = to_number(call.args[0]) if call.args else 1.0
        if count is None:
            raise MacroRefused("macro_arg_type_invalid", "How often must be a number.")
        times = int(max(0.0, min(count, call.context.limits.length + 1.0)))
        call.spend(times)
        return text * times

    return run


def _time(call: Call) -> str:
    if not call.args:
        return format_moment(call.context.now, "LT")
    moment = in_zone(call.context.now, call.args[0])
    if moment is None:
        raise MacroRefused("macro_arg_type_invalid", "A zone is written as UTC+2 or UTC-03:30.")
    return format_moment(moment, "LT")


def _formatted(pattern: str) -> Callable[[Call], str]:
    return lambda call: format_moment(call.context.now, pattern)


def _datetimeformat(call: Call) -> str:
    if len(call.args[0]) > _LONGEST_PATTERN:
        raise MacroRefused("macro_arg_type_invalid", f"A pattern of a time has at most {_LONGEST_PATTERN} characters.")
    return format_moment(call.context.now, call.args[0])


def _idle(call: Call) -> str:
    return "just now" if call.context.idle is None else humanized(call.context.idle)


def _time_difference(call: Call) -> str:
    first, second = (parse_moment(text, call.context.now) for text in call.args)
    if first is None or second is None:
        raise MacroRefused("macro_arg_type_invalid", "Times are written as 2026-03-02 15:04 or 2026-03-02T15:04:00Z.")
    return humanized(first - second, with_suffix=True)


def _reverse(call: Call) -> str:
    text = call.args[0]
    call.context.made(_reversed(text), text, _reversed)
    return _reversed(text)


def _reversed(text: str) -> str:
    return text[::-1]


def _roll(call: Call) -> str:
    formula = call.args[0].strip()
    match = _DICE.fullmatch(f"1d{formula}" if formula.isascii() and formula.isdigit() else formula)
    if match is None or int(match["sides"]) < 1 or int(match["count"] or 1) > _MOST_DICE:
        return ""
    count = int(match["count"] or 1)
    call.spend(_DIE * count)
    dice = (call.context.random.randint(1, int(match["sides"])) for _ in range(count))
    return str(sum(dice) + int((match["plus"] or "0").replace(" ", "")))


def _choices(args: Sequence[str]) -> list[str]:
    """What to choose from: the arguments, or one argument cut at commas; ``\\,`` is a comma."""
    if len(args) != 1:
        return list(args)
    return [item.replace("\\,", ",").strip() for item in _COMMA.split(args[0])]


def _random(call: Call) -> str:
    return call.context.random.choice(_choices(call.args))


def _pick(call: Call) -> str:
    digest = hashlib.sha256(f"{call.context.seed}\0{call.place}".encode("utf-8", "surrogatepass")).digest()
    return Random(digest).choice(_choices(call.args))


def _greeting(call: Call) -> str:
    number = to_number(call.args[0]) if call.args else 0.0
    greetings = call.context.greetings
    return greetings[int(number)] if number is not None and 0 <= number < len(greetings) else ""


def _constant(text: str) -> Callable[[Call], str]:
    return lambda call: text


_UTILITIES = (
    Builtin("isodate", 0, 0, _formatted("YYYY-MM-DD")),
    Builtin("isotime", 0, 0, _formatted("HH:mm")),
    Builtin("date", 0, 0, _formatted("LL")),
    Builtin("weekday", 0, 0, _formatted("dddd")),
    Builtin("time", 0, 1, _time),
    Builtin("datetimeformat", 1, 1, _datetimeformat),
    Builtin("idleDuration", 0, 0, _idle, ("idle_duration",)),
    Builtin("timeDiff", 2, 2, _time_difference),
    Builtin("newline", 0, 1, _repeated("\n")),
    Builtin("space", 0, 1, _repeated(" ")),
    Builtin("reverse", 1, 1, _reverse),
    Builtin("roll", 1, 1, _roll),
    Builtin("random", 1, None, _random),
    Builtin("pick", 1, None, _pick),
    Builtin("charFirstMessage", 0, 1, _greeting, ("greeting",)),
    Builtin("outlet", 1, 1, lambda call: call.context.outlets.get(call.args[0], "")),
    Builtin("banned", 1, 1, _constant("")),
    Builtin("isMobile", 0, 0, _constant("false")),
    Builtin("hasExtension", 1, 1, _constant("false")),
)


def _by_name() -> dict[str, Builtin]:
    """Every macro that is computed, by each of its names in lower case."""
    return {name.lower(): each for each in (*_variables(), *_UTILITIES) for name in (each.name, *each.aliases)}


BUILTINS: Final = _by_name()
VALUE_NAMES: Final = {name.lower(): canonical for canonical, aliases in VALUES.items() for name in (canonical, *aliases)}
