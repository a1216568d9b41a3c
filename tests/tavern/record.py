"""Writes ``recorded.json``: what SillyTavern sent while the scenes of ``stage.py`` were played, for the tests that replay it.

    python -m tests.tavern.stage PACKAGES FOLDER | python -m tests.tavern.record

the first in a network namespace (see ``test_sillytavern.py``). Long texts are cut to their beginnings: they belong to the
makers of SillyTavern and its characters, and only their shape matters.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded.json"
_LONGEST = 120


def shortened(requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The requests as they are kept: scene, headers, and the messages."""
    return [
        {
            "scene": request["scene"],
            "headers": request["headers"],
            "messages": [_short(one) for one in request["body"]["messages"]],
        }
        for request in requests
    ]


def _short(message: Mapping[str, Any]) -> dict[str, Any]:
    return {**message, "content": str(message["content"])[:_LONGEST]}


def recorded() -> list[dict[str, Any]]:
    """What was recorded."""
    requests: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return requests


if __name__ == "__main__":
    text = json.dumps(shortened(json.load(sys.stdin)), ensure_ascii=False, indent=1)
    RECORDED.write_text(text + "\n", encoding="utf-8")
