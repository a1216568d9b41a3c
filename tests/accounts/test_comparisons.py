"""What is secret is compared in a time that tells nothing of how much was right."""

import ast
from pathlib import Path

from tests.conftest import ROOT

SECRET = ("secret", "token", "password", "hash", "key")
PLACES = ("agentui/accounts/*.py", "agentui/http/credentials.py", "agentui/http/guard.py", "agentui/api/accounts/*.py")


def secrets_compared(tree: ast.AST) -> list[str]:
    """The comparisons by ``==``, ``!=`` and ``in`` of a name, or a member, that is called like a secret."""
    found = []
    for node in ast.walk(tree):
        # Columns are compared by an index of the database: hashes of 256 random bits, of which nobody can choose the next.
        if isinstance(node, ast.Compare) and ".c." not in ast.unparse(node) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            for side in (node.left, *node.comparators):
                name = side.attr if isinstance(side, ast.Attribute) else side.id if isinstance(side, ast.Name) else ""
                if any(name.split("_")[-1] == word for word in SECRET):
                    found.append(ast.unparse(node))
    return found


def test_no_secret_is_compared_letter_by_letter() -> None:
    files = [path for place in PLACES for path in sorted(ROOT.glob(place))]
    assert len(files) > 12
    found = {path.name: secrets_compared(ast.parse(path.read_text(encoding="utf-8"))) for path in files}
    assert {name: each for name, each in found.items() if each} == {}


def test_the_look_finds_what_it_looks_for(tmp_path: Path) -> None:
    text = "if given == self.token or secret != other or key in known or kid == 'x':\n    pass"
    assert secrets_compared(ast.parse(text)) == ["given == self.token", "secret != other"]
