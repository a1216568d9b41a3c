"""The items of a response's output while they grow. Each tells its own events, which ``ResponseEvents`` numbers."""

from typing import Protocol

from agentui.chat.deltas import ThinkingDelta, TokenLogprob
from agentui.jsonio import Json
from agentui.vendors.openai.free_text import free_text
from agentui.vendors.openai.reply import render_logprobs
from agentui.vendors.openai_responses.callables import CallName, parse_arguments
from agentui.vendors.openai_responses.sealed import Token, seal

Event = dict[str, Json]


class Item(Protocol):
    """One item of the output while it grows."""

    def opened(self) -> list[Event]:
        """``output_item.added``."""

    def close(self, status: str) -> list[Event]:
        """Its last events, ``output_item.done`` at the end; nothing the second time."""

    def value(self, status: str = "completed") -> Json:
        """The item as it stands; ``status`` is for one that is not closed."""


class _Base:
    """What items share: their place, their id, and being closed once."""

    def __init__(self, index: int, id: str) -> None:
        self.index = index
        self.id = id
        self._status: str | None = None

    def opened(self) -> list[Event]:
        """``output_item.added``."""
        return [{"type": "response.output_item.added", "output_index": self.index, "item": self.value("in_progress")}]

    def close(self, status: str) -> list[Event]:
        """Its last events, ``output_item.done`` at the end; nothing the second time."""
        if self._status is not None:
            return []
        events = self._finish()
        self._status = status
        return [*events, {"type": "response.output_item.done", "output_index": self.index, "item": self.value()}]

    def value(self, status: str = "completed") -> Json:
        """The item as it stands; ``status`` is for one that is not closed."""
        raise NotImplementedError

    def _finish(self) -> list[Event]:
        """What comes before ``output_item.done``."""
        return []

    def _event(self, type: str, **fields: Json) -> Event:
        """An event about this item."""
        return {"type": f"response.{type}", "item_id": self.id, "output_index": self.index, **fields}


class Part:
    """A content part of a message: a text or a refusal."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pieces: list[str] = []
        self.annotations: list[Json] = []
        self.logprobs: list[Json] = []

    @property
    def text(self) -> str:
        """All of it so far."""
        return "".join(self.pieces)

    def value(self) -> Event:
        """The part as it stands."""
        if self.kind == "refusal":
            return {"type": "refusal", "refusal": self.text}
        annotations, logprobs = list(self.annotations), list(self.logprobs)
        return {"type": "output_text", "text": self.text, "annotations": annotations, "logprobs": logprobs}


class MessageItem(_Base):
    """A message item; its last part is the open one."""

    def __init__(self, index: int, id: str) -> None:
        super().__init__(index, id)
        self.parts: list[Part] = []

    def emit(self, kind: str, text: str, logprobs: tuple[TokenLogprob, ...]) -> list[Event]:
        """More of a part of this kind; another kind begins a new part."""
        events: list[Event] = []
        if not self.parts or self.parts[-1].kind != kind:
            events += self._finish()
            self.parts.append(Part(kind))
            events.append(self._event("content_part.added", content_index=self._last, part=self.parts[-1].value()))
        self.parts[-1].pieces.append(text)
        delta = self._event(f"{kind}.delta", content_index=self._last, delta=text)
        if kind == "output_text":
            delta["logprobs"] = render_logprobs(logprobs)
            self.parts[-1].logprobs += delta["logprobs"]
        return [*events, delta]

    def cite(self, annotation: Json) -> list[Event]:
        """A citation of the open text."""
        part = self.parts[-1]
        part.annotations.append(annotation)
        number = len(part.annotations) - 1
        event = self._event("output_text.annotation.added", annotation=annotation, annotation_index=number)
        return [{**event, "content_index": self._last}]

    @property
    def _last(self) -> int:
        """The open part's place."""
        return len(self.parts) - 1

    def _finish(self) -> list[Event]:
        """End the open part."""
        if not self.parts:
            return []
        part = self.parts[-1]
        value = part.value()
        done = self._event(f"{part.kind}.done", content_index=self._last)
        if part.kind == "refusal":
            done["refusal"] = part.text
        else:
            done |= {"text": part.text, "logprobs": value["logprobs"]}
        return [done, self._event("content_part.done", content_index=self._last, part=value)]

    def value(self, status: str = "completed") -> Json:
        """The message item."""
        content: list[Json] = [part.value() for part in self.parts]
        return {"type": "message", "id": self.id, "status": self._status or status, "role": "assistant", "content": content}


class CallItem(_Base):
    """A call of a function, of a tool that takes free text, or of the search for tools, as ``called`` says."""

    def __init__(self, index: int, id: str, call_id: str, called: CallName) -> None:
        super().__init__(index, id)
        self.call_id = call_id
        self.called = called
        self.pieces: list[str] = []

    @property
    def arguments(self) -> str:
        """All of the arguments so far, as the model wrote them."""
        return "".join(self.pieces)

    def argue(self, text: str) -> list[Event]:
        """More of the arguments. Only a function tells them while they come: the others need them whole."""
        if not text:
            return []
        self.pieces.append(text)
        return [self._event("function_call_arguments.delta", delta=text)] if self.called.kind == "function" else []

    def _finish(self) -> list[Event]:
        """The whole arguments; none at all are an empty object."""
        match self.called.kind:
            case "function":
                events = [] if self.pieces else self.argue("{}")
                done = self._event("function_call_arguments.done", name=self.called.name, arguments=self.arguments)
                return [*events, done]
            case "custom":
                text = free_text(self.arguments)
                return [
                    self._event("custom_tool_call_input.delta", delta=text),
                    self._event("custom_tool_call_input.done", input=text),
                ]
        return []

    def value(self, status: str = "completed") -> Json:
        """The item of the call; free text and a search are empty until they are whole."""
        status, is_whole = self._status or status, self._status is not None
        called: Event = {"id": self.id, "call_id": self.call_id, "status": status}
        if self.called.kind == "tool_search":
            return {
                "type": "tool_search_call", **called, "execution": "client",
                "arguments": parse_arguments(self.arguments) if is_whole else {},
            }  # fmt: skip
        called["name"] = self.called.name
        if self.called.namespace is not None:
            called["namespace"] = self.called.namespace
        if self.called.kind == "custom":
            return {"type": "custom_tool_call", **called, "input": free_text(self.arguments) if is_whole else ""}
        return {"type": "function_call", **called, "arguments": self.arguments}


class ThoughtItem(_Base):
    """A reasoning item with one summary part."""

    def __init__(self, index: int, id: str, block: int) -> None:
        super().__init__(index, id)
        self.block = block
        self.pieces: list[str] = []
        self.token: Token | None = None

    def think(self, delta: ThinkingDelta) -> list[Event]:
        """More thought, or its token, which travels in ``encrypted_content`` whoever gave it."""
        if delta.signed_by is not None and delta.redacted is not None:
            self.token = Token(delta.signed_by, "redacted", delta.redacted)
        elif delta.signed_by is not None and delta.signature is not None:
            self.token = Token(delta.signed_by, "signature", delta.signature)
        if not delta.text:
            return []
        first = not self.pieces
        self.pieces.append(delta.text)
        said = self._event("reasoning_summary_text.delta", summary_index=0, delta=delta.text)
        if not first:
            return [said]
        return [self._event("reasoning_summary_part.added", summary_index=0, part=_summary("")), said]

    def _finish(self) -> list[Event]:
        """End the summary, where there is one."""
        if not self.pieces:
            return []
        text = "".join(self.pieces)
        return [
            self._event("reasoning_summary_text.done", summary_index=0, text=text),
            self._event("reasoning_summary_part.done", summary_index=0, part=_summary(text)),
        ]

    def value(self, status: str = "completed") -> Json:
        """The reasoning item; like the API's own it has no status."""
        summary: list[Json] = [_summary("".join(self.pieces))] if self.pieces else []
        encrypted = None if self.token is None else seal(self.token, self.id)
        return {"type": "reasoning", "id": self.id, "summary": summary, "encrypted_content": encrypted}


def _summary(text: str) -> Event:
    """A part of a reasoning item's summary."""
    return {"type": "summary_text", "text": text}


class WholeItem(_Base):
    """An item that comes in one piece."""

    def __init__(self, index: int, item: Event) -> None:
        super().__init__(index, item["id"])
        self.item = item

    def value(self, status: str = "completed") -> Json:
        """The item as it is."""
        return self.item
