"""JSON in one spelling: orjson in, orjson out.

``loads`` refuses what no vendor would read the same way: NaN, Infinity (orjson's own rules) and documents nested deeper than
``MAX_DEPTH``. Half a character (a lone surrogate, where somebody cut a text between the two) is read as U+FFFD. Whole numbers
beyond 64 bits come in as floats, for orjson keeps none of their digits; looking for them would cost half as much again as the
parsing.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from random import random
from typing import Any, NamedTuple, TypeAlias

import orjson

Json: TypeAlias = Any
"""Any JSON value: None, bool, int, float, str, list or dict with str keys."""

MAX_DEPTH = 100
MAX_OPENED = 250_000
"""Objects and lists in a text: more hold up everybody while they are made, and no model reads them."""
MAX_VALUES = 500_000
"""Values and names in the body of a request, outside of texts: some 30 megabytes of memory, and 50 ms in which the parser lets
nobody else work, in a thread or not."""
_AT_ONCE = 256 * 1024
_ENTRIES_APART = 1024 * 1024
"""Bytes of JSON whose entries are parsed apart. The parser lets no other thread work while it runs, so a lorebook of 100,000
entries held everybody up for 110 ms, and a chat of 20 megabytes for 100, in a thread or not."""


class _Parts(NamedTuple):
    """The many parts of a file that are parsed some at a time: the ``member`` that holds them, where it ``begins``, and the
    ways to the object that has it. ``between`` may stand between two of them, by what opens them; it also stands within some,
    and in texts."""

    member: str
    begins: re.Pattern[bytes]
    paths: tuple[tuple[str, ...], ...]
    between: Mapping[bytes, re.Pattern[bytes]]


_PARTS = (
    # A chat's floors are lists of lists, so that `},{` would stand within nearly all of them.
    _Parts(
        "floors",
        re.compile(rb'"floors"\s*:\s*(\[)'),
        ((), ("data",)),
        {b"[": re.compile(rb'\}\s*\]\s*\}\s*\]\s*\}\s*(,)\s*\{\s*"pages"')},
    ),
    # A lorebook's entries, in its own file and in that of a card.
    _Parts(
        "entries",
        re.compile(rb'"entries"\s*:\s*([{\[])'),
        ((), ("data",), ("character_book",), ("data", "character_book")),
        {b"{": re.compile(rb"\}\s*(,)\s*\""), b"[": re.compile(rb"\}\s*(,)\s*\{")},
    ),
)
_CLOSING = {b"{": b"}", b"[": b"]"}
_TRIES = 8
"""Places that turn out to be within an entry, beside one for each piece: each costs as much as a piece."""
_MOST_PIECES = 4
"""How many times as long as others a piece may become."""
_SPACES = 1024
"""Bytes of spaces and line ends among the brackets between two parts, at most."""
_ESCAPE = len(rb"\uXXXX")
_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_LONE = re.compile(rb"%b(?!%b)|(?<!%b)%b" % (_HIGH, _LOW, _HIGH, _LOW))
"""Half a character, where all backslashes begin escapes."""
_PAIR = re.compile(_HIGH + _LOW)
_SHORT = 1024
_LONG = 8 * 1024
_WIDE = 1000
_LOOKED_AT = 4 * 1024
_PIECE = 128
_OBJECT = 192
"""Bytes of an object or a list with a member or two; one without any takes 64."""
_USUAL = 16
"""Bytes of a usual conversation for each of its values, at least."""
_LITTLE = 64 * 1024
"""Bytes of memory that are not looked at more closely."""
_SOON = 8 * 1024
"""Bytes of JSON that make no long work, though it were nothing but brackets."""
_SAMPLED = 512 * 1024
"""Bytes of JSON of which a sample tells enough: they cannot hold as many values as are refused."""
_VALUE = 56
"""Bytes of a short text or a number, and of its place."""


class InvalidJson(ValueError):
    """The bytes are not JSON that we accept; the message says why and where."""


def loads(data: bytes | str) -> Json:
    """Parse JSON text. Raises ``InvalidJson`` with the parser's own position, or when nesting passes MAX_DEPTH or there are
    more than MAX_OPENED objects and lists."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > MAX_OPENED and raw.count(b"{") + raw.count(b"[") > MAX_OPENED and _opens_too_many(raw):
        raise InvalidJson(f"more than {MAX_OPENED} objects and lists")
    try:
        value = orjson.loads(raw) if len(raw) < _ENTRIES_APART else _parsed_in_pieces(raw)
    except orjson.JSONDecodeError as error:
        mended = _with_whole_characters(raw) if b"\\ud" in raw or b"\\uD" in raw else raw
        if mended == raw:
            raise InvalidJson(str(error)) from error
        return loads(mended)
    # The parser itself stops at 1,024 levels.
    if len(raw) > 2 * MAX_DEPTH and _is_too_deep(value, raw):
        raise InvalidJson(f"nested deeper than {MAX_DEPTH} levels")
    return value


def _parsed_in_pieces(raw: bytes) -> Json:
    """What the parser makes of JSON; where it holds a lorebook's entries or a chat's floors, piece by piece of them. Raises as
    the parser does. 20 megabytes of a chat took 100 to 300 ms at once, and take as long in pieces of one or two.

    No piece is taken on trust: where the first entry begins is known once all the rest is JSON with a text in place of the
    entries, and members that begin in a known place and are JSON by themselves end where they seem to, outside of texts.
    """
    for parts in _PARTS:
        begun = parts.begins.search(raw)
        found = None if begun is None else _entries_from(raw, begun.start(1), parts)
        whole = None if found is None else _put_back(raw, *found, parts)
        if whole is not None:
            return whole
    return orjson.loads(raw)


def _put_back(raw: bytes, start: int, entries: Json, end: int, parts: _Parts) -> Json:
    """The JSON around entries, with them in their place; None where that is none."""
    mark = f"entries {random()}"
    try:
        around = orjson.loads(b"%b%b%b" % (raw[:start], orjson.dumps(mark), raw[end:]))
    except orjson.JSONDecodeError:
        return None
    for path in parts.paths:
        holder = around
        for name in path:
            holder = holder.get(name) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and holder.get(parts.member) == mark:
            holder[parts.member] = entries
            return around
    return None


def _entries_from(raw: bytes, start: int, parts: _Parts) -> tuple[int, Json, int] | None:
    """The object or list that begins here, parsed in pieces: its place, what it holds, and where it ends. None where it is
    broken, or cannot be cut within a few tries."""
    opening = raw[start : start + 1]
    between, closing = parts.between[opening], _CLOSING[opening]
    entries: Json = {} if opening == b"{" else []
    add = entries.update if opening == b"{" else entries.extend
    at, cut, tries = start + 1, start + _AT_ONCE, len(raw) // _AT_ONCE + _TRIES
    while tries > 0:
        # No further than a piece may reach: a search lets nobody else work either, and takes 200 ms for 10 MB of braces.
        found = between.search(raw, cut, at + _MOST_PIECES * _AT_ONCE + _SPACES)
        until = len(raw) if found is None else found.start(1)
        if until - at > _MOST_PIECES * _AT_ONCE:
            return None
        try:
            piece = orjson.loads(b"%b%b%b" % (opening, raw[at:until], closing))
        except orjson.JSONDecodeError as error:
            if error.msg.startswith("unexpected content after"):  # the entries end within this piece
                end = at - 1 + len(error.doc[: error.pos].rstrip().encode())
                add(orjson.loads(opening + raw[at:end]))
                return start, entries, end
            piece = None
        if found is None:
            return None
        cut = found.end(1)
        if piece is None:
            tries -= 1
        else:
            add(piece)
            at, cut = cut, cut + _AT_ONCE
    return None


def _opens_too_many(raw: bytes) -> bool:
    """True when more than MAX_OPENED brackets open outside of texts: a prompt may quote as many as it likes."""
    opened = 0
    for outside in _outside_of_texts(raw):
        opened += outside.count(b"{") + outside.count(b"[")
        if opened > MAX_OPENED:
            return True
    return False


def _outside_of_texts(raw: bytes) -> Iterator[bytes]:
    """What stands in JSON outside of its texts; piece by piece, so that other threads get their turn."""
    is_text = False
    for piece in _pieces(raw):
        between = piece.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        yield b"".join(between[is_text::2])
        is_text ^= len(between) % 2 == 0


def _pieces(raw: bytes) -> Iterator[bytes]:
    """JSON in pieces, none of which ends within an escape or between the two halves of a character."""
    at = 0
    while at < len(raw):
        end = min(at + _AT_ONCE, len(raw))
        if end < len(raw):
            begun = raw.rfind(b"\\u", max(at, end - _ESCAPE), end)
            if _is_escape(raw, at, end - 1):
                end += _ESCAPE - 1 if raw[end : end + 1] == b"u" else 1
            elif begun >= 0 and begun + _ESCAPE > end and _is_escape(raw, at, begun):
                end = begun + _ESCAPE
            # A whole escape more does no harm where the one before it was none.
            if _PAIR.match(raw, max(at, end - _ESCAPE)):
                end += _ESCAPE
        yield raw[at:end]
        at = end


def _is_escape(raw: bytes, start: int, at: int) -> bool:
    """True when a backslash stands here and is itself not escaped; nothing is escaped at ``start``."""
    run = raw[start : at + 1]
    return (len(run) - len(run.rstrip(b"\\"))) % 2 == 1


def _with_whole_characters(raw: bytes) -> bytes:
    """JSON text with U+FFFD for every half of a character; as it is where it holds a control character, which no JSON does."""
    if b"\x01" in raw:
        return raw
    # Escaped backslashes out of the way, for they begin no escape; all of it in C, as a text may be one escape after another.
    pieces = (_LONE.sub(rb"\\ufffd", piece.replace(rb"\\", b"\x01\x01")) for piece in _pieces(raw))
    return b"".join([piece.replace(b"\x01\x01", rb"\\") for piece in pieces])


def _has_many_brackets(raw: bytes) -> bool:
    """True when more than MAX_DEPTH brackets open. ``find`` leaps from one to the next, where ``count`` looks at every byte;
    in a short text that is sooner done than the calls."""
    if len(raw) < _SHORT:
        return raw.count(b"{") + raw.count(b"[") > MAX_DEPTH
    opened = 0
    for bracket in (b"{", b"["):
        at = raw.find(bracket)
        while at >= 0:
            opened += 1
            if opened > MAX_DEPTH:
                return True
            at = raw.find(bracket, at + 1)
    return False


def _is_too_deep(value: Json, raw: bytes) -> bool:
    """True when lists and objects stand inside each other more than MAX_DEPTH times; level by level, without recursion.

    Few brackets cannot nest deep. Where the text is short they are sooner counted than the tree is walked; where it is
    long, as a conversation's, the tree is mostly small. A wide one is not walked before the brackets have been counted.
    """
    is_counted = len(raw) < _LONG
    if is_counted and not _has_many_brackets(raw):
        return False
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not is_counted and sum(map(len, level)) > _WIDE:
            if not _has_many_brackets(raw):
                return False
            is_counted = True
        level = [
            child
            for parent in level
            for child in (parent.values() if type(parent) is dict else parent)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def held_when_parsed(raw: bytes | bytearray) -> int:
    """About the bytes of memory that JSON takes once it is parsed, told from its text, and rather too many than too few."""
    opened, named = _sampled(raw)
    return len(raw) + _OBJECT * opened + _VALUE * named


def work_of(raw: bytes | bytearray) -> int:
    """About how long JSON is to whoever works on each of its values, in bytes of a usual conversation. Of a short text its own
    length: whatever it holds, it is soon done."""
    return len(raw) if len(raw) <= _SOON else max(len(raw), _USUAL * sum(_sampled(raw)))


def _sampled(raw: bytes | bytearray) -> tuple[int, int]:
    """About what ``_counts`` gives. Of a long text some pieces are looked at, at places that nobody can know before."""
    size = len(raw)
    if size <= _LOOKED_AT:
        return _counts(raw)
    starts = [int(random() * (size - _PIECE)) for _ in range(_LOOKED_AT // _PIECE)]
    opened, named = _counts(b"".join([raw[start : start + _PIECE] for start in starts]))
    return opened * size // _LOOKED_AT, named * size // _LOOKED_AT


def _counts(raw: bytes | bytearray) -> tuple[int, int]:
    """The objects and lists in a piece of JSON, and their members and names; those that its texts quote are counted too."""
    return raw.count(b"{") + raw.count(b"["), raw.count(b",") + raw.count(b":")


class Weight(NamedTuple):
    """What JSON holds: its objects and lists, and their members and names."""

    opened: int
    named: int

    @property
    def values(self) -> int:
        """All of them."""
        return self.opened + self.named

    @property
    def bytes(self) -> int:
        """About the memory that the values take, beside their characters."""
        return _OBJECT * self.opened + _VALUE * self.named


def weigh(raw: bytes, most: int = MAX_VALUES) -> Weight:
    """About what JSON holds; of a long one exactly, as ``count_values`` tells."""
    if len(raw) <= _SOON:
        # As a usual conversation: a thousand such bodies that are nothing but brackets take 200 MB, and to count each would
        # cost every request more than parsing it does.
        return Weight(0, len(raw) // _USUAL)
    if len(raw) > _SAMPLED:
        return count_values(raw, most)
    weight = Weight(*_sampled(raw))
    # A sample takes what a text quotes for values; so nobody is refused for one.
    return weight if weight.values <= len(raw) // 2 else count_values(raw, most)


def count_values(raw: bytes, most: int = MAX_VALUES) -> Weight:
    """What JSON holds, outside of its texts where it looks like much, and no further than to where it is more than ``most``
    values. Takes as long as parsing, but lets others work meanwhile."""
    weight = Weight(*_counts(raw))
    if weight.bytes <= max(len(raw) // 4, _LITTLE):
        return weight
    opened = named = 0
    for outside in _outside_of_texts(raw):
        objects, values = _counts(outside)
        opened += objects
        named += values
        if opened > MAX_OPENED or opened + named > most:
            break
    return Weight(opened, named)


def dumps(value: Json) -> bytes:
    """Write compact JSON bytes. Integers beyond 64 bits are written digit for digit by the slow way round."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return _dumps_slowly(value)


def dumps_text(value: Json) -> str:
    """Write compact JSON as text."""
    return dumps(value).decode()


def members(value: Any) -> dict[str, Json]:
    """The fields of a dataclass by their names, as they are. (``dataclasses.asdict`` copies all that is below them, too.)"""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def dumps_pretty(value: Json) -> bytes:
    """Write JSON for people: two spaces a level and a newline at the end."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _dumps_slowly(value: Json) -> bytes:
    """orjson refuses integers of more than 64 bits and lone surrogates (which arrive in header values, never in JSON)."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_members)
    return text.encode("utf-8", "replace")


def _members(value: object) -> dict[str, Json]:
    """A dataclass as an object, as orjson writes it. Raises TypeError for what is no JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} is not JSON")
