"""What SillyTavern's macros read and write in a run.

The local view is the run's chat: page, floor, branch and chat, the nearest first; what is written goes to the branch. The
global view is the global tier (seed 000). Where a request names no session, what macros write to the branch is gone with the
run.
"""

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from random import SystemRandom
from typing import Any, Final, cast

from agentui.chat.messages import Message
from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.memory import RunMemory
from agentui.redaction import Redactor
from agentui.templating.core.paths import MISSING
from agentui.templating.core.values import text_of
from agentui.templating.sillytavern.macros import VALUE_NAMES, VALUES
from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import MacroScope, MacroWarning
from agentui.templating.sillytavern.variables import Mutation
from agentui.variables.scopes import Scope
from agentui.variables.staging import Staged

LOCAL: Final[tuple[Scope, ...]] = ("page", "floor", "branch", "chat")
"""The tiers of the local view, the nearest first."""
_INTENTS: Final = ("normal", "swipe", "regenerate", "continue", "impersonate", "quiet")


@dataclass(frozen=True, slots=True)
class ChatMacros:
    """What the chat of a run tells its macros: texts by the names of read-only macros (``names_of`` of a session), how long ago
    the user last said something, and the character's greetings."""

    values: Mapping[str, str] = field(default_factory=dict)
    idle: timedelta | None = None
    greetings: Sequence[str] = ()


class RunMacros:
    """The macros of one run: every text of it is replaced here, in the order in which its nodes come to them.

    ``run_vars`` are the variables that SetVars gave the run; one that is called like a read-only macro is its text.
    ``seed`` names the chat for ``{{pick}}``, ``chat`` tells of it.
    """

    def __init__(
        self,
        incoming: Incoming,
        run_vars: Mapping[str, Json],
        memory: RunMemory | None,
        redactor: Redactor,
        seed: str,
        chat: ChatMacros,
    ) -> None:
        self._incoming = incoming
        self._run_vars = run_vars
        self._memory = memory
        self._redactor = redactor
        self._seed = seed
        self._chat = chat
        self._random = SystemRandom()
        self._told: set[str] = set()
        self._unstored: dict[Scope, dict[str, Json]] = {"branch": {}, "global": {}}

    def expand(
        self,
        source: str,
        warn: Callable[[str], None],
        stage: Callable[[Scope, str, Json], None],
        values: Mapping[str, str],
    ) -> str:
        """The text with its macros replaced. ``stage`` takes what they wrote to tiers that are stored, ``warn`` hears each
        warning once in a run. ``values`` are the texts of read-only macros for this text alone. Raises what ``stage`` raises.
        """
        staged = None if self._memory is None else self._memory.staged()
        tiers: Mapping[Any, Mapping[str, Json]] = {} if staged is None else staged.view()[1]
        run = MacroRun(
            MacroScope(
                "assemble",
                datetime.now().astimezone(),
                values={**self._values(), **values},
                local=_Layers([self._unstored["branch"], *(tiers[tier] for tier in LOCAL if tier in tiers)]),
                globals=_Layers([self._unstored["global"], *(tiers[tier] for tier in ("global",) if tier in tiers)]),
                plain=self._run_vars,
                random=self._random,
                greetings=self._chat.greetings,
                seed=self._seed,
                idle=self._chat.idle,
                made=self._redactor.register_made,
            )
        )
        text = run.expand(source)
        for mutation in run.report.mutations:
            self._write(mutation, staged, stage)
        for warning in run.report.warnings:
            self._tell(warning, warn)
        return text

    def _write(self, mutation: Mutation, staged: Staged | None, stage: Callable[[Scope, str, Json], None]) -> None:
        """Stage a write where its tier is stored, else keep it for the run."""
        if staged is None or mutation.scope not in staged.writable:
            self._unstored[mutation.scope][mutation.key] = mutation.value
        elif mutation.value is MISSING:
            staged.delete(mutation.scope, mutation.key)
        else:
            stage(mutation.scope, mutation.key, mutation.value)

    def _tell(self, warning: MacroWarning, warn: Callable[[str], None]) -> None:
        text = f"{warning.message} ({warning.code})"
        if text not in self._told:
            self._told.add(text)
            warn(text)

    @cached_property
    def _told_by_request(self) -> Mapping[str, str]:
        """The texts of the read-only macros, as far as the request tells them."""
        return _values_of(self._incoming)

    def _values(self) -> dict[str, str]:
        """The texts of the read-only macros now."""
        rows = {VALUE_NAMES.get(name.lower(), ""): value for name, value in self._run_vars.items() if name not in VALUES}
        rows |= {name: value for name, value in self._run_vars.items() if name in VALUES}
        given = {name: text_of(value) for name, value in rows.items() if name}
        told = {"user": "User", "char": "Assistant", **self._told_by_request, **self._chat.values, **given}
        user, char = told["user"], told["char"]
        names = {"group": char, "groupNotMuted": char, "notChar": user}
        return {**told, **names, **given}


class _Layers(Mapping[str, Json]):
    """Variables over others. MISSING in a layer hides what is below it."""

    def __init__(self, layers: Sequence[Mapping[str, Json]]) -> None:
        self._layers = layers

    def __getitem__(self, key: str) -> Json:
        for layer in self._layers:
            if key in layer:
                value = layer[key]
                if value is MISSING:
                    break
                return value
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(cast(Mapping[str, Json], ChainMap(*cast(Any, self._layers))))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _values_of(incoming: Incoming) -> Mapping[str, str]:
    """What the read-only macros give for a request."""
    messages = [message for message in _messages(incoming) if message.role in ("user", "assistant") and message.text.strip()]
    last = {role: next((each.text for each in reversed(messages) if each.role == role), "") for role in ("user", "assistant")}
    values = {
        "input": last["user"],
        "lastMessage": messages[-1].text if messages else "",
        "lastUserMessage": last["user"],
        "lastCharMessage": last["assistant"],
        "lastMessageId": str(len(messages) - 1) if messages else "",
        "lastGenerationType": _intent(incoming.headers.get("x-agentui-intent", "")),
        "runKind": "respond",
    }
    if incoming.model:
        values["model"] = incoming.model
    return values


def _intent(header: str) -> str:
    """Why the client generates, where it says so: ``x-agentui-intent: {{lastGenerationType}}``."""
    intent = header.strip().lower()
    return intent if intent in _INTENTS else "normal"


def _messages(incoming: Incoming) -> Sequence[Message]:
    """The caller's conversation, empty where the request holds none."""
    try:
        return incoming.chat.messages
    except BadRequest:
        return ()
