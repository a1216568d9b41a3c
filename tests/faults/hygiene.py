"""What no answer that tells of an error may show: traces, paths, code, the words of the parts inside (T28)."""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
INNER = re.compile(
    r'Traceback \(most recent|\bFile "|\.py(?:", line |:)\d+|site-packages|<[\w.]+ object at 0x|\bat 0x[0-9a-f]{6,}'
    r"|sqlalche\.me|sqlalchemy|sqlite3?\.|asyncpg|\bSELECT \w|\bINSERT INTO|\bUPDATE \w+ SET|aiohttp\.(?:web|client)|\[Errno"
    r"|\b[A-Z]\w+(?:Error|Exception)\("
)
"""How the inside of a Python program looks from outside."""
PLACES = (str(ROOT), str(Path.home()), tempfile.gettempdir(), "/dev/shm/", "/usr/lib/python", "/proc/self")


def check_shown(text: str) -> None:
    """Fail when a text that a caller reads shows the inside of the server."""
    found = INNER.search(text)
    assert found is None, (found, text[:1000])
    for place in PLACES:
        assert place not in text, (place, text[:1000])


def check_hygiene(status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Fail unless an error's answer is JSON in a sentence, is not sniffed, has an id, and shows nothing of the inside."""
    label = (status, dict(headers), body[:500])
    assert 400 <= status < 600 and status != 500, label
    assert headers["content-type"].startswith("application/json"), label
    assert headers["x-content-type-options"] == "nosniff", label
    assert headers["x-request-id"], label
    assert headers["server"] == "agentui", label
    check_shown(body.decode())
    check_shown(repr(dict(headers)))
