"""A conversation of plain words in Claude's dialect, both ways: the short road past parts and blocks.

A message whose ``content`` is a string means the same to Claude as one with a single text block.
"""

from collections.abc import Sequence
from operator import eq

from agentui.chat.messages import Role
from agentui.chat.plain import PlainMessages
from agentui.jsonio import Json
from agentui.vendors.claude.blocks import plain_words
from agentui.vendors.claude.turns import OPENING_TEXT, Turns

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


def parse_plain(system: Json, messages: Sequence[Json]) -> PlainMessages | None:
    """The body's ``system`` and ``messages`` where they are roles and words alone, None where they hold more."""
    roles: list[Role] = []
    texts: list[str] = []
    raws: list[Json] = []
    if system is not None:
        text = _words(system)
        if text is None:
            return None
        roles.append("system")
        texts.append(text)
        raws.append({"system": system})
    for message in messages:
        if type(message) is not dict or len(message) != 2:
            return None
        name, content = message.get("role"), message.get("content")
        words = content if type(content) is str else _words(content)
        if not words or type(name) is not str or (role := _ROLES.get(name)) is None:
            return None
        roles.append(role)
        texts.append(words)
    raws.extend(messages)
    return PlainMessages(roles, texts, raws, "claude")


def _words(content: Json) -> str | None:
    """The words of a string or of a lone text block that says nothing else; None for anything else."""
    if type(content) is str:
        return content or None
    return (plain_words(content[0]) or None) if type(content) is list and len(content) == 1 else None


def render_plain_turns(plain: PlainMessages, dropped: list[str]) -> Turns | None:
    """Another dialect's plain words as Claude's turns; None where some are blank, which Claude refuses."""
    roles, texts, turns = plain.roles, plain.texts, plain.easy()
    if any(map(str.isspace, texts)):
        return None
    system = ""
    if "system" in roles:
        begun = plain.leading
        said = [text for role, text in zip(roles, texts, strict=True) if role == "system"]
        dropped.extend(["messages.system_position"] * (len(said) - begun))
        system = "\n\n".join(said)
        turns = [turn for role, turn in zip(roles, turns, strict=True) if role != "system"]
        roles = [role for role in roles if role != "system"]
    turns = _merged(turns) if any(map(eq, roles, roles[1:])) else [*turns]
    if not turns or turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": OPENING_TEXT})
    may_think = turns[-1]["role"] == "user"
    if not may_think:
        turns[-1] = _trimmed(turns[-1])
    return Turns(system, turns, (), may_think)


def _merged(messages: Sequence[Json]) -> list[Json]:
    """Neighbours of one role as one turn of several blocks."""
    turns: list[Json] = []
    for message in messages:
        if not turns or turns[-1]["role"] != message["role"]:
            turns.append(message)
            continue
        last = turns[-1]["content"]
        blocks = last if isinstance(last, list) else [_block(last)]
        turns[-1] = {"role": message["role"], "content": [*blocks, _block(message["content"])]}
    return turns


def _trimmed(turn: Json) -> dict[str, Json]:
    """A closing assistant turn (a prefill) without the trailing whitespace that Claude refuses."""
    content = turn["content"]
    if isinstance(content, str):
        return {"role": "assistant", "content": content.rstrip()}
    return {"role": "assistant", "content": [*content[:-1], _block(content[-1]["text"].rstrip())]}


def _block(text: str) -> dict[str, Json]:
    """A text block."""
    return {"type": "text", "text": text}
