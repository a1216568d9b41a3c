"""Example dialogues of a card: blocks that begin with ``<START>``, in which lines say who speaks.

Format: https://github.com/malfoyslastname/character-card-spec-v2/blob/main/spec_v1.md#mes_example
"""

import re
from collections.abc import Sequence
from typing import Final

from agentui.chat.messages import Message, Text
from agentui.prompt.drafts import Draft

_START: Final = re.compile("<START>", re.ASCII | re.IGNORECASE)
GROUP: Final = "section:dialogueExamples"


def blocks_of(examples: str) -> list[str]:
    """The dialogues of a text, which may begin without a separator.

    >>> blocks_of("{{user}}: Hi. <START> Ann: Oh.")
    ['{{user}}: Hi.', 'Ann: Oh.']
    """
    if not examples.strip() or examples == "<START>":
        return []
    parts = _START.split(examples)
    return [part.strip() for part in (parts[1:] if examples.startswith("<START>") else parts)]


def example_drafts(block: str, number: int, header: str, user: str, char: str) -> list[Draft]:
    """The messages of one dialogue, the ``header`` first: the system's, named after who speaks. Lines before anybody speaks
    belong to the first message; a dialogue in which nobody speaks has none."""
    speakers = (("example_user", user), ("example_assistant", char))
    drafts = [_draft(f"newExampleChat:{number}", "preset", header)]
    lines: list[str] = []
    spoken: tuple[str, str] | None = None

    def end() -> None:
        if spoken is not None:
            name, who = spoken
            text = "\n".join(lines).replace(f"{who}:", "", 1).strip()
            drafts.append(_draft(f"dialogueExamples:{number}-{len(drafts) - 1}", "examples", text, name, who))
            lines.clear()

    for line in block.split("\n"):
        speaker = next((each for each in speakers if line.startswith(f"{each[1]}:")), None)
        if speaker is not None and spoken is not None and speaker != spoken:
            end()
        spoken = speaker or spoken
        lines.append(line)
    end()
    return drafts


def _draft(section: str, source: str, text: str, name: str | None = None, speaker: str | None = None) -> Draft:
    return Draft(section, GROUP, source, Message("system", (Text(text),), name, speaker=speaker))


def affordable(blocks: Sequence[list[Draft]], left: int) -> int:
    """How many of the dialogues fit into ``left`` tokens, from the first on."""
    for number, block in enumerate(blocks):
        left -= sum(draft.tokens for draft in block)
        if left < 0:
            return number
    return len(blocks)
