"""All parts of a stored message: what they look like as JSON, and where their media stand.

    {"type": "text", "text"}            {"type": "thinking", "text", "signature", "redacted", "signed_by"}
    {"type": "refusal", "text"}         {"type": "tool_call", "id", "name", "arguments", "signature", "signed_by"}
    {"type": "image" | "document" | "audio" | "video", "media_type", "filename", "detail", "url" | "file_id" | "blob", "size"}
    {"type": "tool_result", "call_id", "name", "content": [parts], "is_error", "value"}
    {"type": "opaque", "vendor", "label", "raw"}

Members that say nothing are left out. A message of one text has no such list: its content is all there is. Data of media stand
in the table ``blobs`` under their SHA-256, so that an image is kept once however often it is sent.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from itertools import takewhile
from typing import Any, get_args

from sqlalchemy import Connection, delete, exists, select

from agentui.chat.messages import Media, MediaKind, Message, Opaque, Part, Refusal, Text, Thinking, ToolCall, ToolResult
from agentui.chats.codes import failure
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.prepared import INSERT, Prepared, named
from agentui.store.tables import asset_versions, blobs, message_blobs

_CLASSES: Mapping[str, type[Any]] = {
    "text": Text,
    "thinking": Thinking,
    "refusal": Refusal,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "opaque": Opaque,
    **dict.fromkeys(get_args(MediaKind), Media),
}
_NAMES: Mapping[type[Any], str] = {kind: name for name, kind in _CLASSES.items()}


@dataclass(frozen=True, slots=True)
class Content:
    """What a message holds, as it is written: its text, and its parts where the text is not all. ``blobs`` are the media's data
    by their hash. ``sent`` is the text as a client has it, where another one is kept: the message is found by both."""

    text: str
    parts_json: str | None = None
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    sent: str | None = None


async def content_of(text: str, parts: Sequence[Part], redact: Callable[[str], str] = str) -> Content:
    """The content of a message with this text and these parts; ``redact`` takes secrets out of the words. Media are decoded and
    hashed in a thread: that takes some 5 ms for a megabyte."""
    if not parts or (len(parts) == 1 and isinstance(parts[0], Text)):
        return Content(text)
    return await asyncio.to_thread(_packed, text, parts, redact) if _has_media(parts) else _packed(text, parts, redact)


def input_parts(messages: Sequence[Message]) -> tuple[Part, ...]:
    """What is new in a conversation: the parts of everything that came behind the model's last words (tools' results, and what
    the user says), but for the system's."""
    new = list(takewhile(lambda message: message.role != "assistant", reversed(messages)))
    return tuple(part for message in reversed(new) if message.role != "system" for part in message.parts)


def with_text(parts: Sequence[Mapping[str, Json]], text: str) -> str:
    """The parts of a message, written, whose text is replaced: the new one stands where the first text stood."""
    place = next((number for number, part in enumerate(parts) if part["type"] == "text"), 0)
    before, behind = ([part for part in some if part["type"] != "text"] for some in (parts[:place], parts[place:]))
    return dumps_text([*before, {"type": "text", "text": text}, *behind])


def read_parts(db: Connection, account: str, text: str, parts_json: str | None) -> tuple[Part, ...]:
    """The parts of a stored message as they came, media with their data."""
    if parts_json is None:
        return (Text(text),)
    written = loads(parts_json)
    hashes = {part["blob"] for part in _every(written) if "blob" in part}
    query = select(blobs.c.hash, blobs.c.data).where(blobs.c.account_id == account, blobs.c.hash.in_(hashes))
    data = {row.hash: bytes(row.data) for row in db.execute(query)} if hashes else {}
    return tuple(_read(part, data) for part in written)


def read_blob(db: Connection, account: str, message_id: str, hash: str) -> bytes:
    """The data of one of a message's media. Raises 404."""
    query = (
        select(blobs.c.data)
        .join(message_blobs, (message_blobs.c.account_id == blobs.c.account_id) & (message_blobs.c.hash == blobs.c.hash))
        .where(blobs.c.account_id == account, blobs.c.hash == hash, message_blobs.c.message_id == message_id)
    )
    data = db.execute(query).scalar_one_or_none()
    if data is None:
        raise failure("not_found", "The message has no such data.", message_id=message_id, hash=hash)
    return bytes(data)


def keep_blobs(db: Connection, account: str, message_id: str, data: Mapping[str, bytes], now: int) -> None:
    """Write a message's media, each content once. A blob that is there already is marked as used, which keeps it from being
    tidied away in the same moment."""
    for hash, content in sorted(data.items()):
        keep_blob(db, account, hash, content, now)
        _NEED.run(db, {"message_id": message_id, "hash": hash, "account_id": account})


def keep_blob(db: Connection, account: str, hash: str, content: bytes, now: int) -> None:
    """Write a blob, unless it is there; its hash is the SHA-256 of the content."""
    _KEEP.run(db, {"account_id": account, "hash": hash, "data": content, "used_at": now})


_KEEP = Prepared(
    {
        engine: (made := insert(blobs).values(named(blobs, "account_id", "hash", "data", "used_at"))).on_conflict_do_update(
            index_elements=["account_id", "hash"], set_={"used_at": made.excluded.used_at}
        )
        for engine, insert in INSERT.items()
    }
)
_NEED = Prepared(
    {
        engine: insert(message_blobs).values(named(message_blobs, "message_id", "hash", "account_id")).on_conflict_do_nothing()
        for engine, insert in INSERT.items()
    }
)


def tidy_blobs(db: Connection, now: int, age: int) -> int:
    """Remove the blobs that no message and no version of an asset needs, and that none was given for ``age``
    milliseconds; returns how many. Looks at every account."""
    bound = (
        select(asset_versions.c.id).where(asset_versions.c.account_id == blobs.c.account_id, column == blobs.c.hash)
        for column in (asset_versions.c.image, asset_versions.c.files)
    )
    needed = select(message_blobs.c.hash).where(
        message_blobs.c.account_id == blobs.c.account_id, message_blobs.c.hash == blobs.c.hash
    )
    unneeded = (~exists(each) for each in (needed, *bound))
    return db.execute(delete(blobs).where(blobs.c.used_at < now - age, *unneeded)).rowcount


def _has_media(parts: Sequence[Part]) -> bool:
    return any(
        (isinstance(part, Media) and part.data is not None) or (isinstance(part, ToolResult) and _has_media(part.content))
        for part in parts
    )


def _packed(text: str, parts: Sequence[Part], redact: Callable[[str], str]) -> Content:
    data: dict[str, bytes] = {}
    return Content(text, dumps_text([_written(part, data, redact) for part in parts]), data)


_EXACT = frozenset({"signature", "redacted", "signed_by", "vendor", "label"})
"""Members that are of no use unless every character stays."""


def _written(part: Part, data: dict[str, bytes], redact: Callable[[str], str]) -> dict[str, Json]:
    """A part as JSON; what it brings along goes into ``data``."""
    name = part.kind if isinstance(part, Media) else _NAMES[type(part)]
    written: dict[str, Json] = {"type": name}
    for each in fields(part):
        value = getattr(part, each.name)
        # What is cited stands in ``raw`` already, in the words of the dialect that it came in.
        if value is None or value is False or each.name in ("kind", "cited"):
            continue
        if each.name == "content":
            value = [_written(inner, data, redact) for inner in value]
        if each.name == "data" and isinstance(part, Media):
            content, is_base64 = _decoded(value)
            hash = sha256(content).hexdigest()
            data[hash] = content
            written |= {"blob": hash, "size": len(content)} if is_base64 else {"blob": hash, "size": len(content), "as": "text"}
            continue
        written[each.name] = value if each.name in _EXACT or each.name == "content" else _redacted(value, redact)
    return written


def _redacted(value: Json, redact: Callable[[str], str]) -> Json:
    """JSON whose texts are redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {name: _redacted(inner, redact) for name, inner in value.items()}
    return [_redacted(inner, redact) for inner in value] if isinstance(value, list | tuple) else value


def _decoded(text: str) -> tuple[bytes, bool]:
    """The bytes behind standard base64; the text itself where encoding them again would not give it back."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "surrogatepass"), False
    if base64.b64encode(content).decode() != text:
        return text.encode(), False
    return content, True


def _read(written: Mapping[str, Json], data: Mapping[str, bytes]) -> Any:
    """The part that was written so. One whose data is gone has empty data."""
    kind = _CLASSES[written["type"]]
    known = {each.name for each in fields(kind)}
    values = {name: value for name, value in written.items() if name in known}
    if kind is Media:
        values["kind"] = written["type"]
        if "blob" in written:
            content = data.get(written["blob"], b"")
            is_text = written.get("as") == "text"
            values["data"] = content.decode("utf-8", "surrogatepass") if is_text else base64.b64encode(content).decode()
    if kind is ToolResult:
        values["content"] = tuple(_read(part, data) for part in written.get("content", ()))
    # Left out because they say nothing; their classes have no default for them.
    unsaid: dict[str, Json] = {name: None for name in ("call_id", "id", "raw") if name in known}
    return kind(**{**unsaid, **values})


def _every(written: Sequence[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """The parts, and those inside tools' results."""
    return [inner for part in written for inner in (part, *part.get("content", ()))]
