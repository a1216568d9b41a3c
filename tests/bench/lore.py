"""``python -m tests.bench.lore``: what activating lorebooks costs.

A chat of five hundred messages of 60 words against a thousand entries with three keys each, all of which look at the whole
chat; then a thousand entries of which each brings in the next one.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from string import ascii_lowercase
from time import process_time

from agentui.assets.lorebook import BoundBook, Lorebook
from agentui.lore.activation import activate
from agentui.lore.compiled import compile_lore
from agentui.lore.given import LoreInput, LoreMessage, LoreSettings

ENTRIES, MESSAGES, WORDS, ROUNDS = 1000, 500, 60, 15


def main() -> None:
    """Print a line for each case."""
    random = Random(14)
    words = ["".join(random.choices(ascii_lowercase, k=random.randint(2, 10))) for _ in range(6000)]
    weights = [1 / (place + 3) for place in range(len(words))]
    messages = [LoreMessage(" ".join(random.choices(words, weights, k=WORDS)), "Ann") for _ in range(MESSAGES)]
    keys = [[_key(random, words) for _ in range(3)] for _ in range(ENTRIES)]
    book = _book([{"key": key, "content": "Something of it."} for key in keys])
    given = LoreInput([book], LoreSettings(depth=MESSAGES, budget=100), messages, max_context=10**6)
    ids = iter(range(ROUNDS))
    print(f"{'compiling':30} {_best(lambda: compile_lore([replace(book, id=str(next(ids)))], given.settings)):8.2f} ms")
    compile_lore([book], given.settings)
    began = process_time()
    activate(given)
    print(f"{'activating, first':30} {(process_time() - began) * 1000:8.2f} ms")
    print(
        f"{'activating, in later turns':30} {_best(lambda: activate(given)):8.2f} ms, {len(activate(given).activated)} entries"
    )
    chain = _book([{"key": [f"link{at}x"], "content": f"link{at + 1}x"} for at in range(ENTRIES)])
    linked = LoreInput([chain], LoreSettings(budget=100, is_recursive=True), [LoreMessage("link0x")], max_context=10**6)
    print(f"{'each entry by the one before':30} {_best(lambda: activate(linked)):8.2f} ms")


def _key(random: Random, words: list[str]) -> str:
    """A key: mostly one that nobody says, sometimes two words, sometimes a word of the chat."""
    chance = random.random()
    if chance < 0.1:
        return random.choice(words[2000:])
    if chance < 0.3:
        return f"{random.choice(words[500:])} {random.choice(words[500:])}"
    return "".join(random.choices(ascii_lowercase, k=random.randint(4, 9)))


def _book(entries: list[dict[str, object]]) -> BoundBook:
    return BoundBook(Lorebook.of({"name": "Bench", "entries": {str(uid): entry for uid, entry in enumerate(entries)}}))


def _best(work: Callable[[], object]) -> float:
    """The best of some rounds, in milliseconds of processor time."""
    times = []
    for _ in range(ROUNDS):
        began = process_time()
        work()
        times.append(process_time() - began)
    return min(times) * 1000


if __name__ == "__main__":
    main()
