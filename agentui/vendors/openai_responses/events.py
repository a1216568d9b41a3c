"""An answer as the API tells it: deltas in, the official sequence of event objects out.

    response.created  response.in_progress
      output_item.added  content_part.added  output_text.delta ...  output_text.done  content_part.done  output_item.done
      output_item.added  function_call_arguments.delta ...  function_call_arguments.done  output_item.done
      output_item.added  reasoning_summary_part.added  reasoning_summary_text.delta ...            output_item.done
    response.completed | response.incomplete

Every event has its ``sequence_number``; an item keeps its id and its ``output_index`` from first to last. The response
object in them repeats what was asked."""

import re

from agentui.chat.deltas import (
    Delta,
    End,
    Failure,
    Finish,
    FinishReason,
    LogprobsDelta,
    MediaDelta,
    OpaqueDelta,
    RefusalDelta,
    Start,
    TextDelta,
    ThinkingDelta,
    TokenLogprob,
    ToolCallDelta,
    Usage,
    UsageDelta,
)
from agentui.chat.messages import Media
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.vendors.openai.citations import responses_annotations
from agentui.vendors.openai.reply import render_logprobs
from agentui.vendors.openai_responses.callables import CallName, Kind, call_names
from agentui.vendors.openai_responses.errors import error_event, response_error
from agentui.vendors.openai_responses.output import CallItem, Event, Item, MessageItem, Part, ThoughtItem, WholeItem
from agentui.vendors.openai_responses.sealed import VENDOR, split_id
from agentui.vendors.openai_responses.usage import render_usage

_CALL_IDS: dict[Kind, str] = {"function": "fc", "custom": "ctc", "tool_search": "tsc"}
"""How the ids of call items begin."""  # fmt: skip
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")


class ResponseEvents:
    """Tells one answer. The API has one choice; deltas of others are not told.

    ``id`` and ``now`` (seconds since 1970) are for an upstream that tells neither; the items' ids are made of ``id``.
    """

    def __init__(self, wire: WireRequest, *, id: str, now: int) -> None:
        self._response = {**blank_response(wire), "id": id, "created_at": now}
        # Callers point to items by id, and some servers number their answers from one: the response's id will not do.
        self._unique = id.removeprefix("resp_")[-48:]
        self._items: list[Item] = []
        self._message: MessageItem | None = None
        self._thought: ThoughtItem | None = None
        self._calls: dict[int, CallItem] = {}
        self._wire = wire
        self._names: dict[str, CallName] | None = None
        self._text: Part | None = None
        self._said = self._before = 0
        """Characters of all texts, and of those before the one last said."""
        self._logprobs: tuple[TokenLogprob, ...] = ()
        self._usage: Usage | None = None
        self._reason: FinishReason | None = None
        self._refused = False
        self._sequence = 0
        self._begun = False
        self._ended = self._has_failed = False

    def feed(self, delta: Delta) -> list[Event]:
        """The events that this delta is; the first one of any kind begins the response, ``End`` ends it, once."""
        if self._ended or getattr(delta, "choice", 0) != 0:
            return []
        match delta:
            case UsageDelta(usage):
                self._usage = usage if self._usage is None else self._usage.updated(usage)
                return []
            case Failure(error):
                return self.fail(error)
        start = delta if isinstance(delta, Start) else Start()
        return [*([] if self._begun else self._begin(start)), *self._numbered(self._emit(delta))]

    def fail(self, error: AgentUIError) -> list[Event]:
        """``error`` and, where a response has begun, ``response.failed`` with what was said so far. Nothing follows."""
        if self._has_failed:
            return []
        self._ended = self._has_failed = True
        events = [error_event(error)]
        if self._begun:
            self._response["status"] = "failed"
            self._response["error"] = response_error(error)
            self._response["output"] = [item.value("incomplete") for item in self._items] or self._response["output"]
            events.append({"type": "response.failed", "response": self._response})
        return self._numbered(events)

    def resume(self, response: dict[str, Json] | None, sequence: int) -> None:
        """Take over a stream of which ``sequence`` events were passed on and that began with ``response``."""
        self._sequence = sequence
        if response is not None:
            self._response = {"output": [], **response}
            self._begun = True

    @property
    def response(self) -> dict[str, Json]:
        """The response object as far as it is told; final after ``End``."""
        return self._response

    def _numbered(self, events: list[Event]) -> list[Event]:
        """Give each event its place in the stream."""
        for event in events:
            event["sequence_number"] = self._sequence
            self._sequence += 1
        return events

    def _begin(self, start: Start) -> list[Event]:
        """``response.created`` and ``response.in_progress``."""
        self._begun = True
        if start.id:
            self._response["id"] = response_id(start.id)
        if start.created is not None:
            self._response["created_at"] = start.created
        if start.model:
            self._response["model"] = start.model
        now = {**self._response, "status": "in_progress"}
        return self._numbered(
            [{"type": "response.created", "response": now}, {"type": "response.in_progress", "response": now}]
        )

    def _emit(self, delta: Delta) -> list[Event]:
        """The events of a delta within a response that has begun."""
        match delta:
            case TextDelta(text):
                return self._emit_text("output_text", text)
            case ToolCallDelta():
                return self._call(delta)
            case ThinkingDelta():
                return self._think(delta)
            case RefusalDelta(text):
                self._refused = True
                return self._emit_text("refusal", text)
            case LogprobsDelta(tokens):
                return self._weigh(tokens)
            case MediaDelta(media):
                return self._show(media)
            case OpaqueDelta(vendor, label, raw) if vendor == VENDOR:
                return self._pass_on(label, raw)
            case OpaqueDelta(cited=cited) if cited and self._message is not None:
                annotations = responses_annotations(cited, self._before)
                return [event for annotation in annotations for event in self._message.cite(annotation)]
            case Finish(reason):
                self._reason = reason
                return self._close_items()
            case End():
                return self._end()
        return []

    def _item_id(self, prefix: str) -> str:
        """An id for the next item, which no other answer's item has; at most 64 characters."""
        return f"{prefix}_{self._unique}_{len(self._items)}"

    def _open(self, item: Item) -> list[Event]:
        """A new item at the end of the output."""
        self._items.append(item)
        return item.opened()

    def _emit_text(self, kind: str, text: str) -> list[Event]:
        """Words of an answer or of a refusal."""
        events = self._close_thought()
        if self._message is None:
            self._message = MessageItem(len(self._items), self._item_id("msg"))
            events += self._open(self._message)
        if kind == "refusal":
            return events + self._message.emit(kind, text, ())
        logprobs, self._logprobs = self._logprobs, ()
        events += self._message.emit(kind, text, logprobs)
        if self._message.parts[-1] is not self._text:
            self._text, self._before = self._message.parts[-1], self._said
        self._said += len(text)
        return events

    def _weigh(self, tokens: tuple[TokenLogprob, ...]) -> list[Event]:
        """Log probabilities belong to the text last said; before any text they wait for it."""
        if self._text is None:
            self._logprobs += tokens
        elif self._message is not None and self._message.parts[-1] is self._text:
            return self._message.emit("output_text", "", tokens)
        else:
            # The text is closed: only the finished response can still hold them.
            self._text.logprobs += render_logprobs(tokens)
        return []

    def _think(self, delta: ThinkingDelta) -> list[Event]:
        """A thought; every block of thinking is a reasoning item."""
        events: list[Event] = []
        if self._thought is None or self._thought.block != delta.block:
            events += self._close_thought() + self._close_message()
            own = split_id(delta.signature)[0] if delta.signed_by == VENDOR and delta.signature else None
            self._thought = ThoughtItem(len(self._items), own or self._item_id("rs"), delta.block)
            events += self._open(self._thought)
        return events + self._thought.think(delta)

    def _call(self, delta: ToolCallDelta) -> list[Event]:
        """A tool call. Calls stay open until the answer ends: some upstreams interleave their arguments."""
        events = self._close_thought() + self._close_message()
        call = self._calls.get(delta.index)
        if call is None:
            called = self._called(delta.name or "")
            id = self._item_id(_CALL_IDS[called.kind])
            call = CallItem(len(self._items), id, delta.id or f"call_{self._item_id('fc')[3:]}", called)
            self._calls[delta.index] = call
            events += self._open(call)
        return events + call.argue(delta.arguments)

    def _called(self, name: str) -> CallName:
        """What the caller named the tool that a model calls by this name."""
        if self._names is None:
            self._names = call_names(self._wire.body)
        return self._names.get(name) or CallName(name)

    def _show(self, media: Media) -> list[Event]:
        """A picture is what the image tool gives; the API has no other media in an answer."""
        if media.kind != "image" or media.data is None:
            return []
        item: Event = {
            "type": "image_generation_call",
            "id": self._item_id("ig"),
            "status": "completed",
            "output_format": (media.media_type or "image/png").partition("/")[2],
            "result": media.data,
        }
        return self._whole(item)

    def _pass_on(self, label: str, raw: Json) -> list[Event]:
        """A part of this very dialect: a citation of the text last said, or an item."""
        if label == "annotation":
            return [] if self._message is None else self._message.cite(raw)
        return self._whole({"id": self._item_id("item"), **raw}) if isinstance(raw, dict) else []

    def _whole(self, item: Event) -> list[Event]:
        """An item that is added and done at once."""
        events = self._close_thought() + self._close_message()
        whole = WholeItem(len(self._items), item)
        return events + self._open(whole) + whole.close("completed")

    def _close_thought(self) -> list[Event]:
        """End the thought that is open."""
        thought, self._thought = self._thought, None
        return thought.close("completed") if thought is not None else []

    def _close_message(self) -> list[Event]:
        """End the message that is open, and with it its text."""
        message, self._message = self._message, None
        return message.close("completed") if message is not None else []

    def _close_items(self) -> list[Event]:
        """End whatever is open; what a limit cut off is incomplete."""
        status = "completed" if self._incomplete() is None else "incomplete"
        events = [event for item in self._items for event in item.close(status)]
        self._message = self._thought = None
        return events

    def _incomplete(self) -> str | None:
        """Why the answer is not complete, in the API's words. A refusal without words is the API's content filter."""
        if self._reason == "length":
            return "max_output_tokens"
        if self._reason == "content_filter" or (self._reason == "refusal" and not self._refused):
            return "content_filter"
        return None

    def _end(self) -> list[Event]:
        """``response.completed`` or ``response.incomplete``, with the whole response and its usage."""
        events = self._close_items()
        self._ended = True
        reason = self._incomplete()
        self._response["status"] = "completed" if reason is None else "incomplete"
        self._response["incomplete_details"] = None if reason is None else {"reason": reason}
        self._response["output"] = [item.value() for item in self._items]
        self._response["usage"] = render_usage(self._usage)
        return [*events, {"type": f"response.{self._response['status']}", "response": self._response}]


def response_id(id: str) -> str:
    """A response's id: the upstream's own under the API's prefix, so that it can be traced."""
    return "resp_" + _NOT_IN_IDS.sub("_", id.removeprefix("resp_"))[-200:]


_ECHOED: dict[str, Json] = {
    "background": False, "instructions": None, "max_output_tokens": None, "max_tool_calls": None, "metadata": {},
    "parallel_tool_calls": True, "previous_response_id": None, "prompt_cache_key": None, "safety_identifier": None,
    "service_tier": "default", "temperature": 1.0, "tool_choice": "auto", "top_logprobs": 0, "top_p": 1.0,
    "truncation": "disabled", "user": None,
}  # fmt: skip
"""Fields of the request that come back, and what the API says for those that were not sent."""  # fmt: skip


def blank_response(wire: WireRequest) -> dict[str, Json]:
    """A response to ``wire`` that has not begun: everything but id, time, output and usage.

    ``store`` is always False: nothing made here can be asked for again by its id.
    """
    body = wire.body
    echoed = {key: default if body.get(key) is None else body[key] for key, default in _ECHOED.items()}
    reasoning = body.get("reasoning")
    text = body.get("text")
    return {
        "id": "",
        "object": "response",
        "created_at": 0,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": wire.model,
        "output": [],
        "usage": None,
        **echoed,
        "reasoning": {"effort": None, "summary": None, **(reasoning if isinstance(reasoning, dict) else {})},
        "store": False,
        "text": {"format": {"type": "text"}, **(text if isinstance(text, dict) else {})},
        "tools": _tools(body.get("tools")),
    }


def _tools(tools: Json) -> list[Json]:
    """The tools as asked; a function names all its fields."""
    if not isinstance(tools, list):
        return []
    blank: dict[str, Json] = {"description": None, "parameters": None, "strict": True}
    return [blank | tool if isinstance(tool, dict) and tool.get("type") == "function" else tool for tool in tools]
