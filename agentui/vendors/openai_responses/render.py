"""A request as it goes out: the caller's own body with new messages, another dialect's in this one, or Prompt Blocks."""

import re
from collections.abc import Sequence

from agentui.chat.messages import Message, Text, missing_results, orphans_as_text, pair_tool_calls
from agentui.chat.request import ChatRequest, ResponseFormat, ThinkingConfig, WireRequest
from agentui.chat.stops import cut_of
from agentui.errors import UnsupportedFeature
from agentui.jsonio import Json
from agentui.vendors.base import Prompt
from agentui.vendors.capabilities import capabilities_of, clamped_limit, effort_for, without_refused
from agentui.vendors.openai.free_text import free_text_names
from agentui.vendors.openai.headers import chat_headers
from agentui.vendors.openai.message_writer import render_messages
from agentui.vendors.openai.messages import PLATFORM, short_id
from agentui.vendors.openai.tools import meets_strict_rules
from agentui.vendors.openai_responses.items import Losses, declares_tools, message_item, render_items
from agentui.vendors.openai_responses.request import ENCRYPTED, ENDPOINT, LOGPROBS, patched_body
from agentui.vendors.openai_responses.sealed import VENDOR
from agentui.vendors.openai_responses.tools import render_tool_choice, render_tools
from agentui.vendors.schema_roots import with_object_roots

MIN_OUTPUT_TOKENS = 16
"""The API refuses a smaller limit."""  # fmt: skip

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def render_request(chat: ChatRequest) -> WireRequest:
    """Put this dialect on; ``dropped`` names what could not be carried.

    Raises UnsupportedFeature for several answers, sound, film, and files that cannot be reached from here.
    """
    own = chat.wire_in(VENDOR)
    return _render_foreign(chat) if own is None else _render_own(chat, own)


def _render_own(chat: ChatRequest, own: WireRequest) -> WireRequest:
    """The caller's body with ``input`` and ``instructions`` from the messages, and nothing else touched."""
    losses = Losses()
    body = patched_body(own.body, chat.model, chat.stream)
    instructions, rest = _split_system(chat.messages)
    if instructions:
        body["instructions"] = instructions
    elif body.get("instructions"):
        del body["instructions"]
    match rest:
        case [Message(role="user", raw=str(text), raw_vendor=origin)] if origin == VENDOR:
            body["input"] = text
        case [_, *_]:
            body["input"] = [*_declarations(own), *render_items(rest, losses)]
        case _ if instructions and chat.needs_state is None and chat.is_recomposed:
            del body["instructions"]
            body["input"] = [_system_item(instructions)]
        case _ if body.get("input") is not None:
            body["input"] = []
    return WireRequest(
        VENDOR, own.operation, chat.model, chat.stream, own.path, body, headers=own.headers,
        dropped=tuple(losses.names), is_wrapped=own.is_wrapped,
    )  # fmt: skip


def _declarations(own: WireRequest) -> list[Json]:
    """The items of the caller's input that say which tools there are: no message of the conversation holds them."""
    given = own.body.get("input")
    return [item for item in given if declares_tools(item)] if isinstance(given, list) else []


def _split_system(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The leading system texts, which are the instructions, and the messages after them.

    A system item of the caller's own input stays an item, where it was.
    """
    count = 0
    for message in messages:
        is_item = message.raw_vendor == VENDOR and isinstance(message.raw, dict)
        if message.role != "system" or is_item or not all(isinstance(part, Text) for part in message.parts):
            break
        count += 1
    return "\n\n".join(message.text for message in messages[:count] if message.text), messages[count:]


def _render_foreign(chat: ChatRequest) -> WireRequest:
    """Everything modelled that this API can say."""
    losses = Losses(file_ids=chat.vendor in PLATFORM, custom=free_text_names(chat.tools, chat.model))
    losses.drop(*chat.unmodelled)
    chat, is_wrapped = with_object_roots(chat, capabilities_of(VENDOR, chat))
    body: dict[str, Json] = {"model": chat.model}
    _put_messages(body, chat, losses)
    _put_params(body, chat, losses)
    if tools := render_tools(chat.tools, losses.custom, losses):
        body["tools"] = tools
        if chat.tool_choice is not None:
            body["tool_choice"] = render_tool_choice(chat.tool_choice, losses.custom)
            if chat.tool_choice.parallel is not None:
                body["parallel_tool_calls"] = chat.tool_choice.parallel
    include = [LOGPROBS] if chat.params.logprobs and "logprobs" not in capabilities_of(VENDOR, chat).refused else []
    if chat.response_format is not None:
        body["text"] = {"format": _render_format(chat.response_format)}
    if chat.thinking is not None:
        if reasoning := _render_thinking(chat, chat.thinking, losses):
            body["reasoning"] = reasoning
        if chat.thinking.mode != "disabled":
            include.append(ENCRYPTED)
    if include:
        body["include"] = include
    # Nothing here can be asked for again later: the caller's dialect has no response ids to come back with.
    body["store"] = False
    if chat.stream:
        body["stream"] = True
    return WireRequest(
        VENDOR, "chat", chat.model, chat.stream, ENDPOINT, body, headers=chat_headers(chat),
        dropped=tuple(losses.names), cut=cut_of(chat.params.stop or ()), is_wrapped=is_wrapped,
    )  # fmt: skip


def _put_messages(body: dict[str, Json], chat: ChatRequest, losses: Losses) -> None:
    """``instructions`` and ``input``. The API wants some input, so system texts alone become an item."""
    instructions, answered = _split_system(pair_tool_calls(chat.messages))
    rest = orphans_as_text(answered)
    if any(one is not other for one, other in zip(answered, rest, strict=True)):
        losses.drop("messages.orphan_tool_result")
    if missing := missing_results(rest):
        losses.drop("messages.missing_tool_result")
        rest = [one for place, said in enumerate(rest) for one in ((said, missing[place]) if place in missing else (said,))]
    items = render_items(rest, losses)
    wants_json = chat.response_format is not None and chat.response_format.kind == "json"
    if wants_json and not any("json" in message.text.lower() for message in rest):
        # With json_object the API refuses an input that does not speak of JSON, whatever the instructions say.
        items.insert(0, _system_item("Answer in JSON."))
    if instructions and items:
        body["instructions"] = instructions
    elif instructions:
        items = [_system_item(instructions)]
    body["input"] = items


def _system_item(text: str) -> Json:
    """System text as an item of the input, for a request that says nothing else: the API wants some input."""
    return message_item("system", [{"type": "input_text", "text": text}])


def _put_params(body: dict[str, Json], chat: ChatRequest, losses: Losses) -> None:
    """Sampling and limits; what the API does not know is left out by name."""
    params = chat.params
    if params.n is not None and params.n > 1:
        raise UnsupportedFeature("The Responses API gives one answer; n must be 1.", param="n")
    losses.drop(*(name for name in ("top_k", "min_p", "presence_penalty", "frequency_penalty") if getattr(params, name)))
    if params.repetition_penalty not in (None, 1):
        losses.drop("repetition_penalty")
    if params.seed is not None:
        losses.drop("seed")
    sampling: dict[str, Json] = {
        "temperature": params.temperature,
        "top_p": params.top_p,
        "top_logprobs": params.top_logprobs,
    }
    taken, refused = without_refused(VENDOR, chat, sampling)
    limit, clamped = clamped_limit(params.max_tokens, capabilities_of(VENDOR, chat))
    losses.drop(*clamped, *refused)
    said: dict[str, Json] = {
        "max_output_tokens": None if limit is None else max(MIN_OUTPUT_TOKENS, limit),
        **taken,
        "safety_identifier": None if params.user is None else short_id(params.user),
    }
    body.update((key, value) for key, value in said.items() if value is not None)


def _render_format(wanted: ResponseFormat) -> dict[str, Json]:
    """``text.format``. A schema needs a name; it is strict only where the caller said so and the schema allows it."""
    if wanted.kind == "text":
        return {"type": "text"}
    if wanted.kind == "json":
        return {"type": "json_object"}
    name = wanted.name if wanted.name and _NAME.fullmatch(wanted.name) else "answer"
    schema = dict(wanted.schema or {})
    strict = wanted.strict is True and meets_strict_rules(schema)
    return {"type": "json_schema", "name": name, "schema": schema, "strict": strict}


def _render_thinking(chat: ChatRequest, config: ThinkingConfig, losses: Losses) -> dict[str, Json]:
    """``reasoning``. Models that do not reason refuse it even to switch it off, so a bare "disabled" is left out."""
    model = capabilities_of(VENDOR, chat)
    effort, dropped = effort_for(config, model)
    losses.drop(*dropped)
    if not model.thinking:
        return {}
    if config.mode == "disabled" and effort is None:
        losses.drop("thinking")
        return {}
    reasoning: dict[str, Json] = {} if effort is None else {"effort": effort}
    if config.include is not False and effort != "none":
        reasoning["summary"] = "auto"
    return reasoning


def render_prompt(messages: Sequence[Message]) -> Prompt:
    """System texts as ``instructions``, the conversation as ``input``.

    ``pm``: ``input`` (items), ``instructions`` and ``system_text`` (the system texts, "" for none) and ``messages`` (as in
    OpenAI chat). ``members``: ``instructions`` (only where there is one) and ``input``. System text alone is the input, too,
    for the API wants some; in ``members`` it stands there only.
    """
    losses = Losses()
    paired = pair_tool_calls(messages)
    system_text = "\n\n".join(message.text for message in paired if message.role == "system" and message.text)
    items = render_items([message for message in paired if message.role != "system"], losses)
    members: dict[str, Json] = {"instructions": system_text} if system_text and items else {}
    items = items or ([_system_item(system_text)] if system_text else [])
    pm: dict[str, Json] = {
        "input": items,
        "instructions": system_text,
        "system_text": system_text,
        "messages": render_messages(messages)[0],
    }
    return Prompt(pm, {**members, "input": items}, tuple(losses.names))
