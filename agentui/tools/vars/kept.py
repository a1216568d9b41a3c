"""What the server itself keeps among working variables: ``{tool}_{id}_result`` and ``{tool}_{id}_args`` of calls, and
``Message_{floor}_{role}`` of what a turn's messages said."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Literal

from agentui.jsonio import Json, dumps_text
from agentui.tools.execution import Execution
from agentui.tools.tool import HostedTool, ToolAnswer
from agentui.tools.vars.errors import VariableTooLarge
from agentui.tools.vars.record import MAX_NAME, MAX_VALUE
from agentui.tools.vars.system import VariableSystem

MAX_SHOWN = 32 * 1024
"""Characters of a result that the model gets at once; it reads the rest by ReadVar."""
_SHOWN_NAME = MAX_NAME - 80
"""Characters of a tool's name within a variable's, which leaves room for the call's id."""
_ID_LENGTHS = (6, 12, 64)
"""How much of an id stands in the names of a call's variables: models copy short names without faults, and pay for each
letter. The shortest one is taken that no other variable has."""
_PLAIN = str.maketrans(dict.fromkeys("{}:\0\r\n", "_"))


def result_name(tool: str, call_id: str) -> str:
    """The variable of a call's result."""
    return f"{_stem(tool, call_id)}_result"


def arguments_name(tool: str, call_id: str) -> str:
    """The variable of a call's arguments."""
    return f"{_stem(tool, call_id)}_args"


def message_name(floor_no: int, role: Literal["user", "assistant"]) -> str:
    """The variable of what was said on a floor, counted as the chat counts."""
    return f"Message_{floor_no}_{role}"


def keep_message(system: VariableSystem, floor_no: int, role: Literal["user", "assistant"], text: str) -> None:
    """Keep what was said, so that calls can refer to it, also where a prompt has no place for it any more. It is literal, for
    users quote what others wrote; a longer one than a variable may be is kept cut, and no words leave nothing."""
    if text:
        with suppress(VariableTooLarge):  # what is kept for ever leaves no room
            system.add(message_name(floor_no, role), _kept(text), "MessageCache", f"What the {role} said in turn {floor_no}")


def _stem(tool: str, call_id: str) -> str:
    return f"{tool[:_SHOWN_NAME]}_{call_id[:64]}".translate(_PLAIN)


def _short_id(system: VariableSystem, execution: Execution, arguments: str) -> str:
    """What tells a call's variables from all others. It is the same for the same call, so that the requests after it are the
    same, and kept answers are found; where a model gives ids and arguments twice, as some do, it is the record's."""
    named = sha256("\0".join((execution.call_id, str(execution.step), arguments)).encode("utf-8", "surrogatepass")).hexdigest()
    shorts = (named[: _ID_LENGTHS[0]], *(execution.id[:length] for length in _ID_LENGTHS))
    return next((one for one in shorts if system.peek(result_name(execution.tool_name, one)) is None), execution.id)


class CallKeeper:
    """Keeps the successful calls of a run among its variables."""

    def __init__(self, system: VariableSystem) -> None:
        self._system = system

    def keep(
        self, tool: HostedTool, execution: Execution, arguments: Mapping[str, Json], answer: ToolAnswer
    ) -> tuple[ToolAnswer, bool]:
        """Keep a call, and give the answer as the model gets it, which ends with the variable's name: a long one cut, with
        where to read the rest. Also whether it was cut.

        What is longer than a variable may be is kept cut. Results and arguments are literal: no reference in them is followed.
        """
        asked, title = dumps_text(dict(arguments)), tool.name[:_SHOWN_NAME].translate(_PLAIN)
        id = _short_id(self._system, execution, asked)
        name = result_name(tool.name, id)
        try:
            self._system.add(name, _kept(answer.text), "ToolCallResult", f"Result of {title}")
            self._system.add(arguments_name(tool.name, id), _kept(asked), "ToolCallArgs", f"Arguments of {title}")
        except VariableTooLarge:
            return answer, False  # what is kept for ever leaves no room
        if len(answer.text) <= MAX_SHOWN:
            return replace(answer, text=f"{answer.text}\n\n[Variable: {name}]"), False
        hint = (
            f"\n\n[{MAX_SHOWN} of {len(answer.text)} characters. The whole result is the variable {name}: "
            f'ReadVar({{"name": "{name}", "start": {MAX_SHOWN}}}), or $VAR_REF{{{{{name}}}}} in the arguments of another call.]'
        )
        return replace(answer, text=answer.text[:MAX_SHOWN] + hint), True


def _kept(text: str) -> str:
    """A text that a variable can hold."""
    return text[:MAX_VALUE].replace("\0", "\ufffd").encode("utf-8", "replace").decode()
