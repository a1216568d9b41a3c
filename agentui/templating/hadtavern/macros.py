"""Macros in a template's text: where each begins and ends, what it is, and what it reads.

    [[VAR:path]]  var      [[PROMPT]]       prompt    {{ path|filter }}  expression
    [[OUT:path]]  out      [[SECRET:name]]  secret
    [[OUT1]]      best     [[NAME]]         name

``[[true]]``, ``[[1,2]]`` and ``[["a"]]`` are no macros, nor is anything else in brackets; they are text or JSON.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from agentui.jsonio import Json
from agentui.templating.core.language import Macro, Reads
from agentui.templating.core.paths import MAX_STEPS, MISSING, Step, read_path
from agentui.templating.core.problems import CannotInsert, SourceText, TemplateRenderError
from agentui.templating.core.values import CONSTANTS, json_text, plain_top, text_of
from agentui.templating.hadtavern.curly import Curly
from agentui.templating.hadtavern.scope import (
    TIERS,
    Frame,
    Read,
    read_best_text,
    read_context,
    read_name,
    read_nothing,
    read_out,
    read_vars,
)

MAX_MACROS = 10_000

_OPENER: Final = re.compile(r"\{\{|\[\[|\{%|\{\#")
"""Where a macro may begin."""

_SQUARE = re.compile(r"\[\[[ \t]*(?:(?P<form>VAR|OUT|SECRET)[ \t]*:[ \t]*|(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*\]\])")
_END = re.compile(r"[ \t]*\]\]")
_SECRET_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_BEST = re.compile(r"OUT([0-9]{1,9})")
_SQUARE_ONLY = {"PROMPT": "[[PROMPT]]", "SECRET": "[[SECRET:name]]", "VAR": "[[VAR:incoming.path]]"}
_HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Insert:
    """A compiled macro."""

    macro: Macro
    read: Read

    def value(self, frame: Frame) -> Json:
        """What stands in a JSON document: the value itself, null where there is none. Raises TemplateRenderError."""
        try:
            value = self.read(frame)
            if value is MISSING:
                return None
            frame.add_value(value)
            return plain_top(value)
        except CannotInsert as error:
            raise self.located(error) from error

    def text(self, frame: Frame) -> str:
        """What stands in a string or a text. Raises TemplateRenderError."""
        try:
            value = self.read(frame)
            frame.check_text(value)
            return frame.add_output(text_of(value))
        except CannotInsert as error:
            raise self.located(error) from error

    def json(self, frame: Frame) -> str:
        """What ``value`` gives, as compact JSON; for people. Raises TemplateRenderError."""
        try:
            value = self.value(frame)
            frame.check_text(value)
            return frame.add_output(json_text(value))
        except CannotInsert as error:
            raise self.located(error) from error

    def members(self, frame: Frame) -> Mapping[str, Json]:
        """The members that ``[[PROMPT]]`` puts into an object. Raises TemplateRenderError."""
        try:
            members = prompt_members(frame)
            frame.add_value(members)
            return members
        except CannotInsert as error:
            raise self.located(error) from error

    def located(self, error: CannotInsert) -> TemplateRenderError:
        """The error with the macro that it happened at."""
        return TemplateRenderError(f"{self.macro.text[:200]}: {error}", self.macro.line, self.macro.column)


Pieces: TypeAlias = tuple[str | Insert, ...]
"""A text with the macros in it, in order; neighbouring strings are one."""


@dataclass(slots=True)
class MacroReader:
    """Reads the macros of one text and keeps account of them."""

    source: SourceText
    allows_secrets: bool
    allows_prompt: bool
    macros: list[Macro] = field(default_factory=list)
    reads: Reads = field(default_factory=Reads)

    def read_pieces(self, start: int = 0) -> Pieces:
        """The text from ``start`` on, cut at its macros."""
        text = self.source.text
        pieces: list[str | Insert] = []
        taken = offset = start
        while opener := _OPENER.search(text, offset):
            found = self.read(opener.start())
            if found is None:
                # The next macro may begin one character further: [[[NAME]]
                offset = opener.start() + 1
                continue
            if opener.start() > taken:
                pieces.append(text[taken : opener.start()])
            pieces.append(found[0])
            taken = offset = found[1]
        if taken < len(text):
            pieces.append(text[taken:])
        return tuple(pieces)

    def read(self, start: int, *, is_in_json_string: bool = False) -> tuple[Insert, int] | None:
        """The macro that begins at ``start`` and the offset behind it; None when plain text stands there.

        Mistakes go to the source, and an insert that stands for the broken macro comes back.
        """
        text = self.source.text
        if text.startswith("{{", start):
            read, end = Curly(self.source, start, self.path, is_in_json_string).compile()
            return self._insert("expression", start, end, read)
        if text.startswith(("{%", "{#"), start):
            return self._read_statement(start)
        match = _SQUARE.match(text, start)
        if match is None or match["name"] in CONSTANTS:
            return None
        if match["name"] is not None:
            return self._named(match["name"], start, match.end())
        return self._prefixed(match["form"], start, match.end())

    def _insert(self, kind: str, start: int, end: int, read: Read) -> tuple[Insert, int]:
        """List the macro."""
        if len(self.macros) >= MAX_MACROS:
            self.source.add(
                start, "template.too_many_macros", f"There are more than {MAX_MACROS} macros. Use fewer.", {"limit": MAX_MACROS}
            )
            self.source.raise_problems()
        line, column = self.source.position(start)
        macro = Macro(self.source.text[start:end], kind, start, end, line, column)
        self.macros.append(macro)
        return Insert(macro, read), end

    def _read_statement(self, start: int) -> tuple[Insert, int] | None:
        """``{% .. %}`` and ``{# .. #}`` are refused; without an end they are text."""
        opening = self.source.text[start : start + 2]
        end = self.source.find_closing("%}" if opening == "{%" else "#}", start + 2)
        if end < 0:
            return None
        self.source.add(
            start,
            "template.syntax",
            f"{opening} is not part of this language: there are no statements and no comments. Decide in a node, use "
            f"|default(..) in a macro, or write {{{{ '{opening}' }}}} for the characters themselves.",
            {"reason": "statement", "found": opening},
        )
        return self._insert("expression", start, end + 2, read_nothing)

    def _named(self, name: str, start: int, end: int) -> tuple[Insert, int]:
        """A macro that is one word."""
        if name == "PROMPT":
            return self._insert("prompt", start, end, self._prompt(start))
        if name in ("VAR", "SECRET"):
            self.source.add(
                start,
                "template.syntax",
                f"[[{name}]] needs to say which one: {_SQUARE_ONLY[name]}.",
                {"reason": "which", "found": f"[[{name}]]", "form": _SQUARE_ONLY[name]},
            )
            return self._insert("name", start, end, read_nothing)
        if name == "OUT" or _BEST.fullmatch(name):
            return self._insert("out" if name == "OUT" else "best", start, end, self.path(name, (), start))
        return self._insert("name", start, end, _as_written(self.path(name, (), start), self.source.text[start:end]))

    def _prefixed(self, form: str, start: int, inside: int) -> tuple[Insert, int]:
        """``[[VAR:..]]``, ``[[OUT:..]]`` or ``[[SECRET:..]]``."""
        if form == "SECRET":
            return self._secret(start, inside)
        steps, behind = read_path(self.source.text, inside)
        closing = _END.match(self.source.text, behind)
        if not steps or not all(each.key for each in steps[:1]) or closing is None:
            return self._broken_path(form, start, behind)
        if len(steps) > MAX_STEPS:
            self.source.add(
                start,
                "template.syntax",
                f"The path has more than {MAX_STEPS} steps. Shorten it.",
                {"reason": "steps", "limit": MAX_STEPS},
            )
        if form == "OUT":
            return self._insert("out", start, closing.end(), self.path("OUT", steps, start))
        return self._insert("var", start, closing.end(), self.path(steps[0].key, steps[1:], start, is_context_first=True))

    def _broken_path(self, form: str, start: int, behind: int) -> tuple[Insert, int]:
        """Say what is wrong with the path that stopped at ``behind``."""
        text = self.source.text
        line_end = text.find("\n", behind)
        closing = text.find("]]", behind, len(text) if line_end < 0 else line_end)
        if text.startswith("|", behind):
            reason, message = "filter_in_brackets", "Filters work in {{ .. }} only: write {{ path|default(1) }}."
        elif closing < 0:
            reason, message = "unclosed_brackets", f"[[{form}: is not closed. Write ]] behind the path."
        else:
            reason = "path"
            message = 'This is no path. Write keys with dots between them; ["a.b"] for a key that holds dots or brackets.'
        self.source.add(start, "template.syntax", message, {"reason": reason, "found": f"[[{form}:"})
        return self._insert("out" if form == "OUT" else "var", start, max(closing + 2, behind), read_nothing)

    def _secret(self, start: int, inside: int) -> tuple[Insert, int]:
        """``[[SECRET:name]]``."""
        name = _SECRET_NAME.match(self.source.text, inside)
        closing = _END.match(self.source.text, name.end()) if name else None
        if name is None or closing is None:
            self.source.add(
                start,
                "template.syntax",
                "A secret's name has letters, digits, '_', '-' and '.': write [[SECRET:name]].",
                {"reason": "secret"},
            )
            return self._insert("secret", start, name.end() if name else inside, read_nothing)
        if not self.allows_secrets:
            self.source.add(
                start,
                "template.secret_not_allowed",
                "A secret cannot stand here. It may stand in the endpoint and the headers of a node that calls a provider.",
            )
        return self._insert("secret", start, closing.end(), _secret_reader(name.group()))

    def _prompt(self, start: int) -> Read:
        """``[[PROMPT]]`` as text; in an object's place the JSON template reads the members itself."""
        if not self.allows_prompt:
            self.source.add(
                start,
                "template.prompt_not_allowed",
                "[[PROMPT]] cannot stand here. It may stand in the body template of a ProviderCall and in SetVars.",
            )
        return _prompt_text

    def path(
        self, name: str, steps: tuple[Step, ...], offset: int, is_defended: bool = False, *, is_context_first: bool = False
    ) -> Read:
        """The reader of a path by its first name; nodes and names that it reads are noted."""
        best = _BEST.fullmatch(name)
        if name == "OUT":
            self.reads.add_node(*(each.key for each in steps[:1]), is_defended=is_defended)
            return read_out(steps)
        if best is not None:
            if steps:
                self.source.add(
                    offset,
                    "template.syntax",
                    f"{name} is a text. Write OUT.n{best[1]}. for the whole result.",
                    {"reason": "best", "found": name, "form": f"OUT.n{best[1]}."},
                )
            self.reads.add_node("n" + best[1], is_defended=is_defended)
            self.reads.numbers.add(best[1])
            return read_best_text(best[1])
        if name in _SQUARE_ONLY and not is_context_first:
            self.source.add(
                offset,
                "template.syntax",
                f"{name} works in square brackets only: {_SQUARE_ONLY[name]}.",
                {"reason": "square", "found": name, "form": _SQUARE_ONLY[name]},
            )
        if name == "vars":
            if steps and steps[0].key in TIERS - {"run"}:  # the run's own variables are no name to look up
                if len(steps) > 1:
                    self.reads.tier_names.add(steps[1].key)
                else:
                    self.reads.names.add(name)
            return read_vars(steps)
        self.reads.names.add(name)
        if is_context_first:
            return read_context(name, steps)
        self.reads.bare.add(name)
        return read_name(name, steps)


def _as_written(read: Read, source: str) -> Read:
    """The value, or the macro's own text when nobody knows the name."""

    def known_or_written(frame: Frame) -> Json:
        value = read(frame)
        if value is MISSING:
            frame.scope.warn(f"Nothing is called {source}; it stays as it is written.")
            return source
        return value

    return known_or_written


def _secret_reader(name: str) -> Read:
    """The secret's value; a preview shows stars."""

    def read(frame: Frame) -> Json:
        if frame.is_preview:
            return _HIDDEN
        if frame.scope.secret is None:
            raise CannotInsert("There are no secrets here.")
        return frame.scope.secret(name)

    return read


def prompt_members(frame: Frame) -> Mapping[str, Json]:
    """The members that ``[[PROMPT]]`` stands for; none, and a warning, where there is no prompt."""
    prompt = frame.scope.prompt
    if prompt is None:
        frame.scope.warn("[[PROMPT]] is empty: no Prompt Blocks here.")
        return {}
    return prompt


def _prompt_text(frame: Frame) -> Json:
    """The members as JSON text without the braces around them."""
    members = prompt_members(frame)
    frame.check_text(members)
    return json_text(members)[1:-1]
