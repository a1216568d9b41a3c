"""Sections of a prompt that met the same fate one after another: what a prompt's report tells is made of these, so that the
hundreds of messages of a history are looked at once and not once for each of its tables."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from agentui.prompt.prepared import PromptSection


class SectionRun(NamedTuple):
    """Messages of the history of one source and fate that stand one after another, or one other section. ``tokens`` are those
    of all ``size`` of them; the numbers are the least and the greatest of their floors, None where none has one."""

    first: PromptSection
    tokens: int
    size: int
    first_floor_no: int | None
    last_floor_no: int | None


def runs_of(sections: Iterable[PromptSection]) -> list[SectionRun]:
    """The sections as runs, in order."""
    return [_run(list(its)) for _, its in groupby(sections, _fate)]


def _fate(section: PromptSection) -> object:
    """What is the same for all sections of a run. Any other section is a run of its own."""
    return (section.source, section.kept, section.why) if section.group == "history" else section


def _run(sections: list[PromptSection]) -> SectionRun:
    numbers = [each.floor_no for each in sections if each.floor_no is not None]
    tokens = sum([each.tokens for each in sections])
    return SectionRun(sections[0], tokens, len(sections), min(numbers, default=None), max(numbers, default=None))
