"""What can be wrong with a template, and where in its text.

    TemplateSyntaxError   the source does not compile; carries every problem found
    TemplateRenderError   the values of one rendering broke a rule, at one macro

Lines and columns count from 1, columns in characters; only a line feed ends a line.
"""

from bisect import bisect_right
from collections.abc import Mapping

from agentui.errors import NO_FACTS, Problem
from agentui.jsonio import Json

MAX_SOURCE = 1024 * 1024
"""Characters of a template's source."""

MAX_TOKENS = 100_000
"""Names, literals and signs in all ``{{ }}`` of one template: reading one costs some microseconds."""

_MOST_PROBLEMS = 50


class TemplateSyntaxError(ValueError):
    """A template that does not compile. ``problems`` holds at least one; their ``node`` and ``field`` are None."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


class TemplateRenderError(ValueError):
    """A template whose values cannot be inserted; ``line`` and ``column`` are those of the macro, or of line 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line} column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column


class CannotInsert(Exception):
    """A rule broken while a value is computed, before anybody knows which macro it was."""


class SourceText:
    """One template's text, the places in it, and the problems found so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self._tokens = 0
        self._last: dict[str, int] = {}
        self._line_starts = [0]
        if len(text) > MAX_SOURCE:
            self.add(
                0,
                "template.too_large",
                f"The template is longer than {MAX_SOURCE} characters. Make it shorter.",
                {"reason": "characters", "limit": MAX_SOURCE},
            )
            self.raise_problems()
        start = text.find("\n")
        while start >= 0:
            self._line_starts.append(start + 1)
            start = text.find("\n", start + 1)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of the character at ``offset``."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def count_token(self, offset: int) -> None:
        """Count one token. Raises TemplateSyntaxError beyond MAX_TOKENS."""
        self._tokens += 1
        if self._tokens > MAX_TOKENS:
            self.add(
                offset,
                "template.too_large",
                f"There are more than {MAX_TOKENS} words in macros. Use fewer.",
                {"reason": "words", "limit": MAX_TOKENS},
            )
            self.raise_problems()

    def find_closing(self, mark: str, start: int) -> int:
        """Where ``mark`` next stands, or -1; asking often in a text that has none costs one search."""
        if mark not in self._last:
            self._last[mark] = self.text.rfind(mark)
        return self.text.find(mark, start) if start <= self._last[mark] else -1

    def add(self, offset: int, code: str, message: str, facts: Mapping[str, Json] = NO_FACTS) -> None:
        """Note an error at ``offset``. Raises TemplateSyntaxError when there are too many to go on."""
        line, column = self.position(offset)
        self.problems.append(Problem(code, message, line=line, column=column, facts=facts))
        if len(self.problems) >= _MOST_PROBLEMS:
            self.raise_problems()

    def warning(self, offset: int, code: str, message: str, facts: Mapping[str, Json] = NO_FACTS) -> Problem:
        """A warning at ``offset``, to hand to the caller."""
        line, column = self.position(offset)
        return Problem(code, message, severity="warning", line=line, column=column, facts=facts)

    def raise_problems(self) -> None:
        """Raise TemplateSyntaxError with what was found, in the order of the text; do nothing when all is well."""
        if self.problems:
            raise TemplateSyntaxError(
                tuple(sorted(self.problems, key=lambda problem: (problem.line or 0, problem.column or 0)))
            )
