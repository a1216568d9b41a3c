"""The macro context: every name of seed 003 part 1, built from the caller's request.

    model · vendor_format · system · params.{temperature,max_tokens,top_p,stop} · chat.{last_user,messages}
    incoming.{method,url,path,query,query_params,query_lists,headers,json,api_key,api_keys.{authorization,key}}

Values are computed when a template first asks for them, so a request that nobody looks into costs nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl

from agentui.chat.messages import Media, Message, Part, Text, ToolCall, ToolResult
from agentui.chat.request import ChatRequest
from agentui.errors import BadRequest
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.incoming import Incoming
from agentui.redaction import mask_url

CONTEXT_NAMES = ("model", "vendor_format", "system", "params", "chat", "incoming")
"""The names of the context; the editor completes them and docs/templates.md lists them."""
HIDEABLE_NAMES = frozenset(CONTEXT_NAMES) - {"incoming"}
"""Those that a variable may have, too, and then hides."""


class MacroContext(Mapping[str, Json]):
    """The context of one request (seed 003 part 1): a read-only mapping whose values are made on first use."""

    def __init__(self, incoming: Incoming) -> None:
        self._incoming = incoming
        self._made: dict[str, Json] = {}

    def __getitem__(self, name: str) -> Json:
        if name not in self._made:
            self._made[name] = _MAKERS[name](self._incoming)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(CONTEXT_NAMES)

    def __len__(self) -> int:
        return len(CONTEXT_NAMES)

    def __contains__(self, name: object) -> bool:
        return name in CONTEXT_NAMES


_DEFAULT_PARAMS: dict[str, Json] = {"temperature": 0.7, "max_tokens": None, "top_p": 1.0, "stop": None}


def _chat_or_none(incoming: Incoming, read: Callable[[ChatRequest], Json], empty: Json) -> Json:
    """Something of the conversation, or ``empty`` where the request holds none (embeddings, an unknown dialect)."""
    try:
        return read(incoming.chat)
    except BadRequest:
        # A conversation we cannot read may still be one that the same vendor can: only a template that needs it goes
        # without, and the answering node reports what is wrong with it.
        return empty


def _params(chat: ChatRequest) -> Json:
    params = chat.params
    return {
        "temperature": 0.7 if params.temperature is None else params.temperature,
        "max_tokens": params.max_tokens,
        "top_p": 1.0 if params.top_p is None else params.top_p,
        "stop": None if params.stop is None else list(params.stop),
    }


def _chat(chat: ChatRequest) -> Json:
    return {"last_user": chat.last_user, "messages": [one for message in chat.messages for one in unified_messages(message)]}


def unified_messages(message: Message) -> list[Json]:
    """A message in the unified form: role, content, and name, tool_call_id, tool_calls where there are some.

    ``content`` is text; where there are pictures or files it is a list of OpenAI's parts instead. Claude and Gemini put the
    results of several tools, and what the user says to them, into one message: each result becomes one of its own.
    """
    if (words := message.lone_text) is not None:
        return [{"role": message.role, "content": words}]
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    unified = [_unified_result(result, message.name) for result in results]
    others = tuple(part for part in message.parts if not isinstance(part, ToolResult))
    if not results or any(isinstance(part, (Text, Media, ToolCall)) for part in others):
        unified.append(_unified_turn(replace(message, parts=others)))
    return unified


def _unified_result(result: ToolResult, name: str | None) -> Json:
    """A tool's result as a message."""
    value = "" if result.value is None else result.value
    words = result.text or (value if isinstance(value, str) else dumps_text(value))
    unified: dict[str, Json] = {"role": "tool", "content": _content(words, result.content)}
    if name or result.name:
        unified["name"] = name or result.name
    if result.call_id:
        unified["tool_call_id"] = result.call_id
    return unified


def _unified_turn(message: Message) -> Json:
    """A message without results."""
    role = "user" if message.role == "tool" else message.role
    unified: dict[str, Json] = {"role": role, "content": _content(message.text, message.parts)}
    if message.name:
        unified["name"] = message.name
    if message.tool_calls:
        unified["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return unified


def _content(words: str, parts: Sequence[Part]) -> Json:
    """The words, or a list of OpenAI's parts where there are pictures or files."""
    media = [part for part in parts if isinstance(part, Media)]
    if not media:
        return words
    texts: list[Json] = [{"type": "text", "text": part.text} for part in parts if isinstance(part, Text)]
    return texts + [_media_part(part) for part in media]


def _media_part(media: Media) -> Json:
    """A picture or file in OpenAI's spelling."""
    url = media.url or (f"data:{media.media_type or 'application/octet-stream'};base64,{media.data}" if media.data else "")
    if media.kind == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": media.filename or media.kind, "file_data": url}}


def _incoming(incoming: Incoming) -> Json:
    return {
        "method": incoming.method,
        "url": mask_url(incoming.url),
        "path": incoming.path,
        "query": incoming.query,
        "query_params": dict(incoming.query_params),
        "query_lists": _query_lists(incoming.query),
        "headers": dict(incoming.headers),
        "json": incoming.json,
        "api_key": incoming.api_key,
        "api_keys": {
            "authorization": incoming.headers.get("authorization"),
            "key": incoming.query_params.get("key"),
        },
    }


def _query_lists(query: str) -> dict[str, list[str]]:
    """All values of each name in a query, in their order."""
    lists: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        lists.setdefault(name, []).append(value)
    return lists


_MAKERS: Mapping[str, Callable[[Incoming], Json]] = {
    "model": lambda incoming: incoming.model,
    "vendor_format": lambda incoming: incoming.vendor or "unknown",
    "system": lambda incoming: _chat_or_none(incoming, lambda chat: chat.system, ""),
    "params": lambda incoming: _chat_or_none(incoming, _params, _DEFAULT_PARAMS),
    "chat": lambda incoming: _chat_or_none(incoming, _chat, {"last_user": "", "messages": []}),
    "incoming": _incoming,
}


def context_paths() -> list[str]:
    """The dotted paths of an empty request's context."""
    empty = Incoming("POST", "", "", "", {}, {}, b"", None, None, None, {})
    return sorted(_paths(MacroContext(empty)))


def context_members() -> dict[str, frozenset[str]]:
    """The members of the names of the context that have some: ``chat`` has ``last_user`` and ``messages``."""
    members: dict[str, set[str]] = {}
    for path in context_paths():
        name, dot, rest = path.partition(".")
        if dot:
            members.setdefault(name, set()).add(rest.partition(".")[0])
    return {name: frozenset(known) for name, known in members.items()}


def _paths(value: Mapping[str, Json], prefix: str = "") -> Iterator[str]:
    for name, item in value.items():
        yield prefix + name
        if isinstance(item, Mapping):
            yield from _paths(item, f"{prefix}{name}.")
