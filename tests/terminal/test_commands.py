"""What is typed is understood, or told how it is meant."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from agentui.terminal.commands import COMMANDS, SAY, BadCommand, Command, parse
from agentui.terminal.screen import Screen, plain


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("", None),
        ("  ", None),
        ("Hello there", Command(SAY, "Hello there")),
        ("  padded  ", Command(SAY, "padded")),
        ("//shrug", Command(SAY, "/shrug")),
        ("/swipe", Command("swipe")),
        ("/swipe 2", Command("swipe", "2")),
        ("/REGENERATE", Command("regenerate")),
        ("/edit  Good evening ", Command("edit", "Good evening")),
        ("/branch alt one", Command("branch", "alt one")),
        ("/branch", Command("branch")),
        ("/why", Command("why")),
    ],
)
def test_a_line_is_something_to_say_or_a_command(line: str, command: Command | None) -> None:
    assert parse(line) == command


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/", "/help"),
        ("/dance", "no command /dance"),
        ("/edit", "/edit TEXT"),
        ("/vars now", "stands alone"),
        ("/swipe 0", "from 1"),
        ("/swipe two", "from 1"),
        ("/swipe ²", "from 1"),
    ],
)
def test_what_is_no_command_is_told_so(line: str, says: str) -> None:
    with pytest.raises(BadCommand, match=says):
        parse(line)


@given(st.text())
def test_every_line_is_understood_or_refused(line: str) -> None:
    try:
        command = parse(line)
    except BadCommand:
        return
    assert command is None or command.name in COMMANDS or (command.name == SAY and command.argument)


@given(st.text())
def test_no_word_of_others_moves_the_terminal(text: str) -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=80)
    screen = Screen(text, console)
    screen.message("assistant", text)
    screen.note(text)
    shown = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO above
    assert not {code for code in map(ord, shown) if code < 32 or 127 <= code < 160} - {9, 10, 13}
    assert len(plain(text)) == len(text)


def test_words_are_shown_letter_for_letter() -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=80)
    Screen("Ada", console).message("assistant", "[bold]**no** markup[/bold] :smile: \x1b[2J")
    shown = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO above
    assert shown == "Ada:\n[bold]**no** markup[/bold] :smile: \N{REPLACEMENT CHARACTER}[2J\n"
