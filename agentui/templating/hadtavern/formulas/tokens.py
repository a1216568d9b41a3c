"""A formula cut into a closed list of tokens, under limits, before any parser sees it."""

import re
from bisect import bisect_right
from typing import ClassVar, Final, NamedTuple, NoReturn

from agentui.templating.core.values import CONSTANTS, unescape

MAX_BYTES = 4096
MAX_NESTING = 30
MAX_OPERATORS = 256

FUNCTIONS: Final = {"rand": 0, "randint": 2, "choice": 1}
"""The functions of chance, with how many arguments each takes."""
_WORDS = frozenset({*CONSTANTS, *FUNCTIONS, "and", "or", "not"})
NUMBER: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])"
STRING: Final = r"""\"(?:[^\"\\\x00-\x1f]|\\[^\x00-\x1f])*\"|'(?:[^'\\\x00-\x1f]|\\[^\x00-\x1f])*'"""
_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r\n]+)
      | (?P<number>{NUMBER})
      | (?P<string>{STRING})
      | (?P<name>[^\W\d]\w*)
      | (?P<unlisted>\*\*|<<|>>|<>)
      | (?P<operator>//|<=|>=|==|!=|[-+*/%<>])
      | (?P<mark>[()\[\]{{}},:])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:["'\\/nrtbf]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|\\""")
_OPENING, _CLOSING = "([{", ")]}"


class ExpressionError(ValueError):
    """A formula that is not in the language, or whose value cannot be. ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"line {line} column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column


class Token(NamedTuple):
    """One sign. Not a frozen dataclass: a formula may have thousands, and those take three times as long to make."""

    kind: str
    text: str
    offset: int


class Tokens:
    """The formula cut into tokens; a first unknown character is kept and reported by ``check``.

    Raises ExpressionError for a text that is empty or too long.
    """

    noun: ClassVar = "formula"
    example: ClassVar = "a value, such as 128 + 64"
    most_bytes: ClassVar = MAX_BYTES
    pattern: ClassVar[re.Pattern[str]] = _TOKEN

    def __init__(self, source: str) -> None:
        self._check_text(source)
        self.source = source
        self._lines = [0, *(match.end() for match in re.finditer("\n", source))]
        self.tokens: list[Token] = []
        self.stopped_at: int | None = None
        offset = 0
        while offset < len(source):
            match = self.pattern.match(source, offset)
            if match is None or match.lastgroup is None:
                self.stopped_at = offset
                return
            if match.lastgroup != "space":
                self.tokens.append(Token(match.lastgroup, match[0], offset))
            offset = match.end()

    def _check_text(self, source: str) -> None:
        """Check length and letters."""
        try:
            size = len(source.encode())
        except UnicodeEncodeError as error:
            raise ExpressionError(f"The {self.noun} holds half a character (a lone surrogate). Remove it.") from error
        if size > self.most_bytes:
            raise ExpressionError(f"The {self.noun} is longer than {self.most_bytes} bytes. Shorten it.")
        if not source.strip(" \t\r\n"):
            raise ExpressionError(f"The {self.noun} is empty. Write {self.example}.")

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, from 1."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def fail(self, offset: int, message: str) -> NoReturn:
        """Raise ExpressionError at ``offset``."""
        raise ExpressionError(message, *self.place(offset))

    def blanked(self, token: Token) -> str | None:
        """What Python's parser gets in place of a token, as long as it is; None for the token itself.

        What a text says is read here: Python has other escapes than JSON.
        """
        return f"'{'x' * (len(token.text) - 2)}'" if token.kind == "string" else None

    def check_nesting(self) -> None:
        """Count brackets and rows of unary operators: both make parsers recurse."""
        depth = row = 0
        for token in self.tokens:
            is_prefix = token.text in ("-", "+", "not")
            row = row + 1 if is_prefix else 0
            depth += (token.text in _OPENING) - (token.text in _CLOSING) if token.kind == "mark" else 0
            if depth > MAX_NESTING or row > MAX_NESTING:
                self.fail(token.offset, f"The {self.noun} nests deeper than {MAX_NESTING} levels. Nest less.")

    def check(self) -> None:
        """Check every token against the language; afterwards brackets match and strings are clean."""
        brackets: list[Token] = []
        before: Token | None = None
        operators = 0
        for token in self.tokens:
            self._check_token(token, before)
            operators += token.kind in ("operator", "word") or token.text in ("and", "or", "not")
            if operators > MAX_OPERATORS:
                self.fail(token.offset, f"The {self.noun} has more than {MAX_OPERATORS} operators. Shorten it.")
            if token.kind == "mark" and token.text in _OPENING:
                brackets.append(token)
            elif token.kind == "mark" and token.text in _CLOSING:
                opening = brackets.pop() if brackets else None
                if opening is None or _OPENING.index(opening.text) != _CLOSING.index(token.text):
                    self.fail(token.offset, f"{token.text!r} closes nothing that is open. Remove it.")
            before = token
        self._check_rest()
        if brackets:
            self.fail(brackets[-1].offset, f"{brackets[-1].text!r} is not closed.")

    def _check_token(self, token: Token, before: Token | None) -> None:
        """Refuse words, powers and strings that are not in the language."""
        if token.kind == "unlisted":
            self.fail(token.offset, f"{token.text} is not in the language. Use + - * / // %, comparisons, and, or, not.")
        if token.kind == "name" and token.text not in _WORDS:
            self.fail(
                token.offset,
                f"{token.text!r} is not known here: a formula sees no variables and only rand(), randint(a, b) and "
                "choice(list). Text stands in quotes; to use variables take mode string.",
            )
        if token.kind == "string":
            self._check_string(token, before)

    def _check_string(self, token: Token, before: Token | None) -> None:
        """Refuse a text that stands beside another value, and one that says what no text can."""
        if before is not None and before.kind in ("string", "name", "number") and before.text not in ("and", "or", "not"):
            self.fail(token.offset, "An operator is missing before this text. Join texts with +.")
        bad = next((match for match in _ESCAPE.finditer(token.text, 1, len(token.text) - 1) if len(match[0]) == 1), None)
        if bad is not None:
            self.fail(token.offset + bad.start(), r"There is no such escape. Write \\ for a backslash.")
        if any("\ud800" <= character <= "\udfff" for character in unescape(token.text)):
            self.fail(token.offset, "The text holds half a character (a lone surrogate). Remove it.")

    def _check_rest(self) -> None:
        """Report the character at which the tokens stopped."""
        if self.stopped_at is None:
            return
        character = self.source[self.stopped_at]
        if character in "\"'":
            self.fail(self.stopped_at, "The text that begins here is not closed, or holds a line break.")
        if character.isdigit() or character == ".":
            self.fail(self.stopped_at, "This is no number. Write 0.5 or 12; attributes do not exist.")
        if self.source.startswith(("[[", "{{"), self.stopped_at) or character in "|=.":
            self.fail(self.stopped_at, f"{character!r} is not possible here. Macros work in mode string.")
        self.fail(self.stopped_at, f"{character!r} is not possible here. Use + - * / // %, comparisons, and, or, not.")
