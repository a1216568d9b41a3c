"""What is typed: something to say, or a command with what stands behind it."""

from collections.abc import Mapping
from dataclasses import dataclass

SAY = "say"
COMMANDS: Mapping[str, tuple[str, str]] = {
    "swipe": ("[NUMBER]", "another version of the newest answer; with a number, that version"),
    "regenerate": ("", "the newest answer anew, in place of the old one"),
    "edit": ("TEXT", "say your newest message otherwise, and go on from there on a branch of its own"),
    "branch": ("[NAME]", "go to a branch; a new one begins behind the newest answer"),
    "branches": ("", "the branches of this chat"),
    "vars": ("", "the variables that are visible here, and where their values come from"),
    "why": ("", "what the newest answer was made of"),
    "help": ("", "this list"),
    "quit": ("", "leave; Ctrl+D does too"),
}
"""Each command with its argument and what it does."""
_NEEDS_ARGUMENT = frozenset({"edit"})


class BadCommand(ValueError):
    """What was typed is no command; the message says what to type."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to do. ``name`` is one of COMMANDS, or SAY with the text as its ``argument``."""

    name: str
    argument: str = ""


def parse(line: str) -> Command | None:
    """Read a line; None for an empty one. A text that begins with a slash is typed with two. Raises BadCommand."""
    text = line.strip()
    if not text:
        return None
    if not text.startswith("/"):
        return Command(SAY, text)
    if text.startswith("//"):
        return Command(SAY, text[1:])
    name, _, argument = text[1:].partition(" ")
    name, argument = name.lower(), argument.strip()
    if name not in COMMANDS:
        raise BadCommand(f"There is no command /{name}: /help lists those there are, and // begins a text with a slash.")
    if name in _NEEDS_ARGUMENT and not argument:
        raise BadCommand(f"Say what: /{name} {COMMANDS[name][0]}")
    if argument and not COMMANDS[name][0]:
        raise BadCommand(f"/{name} stands alone.")
    if name == "swipe" and argument and not (argument.isdecimal() and argument.isascii() and int(argument) > 0):
        raise BadCommand("A version is a number, from 1: /swipe 2")
    return Command(name, argument)
