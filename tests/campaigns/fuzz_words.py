"""The words that all fuzzers speak: canaries, names that lead astray, odd texts and values, and mutations."""

from collections.abc import Sequence
from random import Random
from typing import Any, Final

from agentui.jsonio import Json

SECRET: Final = "sk-canary-7f3a"
"""The value that a macro would insert if an inserted text were read again. It stands in every scope as ``secret``."""

CANARIES: Final = (
    "[[VAR:secret]]",
    "[[secret]]",
    "{{ secret }}",
    "{{ 1+1 }}",
    "{{ secret|default(1) }}",
    "[[OUT:n1]]",
    "[[OUT:n1.vars.secret]]",
    "[[OUT1]]",
    "[[PROMPT]]",
    "[[SECRET:key]]",
    "{% set x = secret %}",
    "{# secret #}",
    "[[VAR:incoming.headers.authorization]]",
    '"}],"model":"{{ secret }}',
    "{{ ''.__class__.__mro__ }}",
    "${secret} %(secret)s {secret} {0.__class__}",
    "$VAR_REF{{secret}}",
    "{{char}}{{user}}{{getvar::secret}}",
)
"""Texts that are macros, in our language and in others. As values they are data."""

HOSTILE_NAMES: Final = (
    "__class__",
    "__mro__",
    "__subclasses__",
    "__globals__",
    "__init__",
    "__builtins__",
    "__dict__",
    "__import__",
    "constructor",
    "prototype",
    "__proto__",
    "format",
    "format_map",
    "items",
    "keys",
    "values",
    "get",
    "pop",
    "clear",
    "update",
    "append",
    "gi_frame",
    "f_back",
    "func_globals",
    "self",
    "cycler",
    "joiner",
    "lipsum",
    "namespace",
    "range",
    "config",
    "request",
    "loop",
    "super",
    "caller",
    "varargs",
    "attr",
    "eval",
    "exec",
    "open",
    "os",
    "True",
    "none",
    "count",
    "index",
    "encode",
    "real",
    "_make",
    "read",
    "render",
)
"""Names that mean something to Python, Jinja2 or JavaScript, and here nothing but a key."""

ODD_TEXTS: Final = (
    "",
    " ",
    "\u2028",
    "\ufeff",
    "\u202e",
    "\x85",
    "\x0b",
    "\u00a0",
    "e\u0301",
    "\ufb03",
    "\u0130",
    "\U0001d54f",
    "\U0001f468\u200d\U0001f469",
    "\uff11\uff12",
    "\u0663",
    "\u00b2",
    "\x00",
    "\x1f",
    "\x7f",
    "\n",
    "\r\n",
    "\r",
    "\t",
    '"',
    "'",
    "\\",
    "\\u0041",
    "</script>",
    "%s%n",
    "a" * 300,
)

HUGE_NUMBERS: Final = (
    "9" * 20,
    "9" * 400,
    "9" * 5000,
    "1e308",
    "1e309",
    "-1e400",
    "1e-400",
    "0." + "0" * 400 + "1",
    "18446744073709551616",
    "-9223372036854775809",
    "115792089237316195423570985008687907853269984665640564039457584007913129639937",
    "-0",
    "-0.0",
    "00",
    "1_000",
    "0x10",
    "1.",
    ".5",
    "+1",
    "NaN",
    "Infinity",
)

ODD_VALUES: Final[tuple[Json, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**53,
    2**63,
    -(2**63) - 1,
    0.5,
    1e300,
    "",
    "x",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"type": "text"},
    {"type": None},
    {"__proto__": {}},
    [1, "a", None, {}],
    "\u0000",
    "[[VAR:secret]]",
    "a" * 5000,
)


def mutate_text(random: Random, text: str, words: Sequence[str]) -> str:
    """The text after one to four accidents: cut, doubled, a piece moved, words of the language put in, characters lost."""
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        length = len(text)
        at = random.randrange(length + 1)
        match random.randrange(7):
            case 0:
                text = text[:at]
            case 1:
                end = min(length, at + random.randrange(12))
                text = text[:at] + text[end:]
            case 2:
                end = min(length, at + random.randrange(20))
                text = text[:end] + text[at:end] * random.randrange(1, 4) + text[end:]
            case 3:
                end = min(length, at + 8)
                piece, rest = text[at:end], text[:at] + text[end:]
                to = random.randrange(len(rest) + 1)
                text = rest[:to] + piece + rest[to:]
            case 4:
                text = text[:at] + random.choice(ODD_TEXTS) + text[at:]
            case _:
                text = text[:at] + random.choice(words) + text[at:]
    return text


def mutate_bytes(random: Random, data: bytes) -> bytes:
    """The bytes after one to three accidents: cut, flipped, doubled, lost, replaced."""
    raw = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(raw) + 1)
        match random.randrange(6):
            case 0:
                del raw[at:]
            case 1 if raw:
                raw[at % len(raw)] ^= 1 << random.randrange(8)
            case 2:
                raw[at:at] = raw[at : at + random.randrange(16)]
            case 3:
                del raw[at : at + random.randrange(8)]
            case 4 if raw:
                raw[at % len(raw)] = random.randrange(256)
            case _:
                raw[at:at] = random.choice(
                    (b"\xff", b"\xed\xa0\x80", b"\x00", b"\xef\xbb\xbf", b"\n", b"\r", b'"', b"{", b"\\ud800")
                )
    return bytes(raw)


def mutate_json(random: Random, value: Any, words: Sequence[Json]) -> Any:
    """The value with one to three places changed: another value there, gone, doubled, renamed, wrapped or deepened.

    Changed in place where it can be; the outermost value may be another one.
    """
    for _ in range(random.choice((1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return random.choice(ODD_VALUES)
        parent, key = random.choice(places)
        _change(random, parent, key, words)
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in the value: what holds it and under which key or index."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        parent = waiting.pop()
        if isinstance(parent, dict):
            pairs = list(parent.items())
        elif isinstance(parent, list):
            pairs = list(enumerate(parent))
        else:
            continue
        for key, child in pairs:
            found.append((parent, key))
            if isinstance(child, (dict, list)):
                waiting.append(child)
    return found


def _change(random: Random, parent: Any, key: Any, words: Sequence[Json]) -> None:
    match random.randrange(8):
        case 0 | 1:
            parent[key] = _fresh(random.choice(ODD_VALUES))
        case 2 | 3:
            parent[key] = _fresh(random.choice(words))
        case 4:
            del parent[key]
        case 5:
            parent[key] = [parent[key]] if random.random() < 0.5 else {"x": parent[key]}
        case 6 if isinstance(parent, dict):
            other = random.choice(words)
            parent[other if isinstance(other, str) else random.choice(HOSTILE_NAMES)] = parent.pop(key)
        case 6:
            parent.insert(key, _fresh(parent[key]))
        case _:
            deep: Json = parent[key]
            for _ in range(random.choice((1, 3, 30, 98))):
                deep = [deep]
            parent[key] = deep


def _fresh(value: Any) -> Any:
    """A copy of its own, because what is changed in place must not be a constant of ours."""
    if isinstance(value, dict):
        return {key: _fresh(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_fresh(item) for item in value]
    return value
