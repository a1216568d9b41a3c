"""The shape of a conversation: roles that alternate, no words of the model, or one text of everything.

``rewritten`` changes one message and comes before the budget, ``joined`` joins neighbours and comes after it. Joining makes no
prompt longer in tokens than its messages apart, except for one ``PLACEHOLDER``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from agentui.chat.messages import Media, Message, Part, Refusal, Role, Text, ToolCall, ToolResult
from agentui.jsonio import dumps
from agentui.prompt.drafts import Draft
from agentui.prompt.policy import StructureMode, StructurePolicy
from agentui.prompt.prepared import StructureResult

PLACEHOLDER: Final = Message("user", (Text("[Start a new chat]"),))
"""The user's first words where the model spoke first and roles must alternate."""
_LABELS: Final = {"assistant": "Assistant: ", "user": "User: "}


class Shape:
    """What a structure policy does to the messages of one prompt."""

    def __init__(self, policy: StructurePolicy, no_assistant: bool) -> None:
        self._policy = policy
        self.mode: StructureMode = "no_assistant" if no_assistant and policy.mode != "flattened" else policy.mode
        self._keeps_roles = self.mode not in ("flattened", "no_assistant")
        self.rewrites = 0

    @property
    def forbids_assistant(self) -> bool:
        """Whether no message may be the model's. In a flattened prompt none is, and a transcript holds its words."""
        return self.mode == "no_assistant"

    def rewritten(self, draft: Draft) -> Message:
        """A message behind the head in the role that it may have."""
        message = draft.message
        if message.role == "system":
            return message if self._policy.preserve_system_messages else Message("user", message.parts)
        if self._keeps_roles:
            return message
        if self.mode == "flattened":
            is_labelled = draft.entry is not None or draft.is_talk or message.role == "assistant"
            return _as_words(message, "user", _LABELS[message.role] if is_labelled else "")
        if message.role == "assistant":
            self.rewrites += 1
            # A picture cannot stand in a system text.
            is_system = self._policy.assistant_rewrite_strategy == "to_system" and not _media(message.parts)
            return _as_words(message, "system" if is_system else "user", "" if is_system else _LABELS["assistant"])
        if any(isinstance(part, ToolResult) for part in message.parts):
            return _as_words(message, "user", "")
        return message

    def joined(self, head: Sequence[Draft], talk: Sequence[Draft]) -> list[Message]:
        """The messages that are sent: the head's, then those of the talk."""
        first = [draft.shaped for draft in head]
        if self.mode == "flattened":
            said = [draft.shaped for draft in talk if draft.shaped.role != "system"]
            first += [draft.shaped for draft in talk if draft.shaped.role == "system"]
            return [*first, *([_join("user", said, "\n")] if said else [])]
        if self.mode == "strict_alternating":
            return [*_merge_same(first), *_alternating(draft.shaped for draft in talk)]
        for is_talk, run in _runs(talk):
            first += [_join("user", run)] if is_talk and len(run) > 1 else run
        return _merge_same(first) if self._policy.merge_adjacent_same_role else first

    def result(self, talk: Sequence[Draft], is_prefilled: bool) -> StructureResult:
        """What was done, for the trace."""
        is_flat = self.mode == "flattened"
        return StructureResult(
            mode=self.mode,
            assistant_rewrite_count=self.rewrites,
            tail_assistant_detected=bool(talk) and talk[-1].message.role == "assistant",
            transcriptized=is_flat,
            transcript_message_count=sum(draft.shaped.role != "system" for draft in talk) if is_flat else 0,
            assistant_prefill_transcriptized=is_flat and is_prefilled,
        )


def _runs(talk: Sequence[Draft]) -> list[tuple[bool, list[Message]]]:
    """The messages, with those that the user said without being answered together."""
    runs: list[tuple[bool, list[Message]]] = []
    for draft in talk:
        if draft.is_talk and runs and runs[-1][0]:
            runs[-1][1].append(draft.shaped)
        else:
            runs.append((draft.is_talk, [draft.shaped]))
    return runs


def _merge_same(messages: Iterable[Message]) -> list[Message]:
    """Neighbours of one role as one message."""
    runs: list[tuple[Role, list[Message]]] = []
    for message in messages:
        if runs and runs[-1][0] == message.role:
            runs[-1][1].append(message)
        else:
            runs.append((message.role, [message]))
    return [run[0] if len(run) == 1 else _join(role, run) for role, run in runs]


@dataclass(slots=True)
class _Run:
    """Neighbours of one role, and the system messages that stand before them."""

    role: Role
    messages: list[Message] = field(default_factory=list)
    systems: list[Message] = field(default_factory=list)


def _alternating(messages: Iterable[Message]) -> list[Message]:
    """User and assistant in turn, the user first. System messages stay between turns, and never stand last."""
    runs: list[_Run] = []
    waiting: list[Message] = []
    for message in messages:
        if message.role == "system":
            waiting.append(message)
            continue
        if not runs or runs[-1].role != message.role:
            runs.append(_Run(message.role))
        runs[-1].messages.append(message)
        runs[-1].systems += waiting
        waiting = []
    if not runs:
        return _merge_same(waiting)
    runs[-1].systems += waiting
    done: list[Message] = []
    for number, run in enumerate(runs):
        done += _merge_same(run.systems)
        if number == 0 and run.role == "assistant":
            done.append(PLACEHOLDER)
        done.append(run.messages[0] if len(run.messages) == 1 else _join(run.role, run.messages))
    return done


def _join(role: Role, messages: Iterable[Message], between: str = "\n\n") -> Message:
    """Several messages as one; their texts stay apart, and results of tools come first, as vendors want them."""
    parts: list[Part] = []
    texts: list[str] = []

    def flush() -> None:
        if texts:
            parts.append(Text("".join(texts)))
            texts.clear()

    for message in messages:
        is_apart = bool(texts or parts)
        for part in message.parts:
            if isinstance(part, Text):
                texts += (between, part.text) if is_apart else (part.text,)
                is_apart = False
            else:
                flush()
                parts.append(part)
    flush()
    if role == "user":
        parts.sort(key=lambda part: not isinstance(part, ToolResult))
    return Message(role, tuple(parts))


def _as_words(message: Message, role: Role, label: str) -> Message:
    """A message of one text, with its pictures and files behind it: calls of tools and their results are told in words."""
    words = "\n".join(word for part in message.parts if (word := _words(part)))
    return Message(role, (Text(f"{label}{words}"), *_media(message.parts)))


def _words(part: Part) -> str:
    match part:
        case Text(text=text) | Refusal(text=text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return f"[called {name}: {arguments}]"
        case ToolResult(name=name, value=value):
            given = part.text or ("" if value is None else dumps(value).decode())
            return f"[{name or 'the tool'} gave: {given}]"
    return ""


def _media(parts: Iterable[Part]) -> list[Media]:
    """The pictures and files of a message, those that its tools gave too."""
    found: list[Media] = []
    for part in parts:
        if isinstance(part, Media):
            found.append(part)
        elif isinstance(part, ToolResult):
            found += [inner for inner in part.content if isinstance(inner, Media)]
    return found
