"""Server processes by forks: one process that has read all of agentui's code and forks a server whenever one is wanted.

Starting Python and reading the code takes longer than all that a cycle of a kill campaign does. A fork of a process that has
read it is a process like any other, with its own memory, files and sockets, and it runs ``agentui serve`` from its first line.

``python -m tests.campaigns.fork_server`` takes a JSON object a line, and answers each with a line:

    {"start": [arguments], "environment": {name: value}, "constants": {name: value}, "out": path, "err": path}   the process id
    {"kill": process id, "signal": number}                               how it ended, once it is gone
    {"ended": process id}                                                how it ended, or null while it runs
    {"run": [arguments], "environment": {name: value}, "folder": path}    how it ended; what it was told is the folder's file
                                                                         ``in``, what it said are ``out`` and ``err``
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, skip


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without proxies, and with these variables. Most callers ask one thing again and again, which
    is to be a turn of its own each time."""
    proxies = {"http_proxy", "https_proxy", "all_proxy"}
    kept = {name: value for name, value in os.environ.items() if name.lower() not in proxies}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "NO_PROXY": "*", "AGENTUI_TURN_MATCHING": "false", **more}


class ForkServer:
    """The near end: asks for processes and for their deaths, one request at a time, from whichever thread."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.campaigns.fork_server"],
            cwd=ROOT,
            env=environment({}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._turn = threading.Lock()

    def start(
        self,
        arguments: Sequence[str],
        settings: Mapping[str, str],
        out: Path,
        err: Path,
        constants: Mapping[str, float] | None = None,
    ) -> int:
        """Start ``agentui`` with these arguments in this environment; what it says goes to the files, which may be one.
        ``constants`` of its modules, by their whole names, are others there. Returns its process id."""
        files = {"out": str(out), "err": str(err)}
        return int(
            self._ask({"start": list(arguments), "environment": dict(settings), "constants": dict(constants or {}), **files})
        )

    def kill(self, pid: int, number: int = signal.SIGKILL) -> int:
        """End a process that was started here, and wait until it is gone. Returns its exit code, negative for a signal."""
        return int(self._ask({"kill": pid, "signal": int(number)}))

    def ended(self, pid: int) -> int | None:
        """The exit code of a process that was started here; None while it runs. It is told once."""
        code = self._ask({"ended": pid})
        return None if code is None else int(code)

    def run(self, arguments: Sequence[str], settings: Mapping[str, str], said: str) -> subprocess.CompletedProcess[str]:
        """Run ``agentui`` with these arguments in this environment, and tell it ``said``; how it ended, and what it said."""
        with tempfile.TemporaryDirectory(prefix="agentui-command-") as folder:
            told, *heard = (Path(folder) / name for name in ("in", "out", "err"))
            told.write_text(said)
            code = int(self._ask({"run": list(arguments), "environment": dict(settings), "folder": folder}))
            return subprocess.CompletedProcess(arguments, code, *(path.read_text() for path in heard))

    def close(self) -> None:
        """End the fork server, and with it all that it started."""
        self._process.communicate()

    def _ask(self, request: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._turn:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())


@cache
def fork_server() -> ForkServer:
    """The one of this process."""
    made = ForkServer()
    atexit.register(made.close)
    return made


class Forked:
    """A server that is a fork, to whoever asks it: what it said so far, signals, and its end. ``folder`` is where its two
    streams are kept."""

    def __init__(
        self, arguments: Sequence[str], settings: Mapping[str, str], folder: Path, constants: Mapping[str, float] | None
    ) -> None:
        self._out, self._err = folder / "out", folder / "err"
        self.returncode: int | None = None
        self.pid = fork_server().start(arguments, settings, self._out, self._err, constants)

    @property
    def out(self) -> str:
        """What it said so far."""
        return self._out.read_text(errors="replace")

    @property
    def err(self) -> str:
        """What it complained of so far."""
        return self._err.read_text(errors="replace")

    def hello(self, seconds: float) -> str:
        """What it says when it is ready. Raises RuntimeError where it ends before, or takes longer."""
        end = time.monotonic() + seconds
        said = ""
        # The last line may be there in part.
        while "Stop with" not in said or not said.endswith("\n"):
            if self.is_over() or time.monotonic() > end:
                raise RuntimeError(f"The server did not start: {self.out}{self.err}")
            time.sleep(0.005)
            said = self.out if self._out.exists() else ""
        return said

    def is_over(self) -> bool:
        """Whether it has ended; ``returncode`` says how."""
        if self.returncode is None:
            self.returncode = fork_server().ended(self.pid)
        return self.returncode is not None

    def send_signal(self, number: int) -> None:
        """Signal it, if it still runs."""
        if not self.is_over():
            os.kill(self.pid, number)

    def wait(self, seconds: float) -> int:
        """Wait for its end: the exit code. Raises TimeoutError."""
        end = time.monotonic() + seconds
        while not self.is_over():
            if time.monotonic() > end:
                raise TimeoutError(f"Process {self.pid} goes on.")
            time.sleep(0.005)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        """End it, and wait until it is gone."""
        if self.returncode is None:
            self.returncode = fork_server().kill(self.pid)


@contextmanager
def forked(*arguments: str | Path, constants: Mapping[str, float] | None = None, **settings: str) -> Iterator[Forked]:
    """A fork that runs ``agentui`` with these arguments in this environment; it is dead afterwards. ``constants`` of its
    modules, by their whole names, are others there."""
    if not hasattr(os, "fork"):
        skip("this system has no forks")
    with tempfile.TemporaryDirectory(prefix="agentui-fork-") as folder:
        fork = Forked([*map(str, arguments)], environment(settings), Path(folder), constants)
        try:
            yield fork
        finally:
            fork.kill()


def main() -> None:
    """The far end: fork and kill until nobody asks any more, then end what is left."""
    read_the_code()
    alive: set[int] = set()
    answer: int | None
    for line in sys.stdin:
        request = json.loads(line)
        if "start" in request:
            pid = os.fork()
            if pid == 0:
                os._exit(serve(request["start"], request["environment"], request["constants"], request["out"], request["err"]))
            alive.add(pid)
            answer = pid
        elif "run" in request:
            pid = os.fork()
            if pid == 0:
                os._exit(obey(request["run"], request["environment"], Path(request["folder"])))
            answer = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        elif "ended" in request:
            answer = look(request["ended"])
            if answer is not None:
                alive.discard(request["ended"])
        else:
            answer = end(request["kill"], request["signal"])
            alive.discard(request["kill"])
        print(json.dumps(answer), flush=True)
    for pid in alive:
        end(pid, signal.SIGKILL)


def read_the_code() -> None:
    """Import what a server needs from its start and what it loads with its first turn."""
    import agentui.api.chats
    import agentui.cli
    import agentui.serving.supervisor
    import agentui.store.migrations
    import agentui.store.postgres
    import agentui.store.sqlite
    import agentui.turns.service

    agentui.store.migrations.head_revision()


def serve(arguments: list[str], settings: Mapping[str, str], constants: Mapping[str, float], *files: str) -> int:
    """Be a server: the child's whole life. Returns its exit code."""
    import agentui.__main__
    from agentui.cli import main as run

    # The processes that it starts ask for its program, which is not this one.
    sys.modules["__main__"] = agentui.__main__
    # Its own standard streams: the fork server's belong to the conversation.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    for number, opened in enumerate((os.open(os.devnull, os.O_RDONLY), *(os.open(file, flags, 0o600) for file in files))):
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(settings)
    for name, value in constants.items():
        module, _, constant = name.rpartition(".")
        setattr(sys.modules[module], constant, value)
    return run(arguments)


def obey(arguments: list[str], settings: Mapping[str, str], folder: Path) -> int:
    """Be a command: the child's whole life. Returns its exit code."""
    from agentui.cli import main as run

    os.environ.clear()
    os.environ.update(settings)
    with open(folder / "in") as sys.stdin, open(folder / "out", "w") as sys.stdout, open(folder / "err", "w") as sys.stderr:
        for number, opened in enumerate((sys.stdin, sys.stdout, sys.stderr)):
            os.dup2(opened.fileno(), number)
        try:
            return run(arguments)
        except SystemExit as ended:
            return int(ended.code or 0)
        except Exception:  # noqa: BLE001  # the child must not go on as the fork server
            traceback.print_exc()
            return 1


def look(pid: int) -> int | None:
    """How a child ended, or None while it runs."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def end(pid: int, number: int) -> int:
    """Signal a child and wait for its end."""
    os.kill(pid, number)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    main()
