"""One agent on a stage of its own: a mock of the vendors, agentui, and the agent between an empty home and a work folder.

``python -m tests.agents.stage NAME UPSTREAM SCENE PACKAGES FOLDER``, started in a network namespace that holds nothing but
loopback, plays a scene and writes what happened as JSON to standard output: ``{"runs": [...], "answers": [...], "asked": [...],
"aborted": n, "sum": text}``.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.agents.programs import Program
from tests.agents.task import PROMPT, model, steps, write_files
from tests.conftest import Server, call, servers
from tests.matrix.readers import read
from tests.upstreams.server import API_KEY, Mock, Recorded, start_mock
from tests.upstreams.step import Step, Tokens

MODELS = {"openai": "gpt-5", "openai_responses": "gpt-5", "claude": "claude-sonnet-4-5", "gemini": "gemini-3-pro-preview"}
"""What the pipelines ask the upstreams for: of each vendor a model that thinks."""
FAULTS = {
    # agentui waits for this one, the agent for the next.
    1: Step(status=429, retry_after=1, message="Slow down."),
    2: Step(status=503, retry_after=6, message="Overloaded for a moment."),
}
PATIENCE = 240.0
"""Seconds for one run of an agent: some wait long before they ask again."""


async def play(name: str, upstream: str, scene: str, packages: Path, folder: Path) -> Mapping[str, Any]:
    """Play one scene and tell what happened."""
    for part in ("home", "work"):
        (folder / part).mkdir(parents=True)
    write_files(folder / "work")
    mock = await start_mock()
    try:
        async with servers(folder) as start:
            pipeline = call(upstream, mock.origin, model=MODELS[upstream])
            server = await start({"coding": pipeline})
            base = f"{server.origin}/p/coding"
            program = Program(name, packages, folder / "home", folder / "work", base, API_KEY)
            program.set_up()
            scenes = {"work": _work, "leave": _leave, "compact": _compact, "overflow": partial(_overflow, upstream)}
            answers = await scenes[scene](program, mock)
            await mock.is_idle()
            return {
                "answers": answers,
                "aborted": mock.aborted,
                "asked": [_summary(recorded) for recorded in mock.requests],
                "runs": _runs(server),
                "sum": (folder / "work" / "calc.py").read_text(encoding="utf-8"),
            }
    finally:
        await mock.close()


async def _work(program: Program, mock: Mock) -> list[Mapping[str, Any]]:
    """The whole task, past an upstream that is busy twice, and a second prompt in the same conversation."""
    mock.play(model(steps(program), dict(FAULTS)))
    async with running(program, PROMPT) as first:
        answers = [await ended(first)]
    async with running(program, "Thank you. Is it still so?", again=True) as second:
        return [*answers, await ended(second)]


async def _leave(program: Program, mock: Mock) -> list[Mapping[str, Any]]:
    """An answer that does not go on, which the user interrupts."""
    mock.play(lambda recorded: Step(text="I will think about this for a long time.", hold=5) if read(recorded).tools else None)
    async with running(program, PROMPT) as process:
        await asyncio.wait_for(mock.was_asked(), PATIENCE)
        # No agent tells that it has read the first words of an answer.
        await asyncio.sleep(2)
        # As a terminal does: to all processes of the agent.
        os.killpg(process.pid, signal.SIGINT)
        answers = [await ended(process)]
    await asyncio.wait_for(mock.was_aborted(), PATIENCE)
    return answers


async def _compact(program: Program, mock: Mock) -> list[Mapping[str, Any]]:
    """A conversation that is summed up: by the user's word where the agent has one without a terminal, else because an answer
    tells of more tokens than the model takes. The model begins anew, for it sees no calls any more."""
    told = steps(program)
    if program.name == "codex":
        mock.play(model(told, {3: replace(told[3], tokens=Tokens(195_000, 500))}))
        async with running(program, PROMPT) as once:
            return [await ended(once)]
    mock.play(model(told, {}))
    answers = []
    for prompt in (PROMPT, "/compact", "Go on."):
        async with running(program, prompt, again=bool(answers)) as process:
            answers.append(await ended(process))
    return answers


TOO_LONG = {
    "openai": "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
    "claude": "prompt is too long: 210000 tokens > 200000 maximum",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
}


async def _overflow(upstream: str, program: Program, mock: Mock) -> list[Mapping[str, Any]]:
    """The model refuses the conversation as too long, in its vendor's words, once the agent has done some of the task. Claude
    Code sums up and goes on at once; Codex ends its turn."""
    works = model(steps(program), {3: Step(status=400, message=TOO_LONG[upstream])})

    def choose(recorded: Recorded) -> Step | None:
        if not recorded.path.endswith(("count_tokens", "input_tokens")):
            asked = [part[1] for _, parts in read(recorded).turns for part in parts if part[0] == "text"]
            if "TEXT ONLY" in asked[-1]:
                return Step(text="<summary>The test fails: calc.py subtracts.</summary>")
        return works(recorded)

    mock.play(choose)
    answers = []
    for prompt in (PROMPT,) if program.name == "claude-code" else (PROMPT, "Go on."):
        async with running(program, prompt, again=bool(answers)) as process:
            answers.append(await ended(process))
    return answers


@asynccontextmanager
async def running(program: Program, prompt: str, *, again: bool = False):
    """The agent while it works; it and what it started end with this."""
    machine = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment = {**machine, "HOME": str(program.home), "TERM": "xterm-256color", **program.environment()}
    process = await asyncio.create_subprocess_exec(
        *program.command(prompt, again=again),
        cwd=program.work,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


async def ended(process: asyncio.subprocess.Process) -> Mapping[str, Any]:
    """What the agent said until its end."""
    said, complained = await asyncio.wait_for(process.communicate(), PATIENCE)
    return {"code": process.returncode, "said": said.decode(), "complained": complained.decode()}


def _summary(recorded: Any) -> Mapping[str, Any]:
    """What an upstream was asked."""
    if recorded.path.endswith(("count_tokens", "input_tokens", ":countTokens")):
        return {"path": recorded.path, "tools": []}
    seen = read(recorded)
    return {
        "path": recorded.path,
        "size": len(recorded.raw),
        "tools": [name for name, _, _ in seen.tools],
        "thinks": seen.thinks,
        "calls": len(seen.parts("call")),
        "results": [part[3] for part in seen.parts("result")],
        # Some dialects carry pictures within results.
        "images": sum(recorded.raw.count(beginning) for beginning in (b"iVBORw0KGgo", b"/9j/4AAQ")),
        "users": [part[1] for side, parts in seen.turns if side == "user" for part in parts if part[0] == "text"],
        "said": [part[1] for side, parts in seen.turns if side == "assistant" for part in parts if part[0] == "text"],
    }


def _runs(server: Server) -> list[Mapping[str, Any]]:
    """How agentui's runs went."""
    return [{"state": run.state, "path": run.path} for run in server.state.history.list()]


if __name__ == "__main__":
    agent, vendor, what, where, room = sys.argv[1:]
    print(json.dumps(asyncio.run(play(agent, vendor, what, Path(where), Path(room)))))
