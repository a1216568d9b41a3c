"""Secrets taken out of texts: by value wherever they are known, by pattern where they are only recognisable.

Every secret that a request carries, or that a node looks up, is registered with a ``Redactor``; every text that leaves for a
log, a trace, an event or an error message goes through it.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote

SHORTEST = 8
"""Shorter values are not registered: they would black out ordinary words."""
LONGEST = 16 * 1024
MOST = 1000
LONGEST_TORN = 256
"""Characters of a secret that are put together again where a text comes in pieces."""
_TELLING = 16
"""From this length on the last four characters are shown, so that people can tell their keys apart."""

_SECRET_HEADERS = frozenset({"api-key", "authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key"})
_SCHEMES = re.compile(r"(?:Bearer|Basic|Token)\s+(.+)", re.IGNORECASE)

_QUERY_NAMES = "key|api_key|access_token|token|signature"
_QUERY = re.compile(rf"([?&;](?:{_QUERY_NAMES})=)[^&;#\s\"'<>\\]+", re.IGNORECASE)
_USERINFO = re.compile(r"(://)[^/?#\s\"'@]+@")
_HEADER_LINE = re.compile(
    r"(\b(?:proxy-authorization|authorization|x-api-key|x-goog-api-key|api-key|set-cookie|cookie)\b[\"']?\s*[:=,]\s*(?:b?[\"'])?)"
    r"[^\r\n\"'\\]+",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(\bBearer\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)


class Redactor:
    """Knows secrets by value and replaces them in texts, in every form in which they are likely to appear.

    A ``child`` knows its parent's secrets and its own: one process-wide redactor, one child per request.
    """

    def __init__(self, parent: "Redactor | None" = None) -> None:
        self._parent = parent
        self._values: dict[str, None] = {}
        self._unread: list[Mapping[str, str]] = []
        self._forms: list[tuple[str, str]] | None = []
        self._starts: dict[str, list[str]] | None = None

    def child(self) -> "Redactor":
        """A redactor for one request's secrets on top of these."""
        return Redactor(self)

    def register(self, *values: str) -> None:
        """Remember secrets; those of fewer than 8 characters are let go. At most 1000 are kept, the newest ones."""
        for value in values:
            if not SHORTEST <= len(value) <= LONGEST or value in self._values:
                continue
            if len(self._values) >= MOST:
                del self._values[next(iter(self._values))]
            self._values[value] = None
            self._forms = self._starts = None

    def register_headers(self, headers: Mapping[str, str]) -> None:
        """Remember what these headers hold of credentials. They are looked through when a text is redacted for the first
        time after this, which most requests never need; they must not change until then."""
        self._unread.append(headers)

    def redact(self, text: str) -> str:
        """The text with every known secret replaced by ``***`` and, for long ones, the last four characters."""
        for form, mask in self._known():
            if form in text:
                text = text.replace(form, mask)
        return text if self._parent is None else self._parent.redact(text)

    def unfinished(self, text: str) -> int:
        """How many of the last characters may be the beginning of a secret whose rest is still to come."""
        self._read_headers()
        if self._starts is None:
            self._starts = {}
            for value in self._values:
                self._starts.setdefault(value[0], []).append(value)
        held = 0 if self._parent is None else self._parent.unfinished(text)
        tail = text[-LONGEST_TORN:]
        size = len(tail)
        for first, values in self._starts.items():
            at = tail.find(first)
            while 0 <= at < size - held:
                if any(len(value) > size - at and value.startswith(tail[at:]) for value in values):
                    held = size - at
                at = tail.find(first, at + 1)
        return held

    def _read_headers(self) -> None:
        """Register what the headers hold that were only noted so far."""
        if self._unread:
            unread, self._unread = self._unread, []
            for headers in unread:
                self.register(*secret_headers(headers))

    def _known(self) -> list[tuple[str, str]]:
        """Every form of every secret with its mask, the longest form first: one secret may be part of another."""
        self._read_headers()
        if self._forms is None:
            pairs = {form: _mask(value) for value in self._values for form in _forms(value)}
            self._forms = sorted(pairs.items(), key=lambda pair: -len(pair[0]))
        return self._forms


def mask_credentials(text: str) -> str:
    """The text with header lines, bearer tokens, query values and user names in URLs masked by their look."""
    return mask_url(_BEARER.sub(r"\1***", _HEADER_LINE.sub(r"\1***", text)))


def mask_url(url: str) -> str:
    """The URL (or any text with URLs) without the values of ``key``, ``api_key``, ``access_token``, ``token`` and
    ``signature`` in its query, and without user and password."""
    return _QUERY.sub(r"\1***", _USERINFO.sub(r"\1***@", url))


def secret_headers(headers: Mapping[str, str]) -> list[str]:
    """The values in a header mapping that are worth registering, with and without ``Bearer``; cookies one by one."""
    found: list[str] = []
    for name, value in headers.items():
        lowered = name.lower()
        if lowered not in _SECRET_HEADERS:
            continue
        found.append(value)
        if lowered == "cookie":
            found.extend(part.partition("=")[2].strip() for part in value.split(";"))
        elif match := _SCHEMES.fullmatch(value.strip()):
            found.append(match[1])
    return [value for value in found if value]


def _mask(value: str) -> str:
    """What stands in for a secret."""
    return f"***{value[-4:]}" if len(value) >= _TELLING else "***"


@lru_cache(maxsize=256)
def _forms(value: str) -> tuple[str, ...]:
    """The secret as itself, in URLs, in JSON, in hex and in base64 (also as part of a longer encoded text)."""
    raw = value.encode("utf-8", "surrogatepass")
    quoted = [quote(raw, safe=safe) for safe in ("", "/", "/:+~")]
    forms = {value, raw.hex(), raw.hex().upper(), *quoted}
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
