"""What the client needs to be there, and what it says where that is missing."""

import subprocess
import sys

from tests.conftest import ROOT

WITHOUT = "import sys; sys.modules.update(dict.fromkeys({names!r})); "


def run(program: str, *names: str) -> subprocess.CompletedProcess[str]:
    """A program in which these packages cannot be imported."""
    command = [sys.executable, "-c", WITHOUT.format(names=names) + program]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_client_is_imported_without_what_a_server_needs() -> None:
    server = (
        "aiohttp",
        "orjson",
        "pydantic",
        "sqlalchemy",
        "structlog",
        "typing_extensions",
        "jinja2",
        "regex",
        "cryptography",
    )
    said = run("import agentui.sdk; print(agentui.sdk.TavernClient.__name__)", *server)
    assert said.stdout == "TavernClient\n", said.stderr


def test_without_httpx_the_helpers_are_there_and_the_client_says_what_it_needs() -> None:
    assert run("from agentui.sdk import helpers; import agentui.sdk.helpers", "httpx").returncode == 0
    program = "try:\n    from agentui.sdk import TavernClient\nexcept ImportError as error:\n    print(error.name, error)"
    said = run(f"\n{program}", "httpx")
    told = "TavernClient needs httpx: pip install -e '.[sdk]' in agentui's folder, or httpx alone."
    assert said.stdout == f"httpx {told}\n", said.stderr
