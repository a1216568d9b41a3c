"""``MacroRun``: replaces the macros of one text after the other, and keeps what they wrote and what was noticed.

Strictly from left to right: a macro's arguments before it, the condition of an ``if`` before its branch, the other branch
never. What a macro inserts is never scanned. A text that goes over a limit comes back whole as it was written, and nothing
that it wrote stays.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING
from agentui.templating.sillytavern.conditions import Operand, holds, parse_condition
from agentui.templating.sillytavern.kept import pieces_of
from agentui.templating.sillytavern.macros import (
    BUILTINS,
    EXPECTED,
    VALUE_NAMES,
    Builtin,
    Call,
    addvar,
    getvar,
    setvar,
    step,
    subtract,
)
from agentui.templating.sillytavern.scope import MacroRefused, MacroScope, MacroTrace, MacroWarning
from agentui.templating.sillytavern.syntax import COMMENT, Macro, Pieces, split_loose, trimmed
from agentui.templating.sillytavern.variables import Mutation, Scope, VariableView, shown

_LONGEST_SHOWN = 500
_MOST_NOTED = 2_000

_SHORT_FORMS: Final[dict[str, tuple[str, Callable[[Scope], Callable[[Call], str]]]]] = {
    "": ("getvar", getvar),
    "=": ("setvar", setvar),
    "+=": ("addvar", addvar),
    "-=": ("addvar", subtract),
    "++": ("incvar", lambda scope: step(scope, 1)),
    "--": ("decvar", lambda scope: step(scope, -1)),
}
"""What a variable's operator means: the macro that it is short for, and what that does."""


class _Mark:
    """What is no text in a result: ``{{trim}}`` and ``{{noop}}``."""


_TRIM: Final = _Mark()
_NOOP: Final = _Mark()
Output: TypeAlias = "list[str | _Mark]"


class _OverLimit(Exception):
    """A text that does too much."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(slots=True)
class MacroReport:
    """What was noticed: ``used`` are names in the order of their first use; ``mutations`` every write, in order.

    Of warnings and traces the first 2,000 are kept.
    """

    warnings: list[MacroWarning] = field(default_factory=list)
    used: dict[str, None] = field(default_factory=dict)
    mutations: list[Mutation] = field(default_factory=list)
    traces: list[MacroTrace] = field(default_factory=list)


class MacroRun:
    """Macros over several texts, in one order: what one text writes, the next ones read."""

    def __init__(self, context: MacroScope) -> None:
        self.context = context
        self.report = MacroReport()
        self.views: dict[Scope, VariableView] = {
            "branch": VariableView("branch", context.local),
            "global": VariableView("global", context.globals),
        }

    def expand(self, source: str) -> str:
        """The text with its macros replaced. Never raises; takes no more than the context's limits."""
        context = self.context
        if "{{" not in source and "<" not in source:
            return source
        if context.phase == "import":
            if "{{" in source:
                self._warn("macro_eval_phase_disallowed", "Macros are not replaced while something is imported.")
            return source
        text = _Text(self, source)
        try:
            if len(source) > context.limits.length:
                raise _OverLimit("macro_expanded_length_limit_exceeded", f"The text is longer than {context.limits.length}.")
            return text.result()
        except _OverLimit as limit:
            text.take_back()
            self._warn(limit.code, f"{limit.message} The text stays as it was written.")
            return source

    def _warn(self, code: str, message: str) -> None:
        self.report.warnings.append(MacroWarning(code, message))


@dataclass(slots=True)
class _Call:
    """One macro's call, as the builtins see it."""

    text: "_Text"
    macro: Macro
    name: str
    args: list[str]

    @property
    def context(self) -> MacroScope:
        return self.text.context

    @property
    def place(self) -> str:
        return f"{self.text.digest}\0{self.macro.start}"

    def read(self, scope: Scope, key: str) -> Json:
        return self.text.run.views[scope].read(key.strip())

    def write(self, scope: Scope, key: str, value: str | None) -> None:
        self.text.write(self, scope, key.strip(), value)

    def spend(self, length: int) -> None:
        self.text.spend(length)


class _Text:
    """One text while its macros are replaced."""

    def __init__(self, run: MacroRun, source: str) -> None:
        self.run = run
        self.context = run.context
        self.source = source
        self.steps = 0
        self.length = 0
        self.looked = 0
        self.undo: list[Callable[[], None]] = []
        self.mutations: list[Mutation] = []
        self.used: list[str] = []
        """Names that no text before has used."""
        self.traced = len(run.report.traces)
        self._digest = ""
        self._is_full = False

    @property
    def digest(self) -> str:
        """What names this text."""
        if not self._digest:
            self._digest = hashlib.sha256(self.source.encode("utf-8", "surrogatepass")).hexdigest()
        return self._digest

    def result(self) -> str:
        """The text with its macros replaced. Raises _OverLimit."""
        text = _joined(self.output(pieces_of(self.source), 0))
        self.run.report.mutations += self.mutations
        return text

    def take_back(self) -> None:
        """Undo what this text wrote, and do not tell of macros that stay as they were written."""
        for undo in reversed(self.undo):
            undo()
        for name in self.used:
            del self.run.report.used[name]
        del self.run.report.traces[self.traced :]

    def spend(self, length: int) -> None:
        """Count characters that macros make. Raises _OverLimit."""
        self.length += length
        if self.length > self.context.limits.length:
            limit = self.context.limits.length
            raise _OverLimit("macro_expanded_length_limit_exceeded", f"Its macros make more than {limit} characters.")

    def output(self, pieces: Pieces, depth: int) -> Output:
        """What some pieces become. Raises _OverLimit."""
        output: Output = []
        for item in pieces.items:
            if isinstance(item, str):
                output.append(item)
                continue
            if item.name == "if" and item.content is None and len(item.args) < 2 and not item.sigil and not item.closes:
                # An if that does not end holds all that follows: nothing of it is replaced, for half of it may be meant.
                raw = self.source[item.start : pieces.end]
                self.warn("macro_scoped_block_unclosed", "'{{if}}' has no '{{/if}}': all that follows stays.", "if", raw)
                output.append(raw)
                break
            self._replace(item, depth, output)
        return output

    def text(self, pieces: Pieces, depth: int) -> str:
        """Some pieces as a text."""
        text = _joined(self.output(pieces, depth))
        self.spend(len(text))
        return text

    def _replace(self, macro: Macro, depth: int, output: Output) -> None:
        """Put what a macro becomes into the output; where it is refused, itself."""
        self.steps += 1
        limits = self.context.limits
        if self.steps > limits.steps:
            raise _OverLimit("macro_step_limit_exceeded", f"It has more than {limits.steps} macros to replace.")
        if depth >= limits.depth:
            self._keep(
                macro, "macro_depth_limit_exceeded", f"Macros stand in each other more than {limits.depth} deep.", output
            )
            return
        try:
            self._evaluate(macro, depth, output)
        except MacroRefused as refused:
            self._keep(macro, refused.code, refused.message, output)

    def _evaluate(self, macro: Macro, depth: int, output: Output) -> None:
        if macro.closes:
            raise MacroRefused("macro_unmatched_closing_block", f"There is no '{{{{{macro.written}}}}}' that this could close.")
        if macro.sigil:
            self._short_form(macro, depth, output)
        elif macro.name == COMMENT:
            self._trace(macro, COMMENT, "")
        elif macro.name == "noop" and not macro.args:
            output.append(_NOOP)
            self._trace(macro, "noop", "")
        elif macro.name == "trim" and not macro.args:
            self._trim(macro, depth, output)
        elif macro.name == "if":
            self._if(macro, depth, output)
        elif (canonical := VALUE_NAMES.get(macro.name)) is not None:
            self._value(macro, canonical, output)
        elif (builtin := BUILTINS.get(macro.name)) is not None:
            self._builtin(macro, builtin, depth, output)
        else:
            self._bare(macro, depth, output)

    def _builtin(self, macro: Macro, builtin: Builtin, depth: int, output: Output) -> None:
        arguments = macro.args
        if macro.is_loose and builtin.most is not None and builtin.most > 1:
            arguments = split_loose(arguments[0], builtin.most)
        if macro.content is not None:
            arguments = [*arguments, trimmed(macro.content)]
        if len(arguments) < builtin.least or (builtin.most is not None and len(arguments) > builtin.most):
            raise _arity(builtin.name, builtin.least, builtin.most, len(arguments))
        call = _Call(self, macro, builtin.name, [self.text(argument, depth + 1) for argument in arguments])
        self._emit(macro, builtin.name, builtin.run(call), output)

    def _short_form(self, macro: Macro, depth: int, output: Output) -> None:
        """``{{.key}}`` and its kind. Seed 002: ``$key++`` and ``$key--`` are not among them."""
        scope: Scope = "branch" if macro.sigil == "." else "global"
        is_known = macro.name and macro.operator in _SHORT_FORMS and not (macro.sigil == "$" and macro.operator in ("++", "--"))
        if not is_known:
            raise MacroRefused(
                "macro_unknown", "A variable's short form is .key, .key = value, .key += value, .key++ or .key--."
            )
        meaning, make = _SHORT_FORMS[macro.operator]
        name = _scoped(meaning, scope)
        args = [macro.name, *(self.text(argument, depth + 1) for argument in macro.args)]
        self._emit(macro, name, make(scope)(_Call(self, macro, name, args)), output)

    def _value(self, macro: Macro, canonical: str, output: Output) -> None:
        if macro.args:
            raise _arity(canonical, 0, 0, len(macro.args))
        key = next((key for key in (macro.written, canonical) if key in self.run.views["branch"].stored), None)
        if key is not None:
            self.warn(
                "macro_readonly_name_conflict", f"A variable is named '{key}' too: read it as '{{{{.{key}}}}}'.", canonical
            )
        value = self.context.values.get(canonical)
        if value is None and canonical in EXPECTED:
            self.warn("macro_value_missing", f"There is no {canonical} here.", canonical)
        self._emit(macro, canonical, value or "", output)

    def _bare(self, macro: Macro, depth: int, output: Output) -> None:
        """A name that is no macro's: a variable's, or nobody's."""
        if not macro.args and macro.content is None and macro.written:
            value = self.context.plain.get(macro.written, MISSING)
            for view in self.run.views.values():
                if value is MISSING:
                    value = view.written.get(macro.written, view.stored.get(macro.written, MISSING))
            if value is not MISSING:
                self._emit(macro, macro.written, shown(value), output)
                return
        code = "macro_arg_arity_invalid" if macro.args and macro.written else "macro_unknown"
        raw = self.raw(macro)
        if raw != "{{}}":
            self.warn(
                code, f"There is no macro '{macro.written[:60]}'." if macro.written else "This is no macro.", macro.written, raw
            )
        # What is in an unknown macro is replaced all the same, as SillyTavern does.
        output.append("{{")
        for number, part in enumerate(macro.parts):
            if number:
                output.append("::")
            output += self.output(part, depth + 1)
        output.append("}}")

    def _trim(self, macro: Macro, depth: int, output: Output) -> None:
        if macro.content is None:
            output.append(_TRIM)
            self._trace(macro, "trim", "")
        else:
            self._emit(macro, "trim", self.text(macro.content, depth + 1).strip(), output)

    def _if(self, macro: Macro, depth: int, output: Output) -> None:
        """An if, as a block or with its text as an argument. Refused as a whole where its condition is."""
        if len(macro.args) != 2 and macro.content is None:
            raise _arity("if", 1, 2, len(macro.args))
        then, otherwise = (macro.args[1], None) if macro.content is None else _branches(macro.content)
        condition = parse_condition(macro.args[0]) if macro.args else None
        before = len(self.used)
        self.use("if")  # it begins before what stands in its condition
        try:
            is_met = holds(condition, lambda operand: self._looked_at(operand, depth + 1))
        except MacroRefused:
            if self.used[before : before + 1] == ["if"]:
                self.used.pop(before)
                del self.run.report.used["if"]
            raise
        branch = then if is_met else otherwise
        before = len(output)
        if branch is not None:
            output += self.output(branch, depth + 1)
        shown_text = (
            "".join(piece for piece in output[before:] if isinstance(piece, str)) if len(output) - before < 100 else "…"
        )
        self.trace(
            MacroTrace("if", cut(self.raw(macro)), cut(shown_text), self.context.phase, "if", "then" if is_met else "else")
        )

    def _looked_at(self, operand: Operand, depth: int) -> str:
        """What a side of a condition is, which the condition goes through. Raises _OverLimit."""
        text = self._operand(operand, depth)
        self.looked += len(text)
        if self.looked > (most := self.context.limits.looked):
            raise _OverLimit("macro_step_limit_exceeded", f"Its conditions look through more than {most} characters.")
        return text

    def _operand(self, operand: Operand, depth: int) -> str:
        """What a side of a condition is. Macro names, and ``.key`` and ``$key``, stand for their values without braces too."""
        text = operand.pieces.items[0] if operand.pieces.items else ""
        if isinstance(text, str) and operand.kind == "variable":
            scope: Scope = "branch" if text[0] == "." else "global"
            value = self.run.views[scope].read(text[1:])
            self.use(_scoped("getvar", scope))
            if isinstance(value, str):
                return value
            made = shown(value)
            self.spend(len(made))
            return made
        if isinstance(text, str) and operand.kind == "word" and (canonical := VALUE_NAMES.get(text.lower())) is not None:
            self.use(canonical)
            return self.context.values.get(canonical, "")
        return self.text(operand.pieces, depth)

    def write(self, call: _Call, scope: Scope, key: str, value: str | None) -> None:
        """Write a variable and keep a record of it. Raises MacroRefused where nothing may be written, and _OverLimit."""
        context = self.context
        if context.phase == "commit_consume":
            self.warn("macro_eval_phase_disallowed", "Nothing is written any more.", call.name, self.raw(call.macro))
            return
        if len(self.mutations) >= context.limits.mutations:
            if self._is_full:
                return
            self._is_full = True
            self.warn(
                "macro_mutation_limit_exceeded",
                f"The text writes more than {context.limits.mutations} times: nothing more is written.",
                call.name,
                self.raw(call.macro),
            )
            return
        view = self.run.views[scope]
        mutation, copied = view.delete(key, call.name) if value is None else view.set(key, value, call.name)
        self.spend(copied)
        if mutation is None:
            return
        self.undo.append(view.apply(mutation))
        self.mutations.append(mutation)
        if context.phase in ("preview", "dry_run"):
            self.warn(
                "macro_preview_side_effect_suppressed", f"'{key[:60]}' is not really written.", call.name, self.raw(call.macro)
            )

    def _emit(self, macro: Macro, name: str, text: str, output: Output) -> None:
        """Put a macro's text out and note it."""
        self.spend(len(text))
        if text.startswith("{{") and text == self.raw(macro):
            self.warn("macro_cycle_detected", "Its value is itself: nothing comes of replacing it again.", macro.written, text)
        output.append(text)
        self._trace(macro, name, text)

    def _keep(self, macro: Macro, code: str, message: str, output: Output) -> None:
        """Leave a macro as it was written, with a warning."""
        raw = self.raw(macro)
        self.warn(code, message, macro.written or macro.name, raw)
        self.trace(
            MacroTrace(macro.written, cut(raw), cut(raw), self.context.phase, "raw", "raw" if macro.name == "if" else None)
        )
        output.append(raw)

    def _trace(self, macro: Macro, name: str, text: str) -> None:
        self.use(name)
        self.trace(MacroTrace(name, cut(self.raw(macro)), cut(text), self.context.phase, "macro"))

    def raw(self, macro: Macro) -> str:
        """A macro as it was written."""
        return self.source[macro.start : macro.end]

    def use(self, name: str) -> None:
        """Note the name of a macro that was replaced."""
        if name not in self.run.report.used:
            self.run.report.used[name] = None
            self.used.append(name)

    def trace(self, trace: MacroTrace) -> None:
        """Note what became of a macro."""
        if len(self.run.report.traces) < _MOST_NOTED:
            self.run.report.traces.append(trace)

    def warn(self, code: str, message: str, macro: str | None = None, raw: str | None = None) -> None:
        """Note what was wrong."""
        if len(self.run.report.warnings) < _MOST_NOTED:
            self.run.report.warnings.append(MacroWarning(code, message, macro, None if raw is None else cut(raw)))


def _arity(name: str, least: int, most: int | None, count: int) -> MacroRefused:
    """A macro with too few or too many arguments."""
    wanted = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
    return MacroRefused("macro_arg_arity_invalid", f"'{name}' takes {wanted} arguments, not {count}.")


def _scoped(name: str, scope: Scope) -> str:
    """The name of a variable macro in a view: ``getvar``, ``getglobalvar``."""
    return name if scope == "branch" else name.replace("var", "globalvar")


def _branches(content: Pieces) -> tuple[Pieces, Pieces | None]:
    """The two texts of an if. The first ``{{else}}`` counts; a second one ends the text that is looked at."""
    places = [
        number for number, item in enumerate(content.items) if isinstance(item, Macro) and item.name == "else" and not item.args
    ]
    if not places:
        return content, None
    second = places[1] if len(places) > 1 else len(content.items)
    divider = content.items[places[0]]
    assert isinstance(divider, Macro)
    then = Pieces(content.start, divider.start, content.items[: places[0]])
    return then, Pieces(divider.end, content.end, content.items[places[0] + 1 : second])


def _joined(output: Output) -> str:
    """The output as one text. ``{{trim}}`` takes the line ends around it away, up to a ``{{noop}}``."""
    if _TRIM not in output:
        return "".join(piece for piece in output if isinstance(piece, str))
    done: Output = []
    is_trimming = False
    for piece in output:
        if piece is _TRIM:
            while done and isinstance(done[-1], str):
                done[-1] = done[-1].rstrip("\r\n")
                if done[-1]:
                    break
                done.pop()
            is_trimming = True
        elif isinstance(piece, str):
            text = piece.lstrip("\r\n") if is_trimming else piece
            if text:
                is_trimming = False
                done.append(text)
        else:
            is_trimming = False
            done.append(piece)
    return "".join(piece for piece in done if isinstance(piece, str))


def cut(text: str) -> str:
    """A text as reports hold it."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
