"""The items of ``input`` (messages, function calls and their outputs, reasoning) and their content parts (``input_text``,
``input_image``, ``output_text``, ...), in and out. One item read is one ``Message``."""

import base64
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from agentui.chat.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    media_kind,
)
from agentui.errors import BadRequest, UnsupportedFeature
from agentui.jsonio import Json, dumps
from agentui.vendors.arguments import whole_arguments
from agentui.vendors.openai.cache_marks import marks_of
from agentui.vendors.openai.free_text import free_text, free_text_arguments
from agentui.vendors.openai.message_writer import value_text
from agentui.vendors.openai.messages import short_id
from agentui.vendors.openai_responses.callables import SEARCH, call_names, flat_name
from agentui.vendors.openai_responses.sealed import VENDOR, split_id, thought
from agentui.vendors.thought_marks import is_marked

TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_EXTENSIONS = {"application/pdf": "pdf", "text/plain": "txt", "text/markdown": "md", "text/html": "html", "text/csv": "csv"}
_MEDIA_TYPES = {extension: media_type for media_type, extension in _EXTENSIONS.items()}


@dataclass(slots=True)
class Losses:
    """What could not be carried, by name, in the order met.

    ``file_ids`` is whether ids of uploaded files mean anything to this API (they do between OpenAI's own dialects), and
    ``custom`` names the tools that take free text; ``custom_calls`` are the ids of their calls.
    """

    file_ids: bool = True
    custom: Set[str] = frozenset()
    names: dict[str, None] = field(default_factory=dict)
    custom_calls: set[str] = field(default_factory=set)

    def drop(self, *names: str) -> None:
        """Remember that these were left out."""
        self.names.update(dict.fromkeys(names))


def parse_content(content: Json, param: str) -> tuple[Part, ...]:
    """A message's ``content``: a string or a list of parts. Raises BadRequest naming ``param``."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise BadRequest(f"{param} must be a string or a list of content parts.", param=param)
    parts: list[Part] = []
    for number, part in enumerate(content):
        parts += (_parse_part(part, f"{param}[{number}]"), *marks_of(part))
    return tuple(parts)


def _parse_part(part: Json, param: str) -> Part:
    """One content part; what is not modelled becomes Opaque."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        raise BadRequest(f"{param} must be an object with a 'type'.", param=param)
    kind = part["type"]
    if kind in TEXTS:
        return Text(_text(part, "text", param))
    if kind == "refusal":
        return Refusal(_text(part, "refusal", param))
    media = {"input_image": _parse_image, "input_file": _parse_file, "input_audio": _parse_audio}.get(kind)
    return Opaque(VENDOR, kind, part) if media is None else media(part, param)


def _text(part: dict[str, Json], key: str, param: str) -> str:
    """A field that must be a string."""
    value = part.get(key)
    if not isinstance(value, str):
        raise BadRequest(f"{param}.{key} must be a string.", param=f"{param}.{key}")
    return value


def _optional(part: dict[str, Json], key: str) -> str | None:
    """A field when it is a non-empty string."""
    value = part.get(key)
    return value if isinstance(value, str) and value else None


def _parse_image(part: dict[str, Json], param: str) -> Media:
    """``input_image``: ``image_url`` (http or data URL) or ``file_id``."""
    detail = _optional(part, "detail")
    url = _optional(part, "image_url")
    if url is None:
        if (file_id := _optional(part, "file_id")) is None:
            raise BadRequest(f"{param} needs an 'image_url' or a 'file_id'.", param=param)
        return Media("image", file_id=file_id, detail=detail)
    if (inline := parse_data_url(url, f"{param}.image_url")) is not None:
        return Media("image", inline[0], data=inline[1], detail=detail)
    return Media("image", url=url, detail=detail)


def _parse_file(part: dict[str, Json], param: str) -> Media:
    """``input_file``: ``file_data`` (data URL or bare base64), ``file_url`` or ``file_id``."""
    filename = _optional(part, "filename")
    if (data := _optional(part, "file_data")) is not None:
        inline = parse_data_url(data, f"{param}.file_data") or (_type_of(filename), data)
        return Media(media_kind(inline[0]), inline[0], data=inline[1], filename=filename)
    if (url := _optional(part, "file_url")) is not None:
        return Media("document", _type_of(filename or url), url=url, filename=filename)
    if (file_id := _optional(part, "file_id")) is not None:
        return Media("document", file_id=file_id, filename=filename)
    raise BadRequest(f"{param} needs 'file_data', 'file_url' or 'file_id'.", param=param)


def _parse_audio(part: dict[str, Json], param: str) -> Media:
    """``input_audio``: ``{"input_audio": {"data", "format"}}``."""
    audio = part.get("input_audio")
    if not isinstance(audio, dict) or not isinstance(audio.get("data"), str):
        raise BadRequest(f"{param}.input_audio needs 'data' and 'format'.", param=f"{param}.input_audio")
    sound = _optional(audio, "format") or "wav"
    return Media("audio", "audio/mpeg" if sound == "mp3" else f"audio/{sound}", data=audio["data"])


def _type_of(filename: str | None) -> str:
    """The media type that a file's name tells; PDF is what the API itself assumes."""
    extension = (filename or "").rpartition(".")[2].lower()
    return _MEDIA_TYPES.get(extension, "application/pdf")


def parse_data_url(url: str, param: str) -> tuple[str, str] | None:
    """Media type and base64 text of a data URL, None for any other URL. Raises BadRequest for one without a comma."""
    if url[:5].lower() != "data:":
        return None
    head, comma, payload = url[5:].partition(",")
    if not comma:
        raise BadRequest(f"{param} is not a complete data URL.", param=param)
    media_type, *options = head.split(";")
    if "base64" not in (option.strip().lower() for option in options):
        payload = base64.b64encode(unquote_to_bytes(payload)).decode()
    return media_type or "text/plain", payload


def render_content(parts: Sequence[Part], role: Role, losses: Losses) -> list[Json]:
    """Parts as the content list of a message item; only Text, Media, Refusal and own Opaque parts are content."""
    kind = "output_text" if role == "assistant" else "input_text"
    content: list[Json] = []
    for part in parts:
        match part:
            case Text(text):
                content.append({"type": kind, "text": text})
            case Refusal(text):
                content.append({"type": "refusal", "refusal": text} if role == "assistant" else {"type": kind, "text": text})
            case Media() if role == "assistant":
                # An assistant's message item has room for output_text and refusal only.
                losses.drop("assistant_media")
            case Media():
                content.append(render_media(part, losses))
            case Opaque(vendor, _, raw) if vendor == VENDOR:
                content.append(raw)
            case Opaque(_, label, _):
                losses.drop(label)
    return content


def render_media(media: Media, losses: Losses) -> dict[str, Json]:
    """``input_image`` or ``input_file``. Raises UnsupportedFeature for sound, film and references that are not ours."""
    if media.kind in ("audio", "video"):
        raise UnsupportedFeature(f"The Responses API takes no {media.kind} input.", param="input")
    if media.file_id is not None and not losses.file_ids:
        raise UnsupportedFeature(
            "A file id of another provider means nothing to the Responses API; send the data.", param="input"
        )
    if media.url is not None and not media.url.lower().startswith(("http://", "https://")):
        raise UnsupportedFeature("The Responses API takes http(s) URLs only; send the data.", param="input")
    return _render_image(media) if media.kind == "image" else _render_file(media)


def _render_image(media: Media) -> dict[str, Json]:
    """``input_image``; its detail is required by the API's own types."""
    image: dict[str, Json] = {"type": "input_image", "detail": media.detail or "auto"}
    if media.file_id is not None:
        image["file_id"] = media.file_id
    elif media.url is not None:
        image["image_url"] = media.url
    else:
        image["image_url"] = f"data:{media.media_type or 'image/png'};base64,{media.data}"
    return image


def _render_file(media: Media) -> dict[str, Json]:
    """``input_file``; data needs a file name."""
    file: dict[str, Json] = {"type": "input_file"}
    if media.file_id is not None:
        return {**file, "file_id": media.file_id}
    if media.url is not None:
        return {**file, "file_url": media.url}
    media_type = media.media_type or "application/pdf"
    filename = media.filename or f"document.{_EXTENSIONS.get(media_type, 'bin')}"
    return {**file, "filename": filename, "file_data": f"data:{media_type};base64,{media.data}"}


_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


def parse_input(value: Json) -> list[Message]:
    """``input`` as messages: a string is one user message whose ``raw`` is that string. Raises BadRequest."""
    if value is None:
        return []
    if isinstance(value, str):
        return [Message("user", (Text(value),), raw=value, raw_vendor=VENDOR)]
    if not isinstance(value, list):
        raise BadRequest("input must be a string or a list of items.", param="input")
    return [_parse_item(item, number) for number, item in enumerate(value) if not declares_tools(item)]


def declares_tools(item: Json) -> bool:
    """Whether an item of the input is no part of the conversation, but tools that are there from now on."""
    return isinstance(item, dict) and item.get("type") == "additional_tools"


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
    if kind in ("function_call", "custom_tool_call"):
        return _of("assistant", _parse_call(item, param), item)
    if kind in ("function_call_output", "custom_tool_call_output"):
        return _of("tool", _parse_output(item, param), item)
    if (search := _parse_search(item)) is not None:
        return _of("assistant" if isinstance(search, ToolCall) else "tool", search, item)
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
    """``function_call`` or ``custom_tool_call``: ``call_id`` is the id that its output names."""
    for key in ("call_id", "name"):
        if not isinstance(item.get(key), str):
            raise BadRequest(f"{param}.{key} must be a string.", param=f"{param}.{key}")
    name = flat_name(item["name"], item.get("namespace"))
    if item["type"] == "custom_tool_call":
        return ToolCall(item["call_id"], name, free_text_arguments(_text(item, "input", param)))
    arguments = item.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        raise BadRequest(f"{param}.arguments must be JSON text.", param=f"{param}.arguments")
    return ToolCall(item["call_id"], name, whole_arguments(arguments or ""))


def _parse_search(item: dict[str, Json]) -> ToolCall | ToolResult | None:
    """A search for tools that the caller's program did, or what it found; None for any other item."""
    match item:
        case {"type": "tool_search_call", "execution": "client", "call_id": str(call_id)}:
            return ToolCall(call_id, SEARCH, dumps(item.get("arguments") or {}).decode())
        case {"type": "tool_search_output", "execution": "client", "call_id": str(call_id), "tools": list()}:
            names = ", ".join(call_names({"input": [item]}))
            return ToolResult(call_id, (Text(f"These tools can be called now: {names}" if names else "No tool was found."),))
    return None


def _parse_output(item: dict[str, Json], param: str) -> ToolResult:
    """``function_call_output`` or its like: its output is a string or a list of content parts."""
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
    """A reasoning item whose token this server marked: another vendor's, or one of another item; OpenAI would refuse it."""
    return isinstance(message.raw, dict) and is_marked(message.raw.get("encrypted_content"))


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
        case ToolCall(id, name, arguments) if name in losses.custom:
            call_id = short_id(id or "")
            losses.custom_calls.add(call_id)
            return {"type": "custom_tool_call", "call_id": call_id, "name": name, "input": free_text(arguments)}
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
        output = value_text(result.value)
    call_id = short_id(result.call_id or "")
    kind = "custom_tool_call_output" if call_id in losses.custom_calls else "function_call_output"
    return {"type": kind, "call_id": call_id, "output": output}
