"""What stands between the two lines of ``---`` at the head of a Markdown file: YAML, whose values are texts.

desc: "Say: how people talk"
when: >
  Before writing a scene
  with speech
alwaysLoad: yes
"""

import re

import yaml

from agentui.tools.vars.errors import InvalidVariable

MOST: int = 16 * 1024
"""Characters: reading YAML takes some ten microseconds for each."""
_FRONT = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_PLAIN = re.compile(r"[^\W_](?:[\w ,.;()!?/+=-]*[\w.,;)!?])?")
"""A text that is itself in YAML without quotes."""


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields of a file, by their names in small letters, and the text behind them. Raises InvalidVariable for what is no
    front matter."""
    front = _FRONT.match(text)
    if front is None:
        return {}, text
    if len(front[1]) > MOST:
        raise InvalidVariable("/", f"The lines between --- have at most {MOST} characters.")
    return _fields(front[1]), text[front.end() :]


def scalar(text: str) -> str:
    """A text as a YAML value in one line."""
    if _PLAIN.fullmatch(text):
        return text
    quoted: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=1_000_000)
    return quoted.rstrip("\n")


def _fields(source: str) -> dict[str, str]:
    try:
        # Of BaseLoader every value is a text, a list or an object, and nothing else is ever made.
        found = yaml.load(source, Loader=yaml.BaseLoader) or {}
    except (yaml.YAMLError, RecursionError) as error:
        return _lines(source, error)
    if not isinstance(found, dict):
        raise InvalidVariable("/", "The lines between --- are fields: a name, a colon and a text.")
    fields: dict[str, str] = {}
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InvalidVariable("/", f"{str(name)[:100]!r} holds no text.")
        fields[name.lower()] = value.strip()
    return fields


def _lines(source: str, error: Exception) -> dict[str, str]:
    """The fields of lines that are no YAML, a name and a text in each: ``desc: Note: this`` was written before it was YAML."""
    fields: dict[str, str] = {}
    for line in source.splitlines():
        name, colon, value = line.partition(":")
        if line.strip() and (not colon or not name.strip() or name != name.strip()):
            raise InvalidVariable("/", f"The lines between --- are no YAML: {str(error)[:300]}") from error
        if line.strip():
            fields[name.lower()] = value.strip()
    return fields
