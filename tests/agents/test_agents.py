"""Claude Code, Codex and Gemini CLI do a task of several steps with their own tools, over every vendor.

Nothing leaves the machine: the agents run in a network namespace without any way out, and their upstream is a strict mock.
"""

import pytest

from tests.agents.conftest import Stage
from tests.agents.programs import DIALECTS, NAMES
from tests.agents.task import DONE
from tests.matrix.neutral import UPSTREAMS

# Codex with a model of OpenAI's own over OpenAI's own API is passed on as it came, and the mock knows no such tools.
PAIRS = [(name, upstream) for name in NAMES for upstream in UPSTREAMS if (name, upstream) != ("codex-gpt", "openai_responses")]
pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize(("name", "upstream"), PAIRS, ids=[">".join(pair) for pair in PAIRS])
def test_an_agent_does_its_task_over_any_vendor(stage: Stage, name: str, upstream: str) -> None:
    told = stage(name, upstream, "work")
    first, second = told["answers"]
    assert (first["code"], told["sum"]) == (0, "def add(a, b):\n    return a + b\n"), first
    asked = [request for request in told["asked"] if request["tools"]]
    results = [request["results"] for request in asked]
    # Every request goes on from the one before, and the last result is the test that passes now.
    assert "AssertionError" in "".join(results[3]) and "all tests pass" in results[-1][-1]
    assert asked[0]["thinks"] and "make test_calc.py pass" in asked[0]["users"][-1]
    longest = max(len(result) for result in results[-2])
    assert longest > (9_000 if name == "codex" else 40_000), longest
    assert "of a log file that says little: naïve \u2603" in "".join(results[-2])
    assert any(request["images"] for request in asked) == (name != "codex-gpt")
    assert {run["state"] for run in told["runs"][1:]} <= {"finished", "failed"}
    if (name, upstream) == ("gemini-cli", "gemini"):
        # What it resumes holds every result twice, which Gemini refuses; to its own vendor that goes as it came.
        assert second["code"] != 0 and "number of function response parts" in second["said"]
        return
    assert second["code"] == 0, second
    assert DONE.split()[-1] in second["said"] and DONE in "".join(asked[-1]["said"])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "codex-gpt"])
def test_an_agent_that_is_interrupted_ends_its_run_and_the_upstreams_answer(stage: Stage, name: str) -> None:
    upstream = "claude" if DIALECTS[name] != "claude" else "openai"
    told = stage(name, upstream, "leave")
    assert told["aborted"] == 1
    assert [run["state"] for run in told["runs"]] == ["cancelled"]


@pytest.mark.parametrize(("name", "upstream"), [("claude-code", "openai"), ("codex", "claude")])
def test_a_conversation_that_is_summed_up_goes_on(stage: Stage, name: str, upstream: str) -> None:
    told = stage(name, upstream, "compact")
    assert [answer["code"] for answer in told["answers"]] == [0] * len(told["answers"])
    assert {run["state"] for run in told["runs"]} == {"finished"}
    calls = [request["calls"] for request in told["asked"] if "calls" in request]
    # The conversation begins anew behind its summary, and the model does the task once more.
    anew = calls.index(0, 1)
    assert max(calls[:anew]) >= 6 and max(calls[anew:]) == 8


@pytest.mark.parametrize(("name", "upstream"), [("claude-code", "openai"), ("claude-code", "gemini"), ("codex", "claude")])
def test_an_agent_knows_that_a_conversation_is_too_long(stage: Stage, name: str, upstream: str) -> None:
    """Claude Code sums up and finishes at once. Codex tells it in its own words, and finishes in its next turn."""
    told = stage(name, upstream, "overflow")
    *before, last = told["answers"]
    assert (last["code"], told["sum"]) == (0, "def add(a, b):\n    return a + b\n"), last
    assert DONE.split()[-1] in last["said"]
    if name == "codex":
        (refused,) = before
        assert refused["code"] != 0 and "ran out of room in the model's context window" in refused["said"]
        return
    users = ["".join(request["users"]) for request in told["asked"] if "users" in request]
    assert any("TEXT ONLY" in said for said in users) and "The test fails: calc.py subtracts." in users[-1]
