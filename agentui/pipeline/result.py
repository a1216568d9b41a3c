"""What a run came to, for whoever asked for it or keeps it."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

from agentui.chat.deltas import Usage
from agentui.chat.reply import Reply
from agentui.errors import AgentUIError
from agentui.jsonio import Json

RunState = Literal["running", "finished", "failed", "cancelled"]


class RunAnswer(NamedTuple):
    """What the answering node said.

    ``text`` is without the keys that an upstream may repeat; ``reply`` is the same with all its parts (text, thoughts, tool
    calls) as they came, None where the answer is no reply of a model (a token count, embeddings, a forwarded answer that is
    not in the caller's dialect). ``usage`` are the tokens of the node's call, each None where nobody told.
    """

    text: str = ""
    reply: Reply | None = None
    usage: Usage = Usage()


class RunResult:
    """What a run came to: its state, the OUT of every node that ran by its id, and why it failed, where it did.

    ``answer`` is put together when it is first asked for: a forwarded answer is not read for those who only pass it on.
    """

    def __init__(
        self,
        run_id: str,
        state: RunState,
        out: Mapping[str, Json],
        error: AgentUIError | None,
        read_answer: Callable[[], RunAnswer],
    ) -> None:
        self.run_id = run_id
        self.state = state
        self.out = out
        self.error = error
        self._read_answer = read_answer

    @cached_property
    def answer(self) -> RunAnswer:
        """What the answering node said; empty where the run came not so far."""
        return self._read_answer()

    @property
    def reply(self) -> Reply | None:
        """``answer.reply``."""
        return self.answer.reply

    @property
    def usage(self) -> Usage:
        """``answer.usage``."""
        return self.answer.usage
