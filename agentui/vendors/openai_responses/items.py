"""The items of ``input``: messages, function calls and their outputs, reasoning. One item read is one ``Message``."""

from collections.abc import Mapping, Sequence

from agentui.chat.messages import Media, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from agentui.errors import BadRequest
from agentui.jsonio import Json, dumps_text
from agentui.vendors.openai.messages import short_id
from agentui.vendors.openai_responses.content import Losses, parse_content, render_content, render_media
from agentui.vendors.openai_responses.sealed import VENDOR, split_id, thought

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


def parse_input(value: Json) -> list[Message]:
    """``input`` as messages: a string is one user message whose ``raw`` is that string. Raises BadRequest."""
    if value is None:
        return []
    if isinstance(value, str):
        return [Message("user", (Text(value),), raw=value, raw_vendor=VENDOR)]
    if not isinstance(value, list):
        raise BadRequest("input must be a string or a list of items.", param="input")
    return [_parse_item(item, number) for number, item in enumerate(value)]


def _parse_item(item: Json, number: int) -> Message:
    """One item as one message, its raw object kept."""
    if type(item) is dict and len(item) == 2:  # nearly every item is a role and words
        name, content = item.get("role"), item.get("content")
        if type(content) is str and type(name) is str and name in _ROLES:
            return Message(_ROLES[name], (Text(content),), None, item, VENDOR)
    param = f"input[{number}]"
    if not isinstance(item, dict):
        raise BadRequest(f"{param} must be an object.", param=param)
    kind = item.get("type")
    if kind == "message" or (kind is None and "role" in item):
        return _parse_message(item, param)
    if kind == "function_call":
        return _of("assistant", _parse_call(item, param), item)
    if kind == "function_call_output":
        return _of("tool", _parse_output(item, param), item)
    if kind == "reasoning":
        return _of("assistant", parse_reasoning(item), item)
    if kind is None and "id" in item:
        kind = "item_reference"
    if not isinstance(kind, str):
        raise BadRequest(f"{param} needs a 'type' or a 'role'.", param=param)
    return _of("tool" if kind.endswith("_output") else "assistant", Opaque(VENDOR, kind, item), item)


def _of(role: Role, part: Part, item: dict[str, Json]) -> Message:
    """A message of the one part that an item is."""
    return Message(role, (part,), raw=item, raw_vendor=VENDOR)


def _parse_message(item: dict[str, Json], param: str) -> Message:
    """A message item, in its easy or its full form."""
    role = _ROLES.get(item["role"]) if isinstance(item.get("role"), str) else None
    if role is None:
        raise BadRequest(f"{param}.role must be one of user, assistant, system, developer.", param=f"{param}.role")
    return Message(role, parse_content(item.get("content"), f"{param}.content"), raw=item, raw_vendor=VENDOR)


def _parse_call(item: dict[str, Json], param: str) -> ToolCall:
    """``function_call``: ``call_id`` is the id that its output names."""
    for key in ("call_id", "name"):
        if not isinstance(item.get(key), str):
            raise BadRequest(f"{param}.{key} must be a string.", param=f"{param}.{key}")
    arguments = item.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        raise BadRequest(f"{param}.arguments must be JSON text.", param=f"{param}.arguments")
    return ToolCall(item["call_id"], item["name"], arguments or "{}")


def _parse_output(item: dict[str, Json], param: str) -> ToolResult:
    """``function_call_output``: its output is a string or a list of content parts."""
    if not isinstance(item.get("call_id"), str):
        raise BadRequest(f"{param}.call_id must be a string.", param=f"{param}.call_id")
    parts = parse_content(item.get("output"), f"{param}.output")
    return ToolResult(item["call_id"], tuple(part for part in parts if isinstance(part, Text | Media)))


def parse_reasoning(item: Mapping[str, Json]) -> Thinking:
    """``reasoning``: summary and text parts with an empty line between them, and the token in ``encrypted_content``."""
    texts = [
        part["text"]
        for key in ("summary", "content")
        if isinstance(parts := item.get(key), list)
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    encrypted, id = item.get("encrypted_content"), item.get("id")
    return thought("\n\n".join(texts), encrypted if isinstance(encrypted, str) else None, id if isinstance(id, str) else None)


def render_items(messages: Sequence[Message], losses: Losses) -> list[Json]:
    """Messages as input items: the caller's own where they are unchanged, else as many as their parts need."""
    items: list[Json] = []
    for message in messages:
        words = message.lone_text
        is_own = message.raw_vendor == VENDOR and isinstance(message.raw, dict)
        if is_own and (words is not None or not _is_foreign_thought(message)):
            items.append(message.raw)
        elif words:
            items.append({"role": "user" if message.role == "tool" else message.role, "content": words})
        else:
            items.extend(_render_message(message, losses))
    return items


def _is_foreign_thought(message: Message) -> bool:
    """A reasoning item whose token came from another vendor by way of this server; OpenAI would refuse it."""
    return any(isinstance(part, Thinking) and part.signed_by not in (None, VENDOR) for part in message.parts)


def _render_message(message: Message, losses: Losses) -> list[Json]:
    """Items in the order of the parts; neighbouring content parts share one message item."""
    items: list[Json] = []
    content: list[Part] = []

    def flush() -> None:
        if rendered := render_content(content, message.role, losses):
            items.append(message_item(message.role, rendered))
        content.clear()

    if message.name:
        losses.drop("name")
    for part in message.parts:
        if _is_content(part):
            content.append(part)
            continue
        flush()
        item = _render_part(part, losses)
        if item is not None:
            items.append(item)
    flush()
    return items


def message_item(role: Role, content: list[Json]) -> dict[str, Json]:
    """An easy message item; a single text stands as a plain string."""
    match content:
        case [{"type": "input_text" | "output_text", "text": str(text), **rest}] if not rest:
            return {"role": "user" if role == "tool" else role, "content": text}
    return {"role": "user" if role == "tool" else role, "content": content}


def _is_content(part: Part) -> bool:
    """Whether a part stands inside a message item rather than as an item of its own."""
    if isinstance(part, Opaque):
        # The API's content types are named input_* and output_*; all else of its own is an item.
        return part.vendor != VENDOR or part.label.startswith(("input_", "output_"))
    return not isinstance(part, ToolCall | ToolResult | Thinking)


def _render_part(part: Part, losses: Losses) -> Json:
    """The item that a part is, None when it cannot be carried."""
    match part:
        case ToolCall(id, name, arguments):
            return {"type": "function_call", "call_id": short_id(id or ""), "name": name, "arguments": arguments or "{}"}
        case ToolResult():
            return _render_result(part, losses)
        case Thinking(text, signature, _, signed_by) if signature and signed_by == VENDOR:
            return _reasoning(text, signature)
        case Thinking():
            losses.drop("thinking")
        case Opaque(_, "annotation", _):
            losses.drop("annotation")
        case Opaque(_, _, raw):
            return raw
    return None


def _reasoning(text: str, signature: str) -> dict[str, Json]:
    """``reasoning`` under the id that its token belongs to."""
    id, encrypted = split_id(signature)
    summary: list[Json] = [{"type": "summary_text", "text": text}] if text else []
    item: dict[str, Json] = {"type": "reasoning", "summary": summary, "encrypted_content": encrypted}
    return item if id is None else {**item, "id": id}


def _render_result(result: ToolResult, losses: Losses) -> dict[str, Json]:
    """``function_call_output``: plain text where the result is only that."""
    if result.is_error:
        losses.drop("is_error")
    output: Json
    if any(isinstance(part, Media) for part in result.content):
        output = [
            {"type": "input_text", "text": part.text} if isinstance(part, Text) else render_media(part, losses)
            for part in result.content
        ]
    elif result.content or result.value is None:
        output = result.text
    else:
        output = _unwrapped(result.value)
    return {"type": "function_call_output", "call_id": short_id(result.call_id or ""), "output": output}


def _unwrapped(value: Json) -> str:
    """The text of a result that had to be an object: ``{"result": "text"}`` and ``{"output": "text"}`` are wrappings."""
    match value:
        case {"result": str(text), **rest} if not rest:
            return text
        case {"output": str(text), **rest} if not rest:
            return text
    return dumps_text(value)
