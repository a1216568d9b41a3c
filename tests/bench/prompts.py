"""``python -m tests.bench.prompts``: what making a prompt costs before a model is called.

A preset of 60 prompts, a lorebook of a thousand entries, 200 regex scripts and a chat of 500 messages, some 440 KB: first and
later turns, alone and beside four threads that compute; what scripts alone cost beside the package's own searches; and a text
of 20 KB with 300 macros.
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from string import ascii_lowercase
from threading import Event, Thread
from time import thread_time

from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.assets.lorebook import BoundBook, Lorebook
from agentui.assets.persona import Persona
from agentui.assets.preset import PromptPreset
from agentui.assets.script import BoundScript, RegexScript
from agentui.jsonio import Json
from agentui.prompt.assembly import assemble
from agentui.prompt.history import HistoryEntry
from agentui.prompt.prepared import PreparedTurn, PromptInput, TurnMessage
from agentui.prompt.preview import preview_text
from agentui.regexes.replacing import compile_find
from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import MacroScope

PROMPTS, ENTRIES, SCRIPTS, MESSAGES, WORDS, ROUNDS, THREADS = 60, 1000, 200, 500, 135, 7, 4
RANDOM = Random(25)
VOCABULARY = ["".join(RANDOM.choices(ascii_lowercase, k=RANDOM.randint(2, 10))) for _ in range(6000)]
WEIGHTS = [1 / (place + 3) for place in range(len(VOCABULARY))]
FINDS: tuple[Callable[[str], str], ...] = (
    lambda word: rf"/<{word}>[\s\S]*?<\/{word}>/gi",
    lambda word: rf"/\b{word}\b/gi",
    lambda word: rf"/\[{word}:(.*?)\]/g",
    lambda word: rf"/{word}\s+(\w+)/g",
    lambda word: rf"/(?:{word}|{word}s)[.,!?]/gi",
    lambda word: word,
    lambda word: rf"/\*\*{word}\*\*/g",
    lambda word: rf"/^{word}: /gm",
    lambda word: rf"/<!--{word}[^]*?-->/g",
    lambda word: r"/\n+$/",
)


@dataclass(frozen=True)
class Facts:
    """A session as the assembly reads it."""

    character_snapshot: dict[str, Json] | None = None
    user_snapshot: dict[str, Json] | None = None
    metadata: dict[str, Json] = field(default_factory=lambda: {"world_info_depth": 4, "world_info_recursive": True})
    prompt_mode: str | None = None
    model_name: str | None = "bench"


def main() -> None:
    """Print a line for each case."""
    history = [_entry(number) for number in range(MESSAGES)]
    print(f"{MESSAGES} messages, {sum(len(entry.text) for entry in history) / 1000:.0f} KB")
    assets, plain = _assets(_scripts()), _assets(())
    finds = [bound.script.find for bound in assets.scripts]
    print(
        f"{'compiling the scripts, of the package':45} {_milliseconds(lambda: [compile_find(find) for find in finds]):8.1f} ms"
    )
    patterns = [compile_find(find).compiled for find in finds]
    floor = _best(lambda: [pattern.search(entry.text) for entry in history for pattern in patterns])
    print(f"{'searching by them, of the package':45} {floor:8.1f} ms")
    for name, some in (("without scripts", plain), ("whole", assets)):
        given = _given(history, some)
        print(f"{f'prompt {name}, first':45} {_milliseconds(lambda: assemble(given)):8.1f} ms")  # noqa: B023  # called at once
        print(f"{f'prompt {name}, later':45} {_best(lambda: assemble(given)):8.1f} ms")  # noqa: B023
    _print_load(history)
    text = _macro_text()
    run = MacroRun(_scope())
    print(f"{'20 KB with 300 macros':45} {_best(lambda: run.expand(text)):8.1f} ms")
    given = _given(history[:20], PromptAssets())
    print(f"{'preview of two words':45} {_best(lambda: preview_text(given, 'Hello {{user}}')):8.1f} ms")


def _print_load(history: list[HistoryEntry]) -> None:
    """The same scripts, new to this process, alone and beside threads that compute: the prompts are the same."""
    prompts: list[PreparedTurn] = []
    for name, threads in (("alone", 0), (f"beside {THREADS} threads", THREADS), ("again", THREADS)):
        given = _given(history, _assets(_scripts(again=threads > 0)))
        with _computing(threads):
            cost = _milliseconds(lambda: prompts.append(assemble(given)))  # noqa: B023
        left = sum(texts for trace, texts in prompts[-1].scripts.traces if trace.skipped == "timed_out")
        print(f"{f'200 scripts x 500 messages, {name}':45} {cost:8.1f} ms, left out: {left}")
    print(f"{'the same prompt':45} {len({prompt.prompt_digest for prompt in prompts}) == 1!s:>8}")


@contextmanager
def _computing(threads: int) -> Iterator[None]:
    """Other threads compute meanwhile, without the interpreter's lock."""
    ended = Event()
    data = bytes(4 * 1024 * 1024)

    def compute() -> None:
        while not ended.is_set():
            zlib.crc32(data)

    others = [Thread(target=compute) for _ in range(threads)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        ended.set()
        for other in others:
            other.join()


def _entry(number: int) -> HistoryEntry:
    text = " ".join(RANDOM.choices(VOCABULARY, WEIGHTS, k=WORDS))
    if number % 2:
        text = f'*{text[:40]}* "{text[40:120]}" {text[120:]}'
    role = "assistant" if number % 2 else "user"
    return HistoryEntry(f"f{number // 2}", number // 2, f"m{number}", f"p{number}", role, text)  # type: ignore[arg-type]


def _scripts(*, again: bool = False) -> tuple[BoundScript, ...]:
    """The scripts; ``again`` with other names of groups, so that nothing was kept of them."""
    random = Random(7)
    made = []
    for number in range(SCRIPTS):
        word = random.choice(VOCABULARY) if number % 7 == 0 else "".join(random.choices(ascii_lowercase, k=6))
        find = FINDS[number % len(FINDS)](word)
        content: dict[str, Json] = {
            "scriptName": str(number),
            "findRegex": find.replace("/", "/(?:)", 1) if again and find.startswith("/") else find,
            "replaceString": "<i>$1</i>",
            "placement": [1, 2],
            "promptOnly": True,
        }
        made.append(BoundScript(RegexScript.of(content)))
    return tuple(made)


def _assets(scripts: tuple[BoundScript, ...]) -> PromptAssets:
    random = Random(14)
    entries: dict[str, Json] = {
        str(uid): {"key": [_key(random) for _ in range(3)], "content": "Something of {{char}}, it is.", "order": uid}
        for uid in range(ENTRIES)
    }
    prompts: list[Json] = [
        {"identifier": f"p{number}", "content": f"Rule {number} of {{{{char}}}} and {{{{user}}}}. " * 5}
        for number in range(PROMPTS)
    ]
    order: list[Json] = [{"identifier": each["identifier"], "enabled": True} for each in prompts]
    order.insert(PROMPTS // 2, {"identifier": "chatHistory", "enabled": True})
    preset = PromptPreset.of({"prompts": prompts, "prompt_order": [{"character_id": 100001, "order": order}]})
    book = BoundBook(Lorebook.of({"name": "Bench", "entries": entries}), "chat", "bench")
    card = Character.of({"name": "Mira", "description": "{{char}} sails. " * 100, "personality": "calm"})
    return PromptAssets(card, Persona.of({"name": "Ann"}), preset, (book,), scripts)


def _key(random: Random) -> str:
    """A key: mostly one that nobody says."""
    return random.choice(VOCABULARY[2000:]) if random.random() < 0.1 else "".join(random.choices(ascii_lowercase, k=7))


def _given(history: list[HistoryEntry], assets: PromptAssets) -> PromptInput:
    return PromptInput(
        Facts(), _scope(), tuple(history), TurnMessage("And now?"), assets=assets, window=400_000, max_output_tokens=1000
    )


def _scope() -> MacroScope:
    return MacroScope("preview", datetime(2026, 3, 2, 15, 4, tzinfo=UTC), values={"char": "Mira", "user": "Ann"}, seed="bench")


def _macro_text() -> str:
    """20 KB with 300 macros of the usual kinds."""
    kinds = ("{{char}}", "{{user}}", "{{setvar::a::b}}", "{{getvar::a}}", "{{if {{getvar::a}} == b}}x{{else}}y{{/if}}")
    return " ".join(f"{kinds[number % len(kinds)]} and then some words, which say what is to be done." for number in range(300))


def _milliseconds(work: Callable[[], object]) -> float:
    """The thread's own processor time."""
    began = thread_time()
    work()
    return (thread_time() - began) * 1000


def _best(work: Callable[[], object]) -> float:
    return min(_milliseconds(work) for _ in range(ROUNDS))


if __name__ == "__main__":
    main()
