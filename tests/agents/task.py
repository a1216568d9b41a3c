"""What the model does in these tests: a small task of several steps, told to an honest upstream step by step."""

import base64
from collections.abc import Callable
from pathlib import Path

from tests.agents.programs import Program
from tests.matrix.readers import read
from tests.upstreams.server import Recorded
from tests.upstreams.step import Step, Tokens

PROMPT = "Please make test_calc.py pass."
DONE = "Done: the test passes now."
THOUGHT = "It subtracts where it should add."
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg=="
)
_TOKENS = Tokens(5000, 200, cache_read=1000, reasoning=50)


def write_files(work: Path) -> None:
    """The folder that the agent works in: a mistake, a test that shows it, a long log and a picture."""
    (work / "calc.py").write_text("def add(a, b):\n    return a - b\n", encoding="utf-8")
    test = "from calc import add\n\nassert add(2, 3) == 5, add(2, 3)\nprint('all tests pass')\n"
    (work / "test_calc.py").write_text(test, encoding="utf-8")
    lines = (f"line {number} of a log file that says little: naïve \u2603\n" for number in range(2500))
    (work / "log.txt").write_text("".join(lines), encoding="utf-8")
    (work / "picture.png").write_bytes(PNG)


def steps(program: Program) -> list[Step]:
    """The model's answers, one for each request of the agent: two calls at once, a failing command, long results, a picture,
    an edit, the test again."""
    old, new = "    return a - b", "    return a + b"
    both = (program.read("calc.py"), program.read("test_calc.py"))
    return [
        Step(text="I look at both files. ", thinking="I have to read first.", calls=both, tokens=_TOKENS),
        Step(text="", thinking="Now the test.", calls=(program.shell("python3 test_calc.py"),), tokens=_TOKENS),
        Step(text="", calls=(program.shell("cat log.txt"), program.read("log.txt")), tokens=_TOKENS),
        *([Step(text="", calls=(program.look("picture.png"),), tokens=_TOKENS)] if program.has_images else []),
        Step(text="Found it. ", thinking=THOUGHT, calls=(program.edit("calc.py", old, new),), tokens=_TOKENS),
        Step(text="", calls=(program.shell("python3 test_calc.py"),), tokens=_TOKENS),
        Step(text=DONE, tokens=_TOKENS),
    ]


def model(told: list[Step], faults: dict[int, Step]) -> Callable[[Recorded], Step | None]:
    """Chooses the step for a request by the calls that its conversation holds, so that a request that comes again gets the
    same answer. ``faults`` are answers by the number of the step, each given once before the right one."""

    def choose(recorded: Recorded) -> Step | None:
        if recorded.path.endswith(("count_tokens", "input_tokens", ":countTokens")):
            return None
        seen = read(recorded)
        if not seen.tools:
            # A small question beside the task: a title for it, a choice of the model.
            return Step(text='{"title": "Calc"}')
        calls, number = len(seen.parts("call")), 0
        while calls > 0 and number < len(told) - 1:
            calls -= len(told[number].calls)
            number += 1
        return faults.pop(number, None) or told[number]

    return choose
