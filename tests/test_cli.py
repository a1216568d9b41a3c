"""The command line does what it says, and where it cannot it says so in one line."""

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentui import __version__
from tests.campaigns.fork_server import Forked, environment, fork_server, forked
from tests.conftest import ROOT, skip

PATIENCE = 150.0
"""Seconds after which a program that has not ended has failed: on a busy machine a start takes many."""
SECRET = "sk-a-key-nobody-may-see-0123456789"


def agentui(*arguments: str | Path, said: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run ``agentui`` to its end, in a process of its own: a fork of one that has read the code, where processes fork."""
    words = [*map(str, arguments)]
    if not hasattr(os, "fork"):
        return python_agentui(*words, said=said, **env)
    return fork_server().run(words, environment(env), said)


def python_agentui(*arguments: str, said: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m agentui`` to its end."""
    command = [sys.executable, "-m", "agentui", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment(env), input=said, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def assert_refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """One line on stderr that holds these words, exit code 1, nothing else."""
    assert (done.returncode, done.stdout) == (1, ""), done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("agentui: ")
    for word in words:
        assert word in lines[0]


@contextmanager
def running(*arguments: str | Path, **env: str) -> Iterator[tuple[Forked, str]]:
    """A server, and what it printed until it was ready."""
    with forked(*arguments, **env) as process:
        yield process, process.hello(PATIENCE)


# --- small commands --------------------------------------------------------------------------------------------------


def test_version() -> None:
    done = python_agentui("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"agentui {__version__}\n", "")


def test_help_names_every_command() -> None:
    out = agentui("--help").stdout
    assert all(command in out for command in ("serve", "demo", "check", "secret", "openapi"))


@pytest.mark.parametrize(
    "arguments", [(), ("dance",), ("serve", "--port", "many"), ("serve", "--pipeline", "a"), ("secret",), ("check",)]
)
def test_what_is_no_command_is_explained_by_usage(arguments: tuple[str, ...]) -> None:
    done = (agentui if arguments else python_agentui)(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: agentui")


def test_openapi_is_one_document() -> None:
    done = agentui("openapi")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["openapi"].startswith("3.")
    assert "/v1/chat/completions" in document["paths"]


def test_who_has_read_enough_of_the_output_hears_no_complaint(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "agentui", "secret", "list", "--data", str(tmp_path)]
    env = environment({"AGENTUI_SECRET_OPENAI": SECRET})
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=writing, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


# --- check -----------------------------------------------------------------------------------------------------------


def pipeline(folder: Path, name: str, *nodes: object, **more: object) -> Path:
    path = folder / name
    path.write_text(json.dumps({"format": 1, "name": "x", "nodes": list(nodes), **more}), encoding="utf-8")
    return path


def sets(value: str) -> dict[str, object]:
    return {"id": "n1", "type": "SetVars", "config": {"variables": [{"name": "A", "value": value}]}}


def test_check_passes_what_is_good(tmp_path: Path) -> None:
    done = agentui("check", pipeline(tmp_path, "good.json", sets("[[VAR:model]]")))
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 checked, 0 with errors.\n", "")


def test_check_places_a_broken_template(tmp_path: Path) -> None:
    path = pipeline(tmp_path, "bad.json", sets("one\n two {{ model|nope }}"))
    done = agentui("check", path)
    assert done.returncode == 1
    problem, summary = done.stdout.splitlines()
    assert re.match(
        re.escape(f"{path}: error: node n1 field variables.0.value line 2 column ") + r"\d+: .* \[[a-z._]+\]$", problem
    )
    assert summary == "1 checked, 1 with errors."


def test_check_tells_everything_that_is_wrong(tmp_path: Path) -> None:
    path = pipeline(tmp_path, "bad.json", {"id": "a", "type": "Teleport"}, {"id": "a", "type": "SetVars"}, answer="z")
    done = agentui("check", path)
    assert done.returncode == 1
    found = re.findall(r"\[([a-z._]+)\]$", done.stdout, re.MULTILINE)
    assert set(found) == {"node.unknown_type", "node.duplicate_id", "answer.unknown"}


def test_check_places_broken_json(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{\n  "format": 1,\n  oops\n}', encoding="utf-8")
    done = agentui("check", path)
    assert done.returncode == 1
    assert f"{path}: error: line 3 column 3: " in done.stdout


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"\xff\xfe", b'{"format": 1}'])
def test_check_survives_any_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    done = agentui("check", path)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"{path}: error: " in done.stdout


def test_check_names_a_file_that_is_missing(tmp_path: Path) -> None:
    done = agentui("check", tmp_path / "missing.json")
    assert (done.returncode, done.stderr) == (1, "")
    assert (
        f"{tmp_path / 'missing.json'}: error: The file cannot be read (No such file or directory). [file.unreadable]"
        in done.stdout
    )


def test_check_reads_patterns_and_passes_warnings(tmp_path: Path) -> None:
    pipeline(tmp_path, "a.json", sets("x"))
    pipeline(tmp_path, "b.json", {"id": "n1", "type": "SetVars", "config": {"colour": "red"}})
    done = agentui("check", tmp_path / "*.json")
    assert done.returncode == 0
    assert "warning: node n1 field colour: " in done.stdout
    assert done.stdout.endswith("2 checked, 0 with errors.\n")


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_busy_port_is_named(tmp_path: Path, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = agentui(command, "--port", port, "--data", tmp_path)
    assert_refused(done, "cannot listen", port, "which another program uses", "--port")


@pytest.mark.parametrize("option", ["--pipelines", "--presets", "--data"])
def test_a_folder_that_is_none_is_named(tmp_path: Path, option: str) -> None:
    file = tmp_path / "file"
    file.write_text("")
    folders = {"--data": tmp_path / "data", option: file}
    done = agentui("serve", "--port", "0", *(part for pair in folders.items() for part in pair))
    assert_refused(done, str(file), option)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AGENTUI_PORT", "many"),
        ("AGENTUI_PORT", "70000"),
        ("AGENTUI_TOKEN", "short"),
        ("AGENTUI_LOG_LEVEL", "loud"),
        ("AGENTUI_RUN_TIMEOUT", "-1"),
        ("AGENTUI_SECRET_KEY", "not-a-key"),
        ("AGENTUI_DATABASE_URL", "mysql://u:s3cret@h/d"),
    ],
)
@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_bad_setting_is_named_and_its_value_is_not_shown(tmp_path: Path, command: str, name: str, value: str) -> None:
    options = ("--data", str(tmp_path), *(() if name == "AGENTUI_PORT" else ("--port", "0")))
    done = agentui(command, *options, **{name: value})
    assert_refused(done, name)
    if name in ("AGENTUI_TOKEN", "AGENTUI_SECRET_KEY", "AGENTUI_DATABASE_URL"):
        assert value not in done.stderr


def test_listening_to_everybody_wants_a_token(tmp_path: Path) -> None:
    done = agentui("serve", "--host", "0.0.0.0", "--port", "0", "--data", tmp_path)
    assert_refused(done, "0.0.0.0", "AGENTUI_TOKEN", "--insecure")


def test_an_address_that_is_not_ours_is_named(tmp_path: Path) -> None:
    done = agentui("serve", "--host", "192.0.2.1", "--insecure", "--port", "0", "--data", tmp_path)
    assert_refused(done, "192.0.2.1", "--host")


# --- servers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_an_empty_folder", [False, True])
def test_the_demo_answers_what_it_told_people_to_type(tmp_path: Path, in_an_empty_folder: bool) -> None:
    curl = shutil.which("curl")
    if curl is None:
        skip("there is no curl")
    folders = ("--pipelines", tmp_path / "p", "--presets", tmp_path / "q") if in_an_empty_folder else ()
    with running("demo", "--port", "0", "--data", tmp_path, *folders) as (_, hello):
        (line,) = [line.strip() for line in hello.splitlines() if line.strip().startswith("curl ")]
        done = subprocess.run(
            ["sh", "-c", f"{line} -sS"], env=environment({}), capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Hello!" in json.loads(done.stdout)["choices"][0]["message"]["content"]


@pytest.mark.sdk
def test_the_demo_answers_the_lines_that_it_told_people_to_paste(tmp_path: Path) -> None:
    with running("demo", "--port", "0", "--data", tmp_path) as (_, hello):
        lines = hello.partition("or with an SDK:")[2].rpartition("Stop with")[0]
        programs = [part for part in re.split(r"\n\s*\n", lines) if part.strip()]
        assert [re.findall(r"import (\w+)", program) for program in programs] == [["OpenAI"], ["Anthropic"], ["genai"]]
        for program in programs:
            code = "\n".join(line.removeprefix("  ") for line in program.splitlines())
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment({}), capture_output=True, text=True, timeout=PATIENCE, check=False
            )
            assert done.returncode == 0, done.stderr
            assert "Hello!" in done.stdout


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_polite_signal_stops_the_server_cleanly(tmp_path: Path, name: str) -> None:
    with running("demo", "--port", "0", "--data", tmp_path) as (process, hello):
        process.send_signal(getattr(signal, name))
        assert (process.wait(PATIENCE), process.out, process.err) == (0, hello, "")


def test_serving_missing_folders_fills_them_with_the_gallery_and_says_where_it_listens(tmp_path: Path) -> None:
    folders = ("--pipelines", tmp_path / "p", "--presets", tmp_path / "q", "--data", tmp_path / "d")
    with running("serve", "--port", "0", *folders, AGENTUI_TOKEN=SECRET) as (_, hello):
        found = re.search(r"is running at http://127\.0\.0\.1:(\d+)\n", hello)
        assert found is not None
        with socket.create_connection(("127.0.0.1", int(found[1])), timeout=PATIENCE):
            for folder, gallery in (("p", "pipelines"), ("q", "presets")):
                made = {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
                assert made == {path.name: path.read_bytes() for path in (ROOT / gallery).iterdir()}
        assert SECRET not in hello
        assert "YOUR-TOKEN" in hello


def test_a_folder_that_somebody_emptied_stays_empty(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    with running("serve", "--port", "0", "--pipelines", tmp_path / "p", "--presets", tmp_path / "q", "--data", tmp_path / "d"):
        assert list((tmp_path / "p").iterdir()) == []


def test_the_demos_choices_are_its_own(tmp_path: Path) -> None:
    with running("demo", "--port", "0", "--data", tmp_path):
        assert (tmp_path / "demo").is_dir()
        assert not (tmp_path / "state.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@pytest.mark.parametrize("first", ["demo", "serve", "secret"])
def test_nobody_else_reads_the_data_folder_whichever_command_made_it(tmp_path: Path, first: str) -> None:
    data = tmp_path / "data"
    if first == "secret":
        assert agentui("secret", "set", "openai", "--data", data, said=SECRET).returncode == 0
    else:
        with running(first, "--port", "0", "--data", data):
            pass
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_the_folder_can_be_started_like_a_program(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "agentui"), "--version"],
        cwd=tmp_path,
        env={name: value for name, value in environment({}).items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"agentui {__version__}\n"), done.stderr


# --- secrets ---------------------------------------------------------------------------------------------------------


def test_a_secret_is_set_listed_and_deleted_and_never_shown(tmp_path: Path) -> None:
    data = ("--data", tmp_path)
    put = agentui("secret", "set", "main", "--origin", "https://API.example.com:443", *data, said=f"{SECRET}\n")
    listed = agentui("secret", "list", *data)
    gone = agentui("secret", "delete", "MAIN", *data)
    empty = agentui("secret", "list", *data)
    assert put.returncode == listed.returncode == gone.returncode == empty.returncode == 0
    assert "https://" in put.stdout
    assert "[[SECRET:main]]" in put.stdout
    assert listed.stdout == "main\tstore\thttps://api.example.com\n"
    assert gone.stdout == "Forgot MAIN.\n"
    assert empty.stdout == ""
    assert SECRET not in "".join(done.stdout + done.stderr for done in (put, listed, gone, empty))
    assert all(SECRET.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_known_name_needs_no_origin(tmp_path: Path) -> None:
    done = agentui("secret", "set", "OpenAI", "--data", tmp_path, said=SECRET)
    assert (done.returncode, "https://api.openai.com" in done.stdout) == (0, True)


def test_a_secret_of_the_environment_is_listed_without_its_value(tmp_path: Path) -> None:
    done = agentui("secret", "list", "--data", tmp_path, AGENTUI_SECRET_MINE=SECRET)
    assert done.stdout == "mine\tenvironment\tany origin\n"


@pytest.mark.parametrize(
    ("arguments", "said", "word"),
    [
        (("set", "mine"), SECRET, "--origin"),
        (("set", "openai"), "", "no key"),
        (("set", "openai"), "  \n", "no key"),
        (("set", "9lives", "--origin", "https://x.example"), SECRET, "letter"),
        (("set", "mine", "--origin", "not a url"), SECRET, "origin"),
        (("delete", "mine"), "", "'mine'"),
    ],
)
def test_a_secret_that_cannot_be_kept_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str, word: str) -> None:
    done = agentui("secret", *arguments, "--data", tmp_path, said=said)
    assert_refused(done, word)
    assert SECRET not in done.stderr


def test_secrets_in_a_folder_that_is_none_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert_refused(agentui("secret", "list", "--data", file), str(file))


def test_secrets_with_a_bad_key_are_refused(tmp_path: Path) -> None:
    assert_refused(agentui("secret", "list", "--data", tmp_path, AGENTUI_SECRET_KEY="not-a-key"), "AGENTUI_SECRET_KEY")
