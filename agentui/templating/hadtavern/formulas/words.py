"""A condition cut into tokens: those of formulas, paths, and the comparisons that are words."""

import re
from typing import ClassVar, Final

from agentui.templating.core.values import CONSTANTS
from agentui.templating.hadtavern.formulas.tokens import FUNCTIONS, NUMBER, STRING, Token, Tokens

MAX_BYTES: Final = 16 * 1024
CALLS: Final = {**FUNCTIONS, "lower": 1, "upper": 1, "len": 1, "number": 1}
"""The functions of conditions, with how many arguments each takes."""

_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r\n]+)
      | (?P<number>{NUMBER})
      | (?P<string>{STRING})
      | (?P<test>is[ \t]+(?:not[ \t]+)?(?:empty|missing)(?![\w.]))
      | (?P<word>(?:not[ \t]+)?(?:contains|matches|starts[ \t]+with|ends[ \t]+with)(?![\w.]))
      | (?P<keyword>(?:and|or|not|in)(?![\w.]))
      | (?P<function>[^\W\d]\w*(?=[ \t]*\())
      | (?P<path>[^\W\d]\w*
           (?:\.[\w$@]+(?:-+[^\W\d][\w$@]*)* | \[[ \t]*(?:-?[0-9]{{1,9}}|{STRING})[ \t]*\])*)
      | (?P<unlisted>\*\*|<<|>>|<>|&&|\|\||!(?!=)|=(?!=))
      | (?P<operator>//|<=|>=|==|!=|[-+*/%<>])
      | (?P<mark>[()\[\]{{}},:])""",
    re.VERBOSE,
)
_INSTEAD: Final = {"&&": "and", "||": "or", "!": "not", "=": "=="}
_VALUES: Final = ("string", "path", "number", "test")
_VALUES_BEGIN: Final = ("string", "path", "number", "function")
_SQUARE: Final = frozenset({"PROMPT", "SECRET", "VAR"})


class ConditionTokens(Tokens):
    """The condition cut into tokens. For Python's parser a path is a name as long as it is, a word a chain of ``in``."""

    noun: ClassVar = "condition"
    example: ClassVar = 'a comparison, such as chat.last_user contains "code"'
    most_bytes: ClassVar = MAX_BYTES
    pattern: ClassVar[re.Pattern[str]] = _TOKEN

    def blanked(self, token: Token) -> str | None:
        size = len(token.text)
        match token.kind:
            case "path":
                return None if token.text in CONSTANTS else "x" * size
            case "word":
                opening = "not in " if token.text.startswith("not") else "in "
                return f"{opening}{'x' * (size - len(opening) - 3)} in"
            case "test":
                # What is asked for is read from the token, "not" too.
                return f"in {'x' * (size - 3)}"
        return super().blanked(token)

    def _check_token(self, token: Token, before: Token | None) -> None:
        if token.kind == "unlisted":
            text = f"{token.text} is not in the language."
            instead = _INSTEAD.get(token.text)
            self.fail(token.offset, f"{text} Write {instead}." if instead else text)
        if token.kind == "function" and token.text not in CALLS:
            self.fail(token.offset, f"There is no function {token.text!r}. There are: {', '.join(CALLS)}.")
        if before is not None and before.kind in _VALUES and token.kind in _VALUES_BEGIN and token.text != "is":
            self.fail(token.offset, f"An operator is missing before {token.text[:80]!r}.")
        if token.text in ("{", "[") and before == (token.kind, token.text, token.offset - 1):
            self.fail(before.offset, "There are no macros here: a name stands alone, such as gold or chat.last_user.")
        if token.kind == "path":
            self._check_path(token)
        if before is not None and before.kind == "word" and before.text.endswith("matches"):
            self._check_pattern(token)
        else:
            super()._check_token(token, before)

    def _check_path(self, token: Token) -> None:
        """Refuse what stands where no name can."""
        if token.text == "is":
            self.fail(token.offset, "Behind is stands empty, missing, not empty or not missing. To compare write ==.")
        if re.split(r"[.\[]", token.text)[0] in _SQUARE:
            self.fail(token.offset, f"{token.text} has no value here: a condition reads names, OUT and vars.")

    def _check_pattern(self, token: Token) -> None:
        """Behind ``matches`` a text in quotes, whose backslashes are the expression's own."""
        if token.kind != "string":
            self.fail(token.offset, 'Behind matches stands a regular expression in quotes: matches "^yes".')

    def _check_rest(self) -> None:
        if self.stopped_at is not None and self.source[self.stopped_at] in "|.":
            sign = self.source[self.stopped_at]
            text = f"{sign!r} is not possible here: there are no filters, and keys with other characters stand in brackets and"
            self.fail(self.stopped_at, f'{text} quotes: OUT["my node"].')
        super()._check_rest()
