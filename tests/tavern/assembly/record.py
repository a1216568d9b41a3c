"""Keeps what SillyTavern sent for the cases.

    python -m tests.tavern.assembly.stage PACKAGES FOLDER [NAME...] | python -m tests.tavern.assembly.record

the first in a network namespace (see ``test_sillytavern.py``, which does both with ``--rerecord``).
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from tests.tavern.assembly.case import HERE, cases, recorded


def keep(found: Mapping[str, Mapping[str, Any]]) -> None:
    """Write what was recorded, a file a group and a line a case; what was recorded before of other cases stays."""
    known = {**recorded(), **found}
    folder = HERE / "recorded"
    groups: dict[str, list[str]] = {}
    for case in cases():
        if case.name in known:
            line = f"{json.dumps(case.name)}: {json.dumps(known[case.name], ensure_ascii=False, separators=(',', ':'))}"
            groups.setdefault(case.group, []).append(line)
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.json"):
        path.unlink()
    for group, lines in groups.items():
        (folder / f"{group}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    keep(json.load(sys.stdin))
