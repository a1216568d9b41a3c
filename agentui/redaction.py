"""Secrets taken out of texts: by value wherever they are known, by pattern where they are only recognisable.

Every secret that a request carries, or that a node looks up, is registered with a ``Redactor``; every text that leaves for a
log, a trace, an event or an error message goes through it.
"""

import base64
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from agentui.jsonio import Json

SHORTEST = 8
"""Shorter values are not registered: they would black out ordinary words."""
LONGEST = 16 * 1024
LONGEST_MADE = 1024
"""Characters of a text that is remembered because it was made of a key; every form of it is kept, too."""
MOST = 1000
MOST_CHARACTERS = 512 * 1024
"""Characters of all secrets that one redactor knows: every form of each is made, while everybody waits."""
LONGEST_TORN = 256
"""Characters of a secret that are put together again where a text comes in pieces."""
_MANY = 200
"""Forms of secrets from which on a text longer than ``_LONG``, and every text of a JSON value, is looked through once for all
of them, not once for each."""
_LONG = 16 * 1024
_STRETCH = 64 * 1024
"""Characters that are looked through in one go, so that other threads get their turn."""
_TELLING = 16
"""From this length on the last four characters are shown, so that people can tell their keys apart."""

_KEY_HEADER = re.compile(
    r"(?:.*-)?(?:authorization|cookie|api-?key|subscription-key|client-key|token|secret|password)", re.IGNORECASE
)
_LONGEST_NAME = 64
_KEY_MEMBER = re.compile(
    r"(?:.*[_-])?(?:authorization(?:[_-]?token)?|api[_-]?key|access[_-]?token|auth[_-]?token|secret|password)", re.IGNORECASE
)
_SCHEMES = re.compile(r"(?:Bearer|Basic|Token)\s+(\S.*)", re.IGNORECASE | re.DOTALL)

_QUERY_NAMES = frozenset({"key", "api_key", "access_token", "token", "signature"})
_QUERY_NAME = re.compile(r"(?<=[?&;])[^?&;=#\s\"'<>\\]{1,64}(?==)")
_QUERY_VALUE = re.compile(r"=[^&;#\s\"'<>\\]+")
_USERINFO = re.compile(r"(://)[^/?#\s\"'@]+@")
_WRITTEN_USER = re.compile(r"://([^/?#\s\"'@]+)@")
_WRITTEN_QUERY = re.compile(r"(?<=[?&;])([^?&;=#\s\"'<>\\]{1,64})=([^&;#\s\"'<>\\]+)")
_WRITTEN_MEMBER = re.compile(r'"([\w-]{1,64})"\s*:\s*"((?:[^"\\]|\\.)*)"')
_WRITTEN_CREDENTIAL = re.compile(r"(?:Bearer|Basic|Token)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
"""Prose may begin with these words, too."""
_HEADER_LINE = re.compile(
    r"(\b(?:proxy-authorization|authorization|x-api-key|x-goog-api-key|api-key|set-cookie|cookie)\b[\"']?\s*[:=,]\s*(?:b?[\"'])?)"
    r"[^\r\n\"'\\]+",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(\bBearer\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)


class Redactor:
    """Knows secrets by value and replaces them in texts, in every form in which they are likely to appear.

    A ``child`` knows its parent's secrets and its own: one process-wide redactor, one child per request. Several threads
    may use it: none sees a text go by while another is about to learn what is secret in it.
    """

    def __init__(self, parent: "Redactor | None" = None) -> None:
        self._parent = parent
        self._values: dict[str, None] = {}
        self._size = 0
        self._unread: list[Callable[[], Iterable[str]]] = []
        self._forms: dict[str, str] | None = {}
        self._finder: _Finder | None = None
        self._starts: dict[str, list[str]] | None = None
        self._lock = threading.RLock()

    def child(self) -> "Redactor":
        """A redactor for one request's secrets on top of these."""
        return Redactor(self)

    def register(self, *values: str) -> None:
        """Remember secrets; those of fewer than 8 characters are let go. At most 1000 of them and half a million
        characters are kept, the newest ones."""
        with self._lock:
            for value in values:
                if not SHORTEST <= len(value) <= LONGEST or value in self._values:
                    continue
                while len(self._values) >= MOST or self._size + len(value) > MOST_CHARACTERS:
                    oldest = next(iter(self._values))
                    del self._values[oldest]
                    self._size -= len(oldest)
                self._values[value] = None
                self._size += len(value)
                self._forms = self._starts = self._finder = None

    def register_headers(self, headers: Mapping[str, str]) -> None:
        """Remember what these headers hold of credentials. They are looked through when a text is redacted for the first
        time after this, which most requests never need; they must not change until then."""
        self.register_later(partial(secret_headers, headers))

    def register_later(self, read: Callable[[], Iterable[str]]) -> None:
        """Remember the secrets that ``read`` gives, which is asked when a text is redacted for the first time after this."""
        with self._lock:
            self._unread.append(read)

    def register_made(self, made: str, given: str, make: Callable[[str], str]) -> None:
        """Remember what ``make`` has made of a given text, such as a key in capitals, where that text holds a secret.

        What is too long to be remembered is not, but what ``make`` makes of the secret alone.
        """
        found = self._found_in(given)
        if found and len(made) > LONGEST_MADE:
            self.register(*map(make, found))
        elif found:
            self.register(*_with_and_without_scheme(made.strip()))

    def _found_in(self, text: str) -> list[str]:
        """The secrets that stand in the text, as they stand there."""
        above = [] if self._parent is None else self._parent._found_in(text)
        return [*above, *filter(text.__contains__, self._known())]

    def redact(self, text: str) -> str:
        """The text with every known secret replaced by ``***`` and, for long ones, the last four characters."""
        if len(text) < SHORTEST:
            return text  # a piece of a stream, most often: no form of a secret is as short
        known = self._known()
        if len(known) > _MANY and (len(text) > _LONG or self._finder is not None):
            text = self._known_finder().replaced(text)
        else:
            # Looked for in C: nearly no text holds any of the dozens of forms.
            for form in filter(text.__contains__, known):
                text = text.replace(form, known[form])
        return text if self._parent is None else self._parent.redact(text)

    def redact_json(self, value: Json) -> Json:
        """A copy of the JSON value with every known secret replaced in its texts and names."""
        if not isinstance(value, str) and len(self._known()) > _MANY:
            self._known_finder()  # it takes about as long to make as one look for each form
        match value:
            case str():
                return self.redact(value)
            case Mapping():
                return {self.redact(name): self.redact_json(inner) for name, inner in value.items()}
            case list() | tuple():
                return [self.redact_json(inner) for inner in value]
        return value

    def unfinished(self, text: str) -> int:
        """How many of the last characters may be the beginning of a secret whose rest is still to come."""
        starts = self._known_starts()
        held = 0 if self._parent is None else self._parent.unfinished(text)
        tail = text[-LONGEST_TORN:]
        size = len(tail)
        for first, values in starts.items():
            at = tail.find(first)
            while 0 <= at < size - held:
                if any(len(value) > size - at and value.startswith(tail[at:]) for value in values):
                    held = size - at
                at = tail.find(first, at + 1)
        return held

    def _read_noted(self) -> None:
        """Register what was only noted so far, under the lock."""
        if self._unread:
            unread, self._unread = self._unread, []
            for read in unread:
                self.register(*read())

    def _known(self) -> dict[str, str]:
        """Every form of every secret with its mask, the longest form first: one secret may be part of another."""
        with self._lock:
            self._read_noted()
            if self._forms is None:
                masks: dict[str, str] = {}
                for value in self._values:
                    masks |= _masks(value)
                longest_first = sorted(masks, key=len, reverse=True)
                self._forms = dict(zip(longest_first, map(masks.__getitem__, longest_first), strict=True))
            return self._forms

    def _known_finder(self) -> "_Finder":
        """What finds every form of every secret in one pass."""
        with self._lock:
            if self._finder is None:
                self._finder = _Finder(self._known())
            return self._finder

    def _known_starts(self) -> dict[str, list[str]]:
        """The secrets by their first character."""
        with self._lock:
            self._read_noted()
            if self._starts is None:
                self._starts = {}
                for value in self._values:
                    self._starts.setdefault(value[0], []).append(value)
            return self._starts


class _Finder:
    """Finds forms of secrets in one pass of a text: only where one may begin by its first characters is the text compared with
    those that begin so. ``known`` are the forms with their masks, the longest first."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._by_start: dict[str, list[tuple[str, str]]] = {}
        for form, mask in known.items():
            self._by_start.setdefault(form[:SHORTEST], []).append((form, mask))
        places = ("".join(map(re.escape, sorted({start[place] for start in self._by_start}))) for place in range(SHORTEST))
        self._may_begin = re.compile(f"(?={''.join(f'[{characters}]' for characters in places)})")

    def replaced(self, text: str) -> str:
        """The text with every form replaced by its mask."""
        pieces: list[str] = []
        done = 0
        for begin in range(0, len(text), _STRETCH):
            for found in self._may_begin.finditer(text, begin, min(begin + _STRETCH + SHORTEST - 1, len(text))):
                at = found.start()
                for form, mask in self._by_start.get(text[at : at + SHORTEST], ()) if at >= done else ():
                    if text.startswith(form, at):
                        pieces += (text[done:at], mask)
                        done = at + len(form)
                        break
        return "".join((*pieces, text[done:])) if pieces else text


def mask_credentials(text: str) -> str:
    """The text with header lines, bearer tokens, query values and user names in URLs masked by their look."""
    return mask_url(_BEARER.sub(r"\1***", _HEADER_LINE.sub(r"\1***", text)))


def mask_url(url: str) -> str:
    """The URL (or any text with URLs) without the values of ``key``, ``api_key``, ``access_token``, ``token`` and
    ``signature`` in its query, and without user and password."""
    url = _USERINFO.sub(r"\1***@", url)
    pieces: list[str] = []
    done = 0
    for name in _QUERY_NAME.finditer(url):
        # A value may hold an address with a query of its own, so only a key's is passed over.
        if name.start() >= done and is_key_parameter(unquote(name[0])):
            value = _QUERY_VALUE.match(url, name.end())
            if value is not None:
                pieces += (url[done : name.end()], "=***")
                done = value.end()
    return "".join((*pieces, url[done:]))


def secret_headers(headers: Mapping[str, str]) -> list[str]:
    """The values in a header mapping that are worth registering, with and without ``Bearer``; cookies one by one."""
    found: list[str] = []
    for name, value in headers.items():
        if not is_key_header(name):
            continue
        found += _with_and_without_scheme(value.strip())
        if name.lower() == "cookie":
            found.extend(part.partition("=")[2].strip() for part in value.split(";"))
    return [value for value in found if value]


def provider_keys(headers: Mapping[str, str]) -> list[str]:
    """The values of the headers in which a caller shows its key: what tells callers apart."""
    return [headers[name] for name in sorted(headers) if is_key_header(name) and name != "cookie"]


def secret_parameters(query: str) -> list[str]:
    """The values in a query that are worth registering."""
    return [value for name, value in parse_qsl(query) if is_key_parameter(name)]


def secret_members(body: Json) -> Iterator[str]:
    """The texts in a body whose names say that they are keys (``api_key``, ``authorization_token``), with and without
    ``Bearer``."""
    waiting = [body]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            for name, value in item.items():
                if not isinstance(value, str):
                    waiting.append(value)
                elif len(name) <= _LONGEST_NAME and _is_key_member(name):
                    yield from _with_and_without_scheme(value.strip())


def written_keys(document: Json) -> Iterator[str]:
    """The keys that somebody wrote into a document instead of a macro that names a stored one: texts that begin like a
    credential, or whose name says that they are one (a member's, a header's, or that of ``{"name": ..., "value": ...}``), also
    within texts that are JSON, and the keys and passwords of addresses."""
    waiting = [document]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            for name, value in item.items():
                if isinstance(value, str):
                    yield from _written(name, value)
                else:
                    waiting.append(value)
            if isinstance(named := item.get("name"), str) and isinstance(value := item.get("value"), str):
                yield from _written(named, value)
        elif isinstance(item, str):
            yield from _written("", item)


def without_written_keys(document: Json) -> Any:
    """The document, of the same shape, with those keys masked wherever they stand in it."""
    redactor = Redactor()
    redactor.register(*written_keys(document))
    return redactor.redact_json(document)


def _written(name: str, value: str) -> Iterator[str]:
    is_named = len(name) <= _LONGEST_NAME and (is_key_header(name) or _is_key_member(name))
    found = []
    if is_named or _WRITTEN_CREDENTIAL.fullmatch(value.strip()):
        found += _with_and_without_scheme(value.strip())
    if "://" in value:
        found += [match[1] for match in _WRITTEN_USER.finditer(value)]
        found += [match[2] for match in _WRITTEN_QUERY.finditer(value) if is_key_parameter(unquote(match[1]))]
    yield from (key for key in found if "[[" not in key and "{{" not in key)
    if '"' in value:
        # Headers may be one text of JSON, with macros in it.
        for match in _WRITTEN_MEMBER.finditer(value):
            yield from _written(match[1], match[2])


@lru_cache(maxsize=512)  # a dialect has few names, and asks for them in every message
def _is_key_member(name: str) -> bool:
    return _KEY_MEMBER.fullmatch(name) is not None


@lru_cache(maxsize=512)  # callers send the same ones with every request
def is_key_header(name: str) -> bool:
    """Whether a header of this name holds a key, a token or cookies."""
    return _KEY_HEADER.fullmatch(name) is not None


def is_key_parameter(name: str) -> bool:
    """Whether a parameter of a query that is called so holds a key."""
    return name.lower() in _QUERY_NAMES


def _with_and_without_scheme(value: str) -> list[str]:
    """A credential, and what stands behind its ``Bearer`` where it begins so."""
    match = _SCHEMES.fullmatch(value)
    return [value, match[1]] if match else [value]


def _mask(value: str) -> str:
    """What stands in for a secret."""
    return f"***{value[-4:]}" if len(value) >= _TELLING else "***"


@lru_cache(maxsize=256)  # of callers and providers, who come with the same keys again and again
def _masks(value: str) -> Mapping[str, str]:
    """Every form of a secret with what stands in for it."""
    return dict.fromkeys(_forms(value), _mask(value))


def _forms(value: str) -> tuple[str, ...]:
    """The secret as itself, in hosts (small letters), in URLs, in JSON, in hex and in base64 (also as part of a longer encoded
    text)."""
    raw = value.encode("utf-8", "surrogatepass")
    quoted = [quote(raw, safe=safe) for safe in ("", "/", "/:+~")]
    forms = {value, value.lower(), raw.hex(), raw.hex().upper(), *quoted}
    forms.update(re.sub("%..", lambda found: found[0].lower(), text) for text in quoted)
    forms.update(json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
    for text in _base64_cores(raw):
        forms.update((text, text.replace("+", "-").replace("/", "_")))
    return tuple(forms)


def _base64_cores(raw: bytes) -> Iterable[str]:
    """The characters that base64 always gives for these bytes, for each of the three places where they may begin.

    Characters that also depend on the neighbours are left out.
    """
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode()
        start = (offset * 8 + 5) // 6
        whole = (offset + len(raw)) * 8 // 6
        yield encoded[start:whole]
