"""Problems in the languages of the page: every code has words, and words name only facts that the server sends with it.

English is what the server says. The facts are read from the sources, from each place that makes a problem, so that a new one
cannot be forgotten.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from pydantic_core import ErrorType

from agentui.errors import InvalidPipeline, Problem
from agentui.pipeline.node import Catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.plans.compile import compile_plan

ROOT = Path(__file__).parents[1]
PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
CODES = frozenset(re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8"), re.M))
"""The codes of the table on the page about pipelines."""

RULES: Mapping[str, set[str]] = {
    **{f"{kind}_type": set() for kind in ("string", "int", "float", "bool", "list", "dict", "model")},
    **{rule: set() for rule in ("missing", "extra_forbidden", "int_from_float")},
    "literal_error": {"expected"},
    "greater_than": {"gt"},
    "greater_than_equal": {"ge"},
    "less_than": {"lt"},
    "less_than_equal": {"le"},
    "string_too_short": {"min_length"},
    "string_too_long": {"max_length"},
    "too_short": {"min_length"},
    "too_long": {"max_length"},
}
"""Reasons of ``spec.invalid`` that have words of their own, with the facts that pydantic gives with each."""


class Made(NamedTuple):
    """What one place in the sources makes: a problem of this code, with these facts, and the reason where it is a word."""

    code: str
    reason: str | None
    facts: frozenset[str]


@cache
def made() -> Sequence[Made]:
    """Every place in the sources that makes a problem whose code stands in the call."""
    found: list[Made] = []
    for path in sorted((ROOT / "agentui").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)):
            for call in (each for each in ast.walk(function) if isinstance(each, ast.Call)):
                code = code_of(call)
                if code is not None:
                    found += [Made(code, reason, facts) for reason, facts in facts_of(call, function)]
    return tuple(dict.fromkeys(found))


def code_of(call: ast.Call) -> str | None:
    """The code of the problem that a call makes; events of a run have names like codes, and are emitted."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "emit":
        return None
    texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    # ``_refuse`` of macros says the code only where it is another one.
    return next((text for text in texts if text in CODES), "template.syntax" if name == "_refuse" else None)


def facts_of(call: ast.Call, function: ast.AST) -> Iterator[tuple[str | None, frozenset[str]]]:
    """The facts of a call once for each reason: an object in the call, or the last that ``facts`` was made before it."""
    values = [*call.args, *(each.value for each in call.keywords)]
    facts: ast.expr | None = next((each for each in values if isinstance(each, ast.Dict)), None)
    if any(isinstance(each, ast.Name) and each.id == "facts" for each in values):
        facts = [value for line, name, value in assigned(function) if name == "facts" and line <= call.lineno][-1]
    if not isinstance(facts, ast.Dict):
        yield None, frozenset()
        return
    members = {key.value: value for key, value in zip(facts.keys, facts.values, strict=True) if isinstance(key, ast.Constant)}
    names = frozenset(str(name) for name in members)
    for reason in words_in(members["reason"], function) if "reason" in members else [None]:
        yield reason, names


def words_in(value: ast.expr, function: ast.AST) -> list[str | None]:
    """The words that an expression can be: itself, either side of a choice, what its name is given. None: it is another one."""
    match value:
        case ast.Constant(value=str(word)):
            return [word]
        case ast.IfExp():
            return [*words_in(value.body, function), *words_in(value.orelse, function)]
        case ast.Name():
            return [word for _, name, given in assigned(function) if name == value.id for word in words_in(given, function)]
    return [None]


def assigned(function: ast.AST) -> list[tuple[int, str, ast.expr]]:
    """Line, name and value of each assignment to a name, also to one of several names."""
    found: list[tuple[int, str, ast.expr]] = []
    for each in ast.walk(function):
        if not isinstance(each, ast.Assign | ast.AnnAssign) or each.value is None:
            continue
        for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
            pairs = [(target, each.value)]
            if isinstance(target, ast.Tuple) and isinstance(each.value, ast.Tuple):
                pairs = list(zip(target.elts, each.value.elts, strict=True))
            found += [(each.lineno, name.id, value) for name, value in pairs if isinstance(name, ast.Name)]
    return sorted(found, key=lambda one: one[0])


def words(locale: str) -> dict[str, str]:
    """The words for problems in a language, by code, or by code and reason."""
    said = json.loads((ROOT / "static" / "locales" / locale / "server.json").read_text(encoding="utf-8"))
    return {key.removeprefix("server.problem."): text for key, text in said.items() if key.startswith("server.problem.")}


def sent(key: str) -> frozenset[str]:
    """The facts that surely come with every problem which these words are for."""
    if key.startswith("spec.invalid."):
        return frozenset(RULES[key.removeprefix("spec.invalid.")])
    sets = [each.facts for each in made() if key in (each.code, f"{each.code}.{each.reason}")]
    return frozenset.intersection(*sets) if sets else frozenset()


def test_every_code_is_made_somewhere() -> None:
    """So the reading of the sources misses none."""
    assert {each.code for each in made()} == CODES
    assert Made("edge.unknown_port", None, frozenset({"type", "port", "ports"})) in made()
    assert Made("template.syntax", "unclosed", frozenset({"reason"})) in made()


@pytest.mark.parametrize("locale", ["ru", "zh"])
def test_every_problem_has_words_that_name_facts_that_are_sent(locale: str) -> None:
    told = words(locale)
    reasons = {f"{each.code}.{each.reason}" for each in made() if each.reason is not None}
    assert told.keys() == CODES | reasons | {f"spec.invalid.{rule}" for rule in RULES}
    assert RULES.keys() <= {*get_args(ErrorType)}
    unknown = {key: names for key, text in told.items() if (names := {*PLACEHOLDER.findall(text)} - sent(key))}
    assert unknown == {}


BROKEN = {
    "format": 1,
    "name": "broken",
    "answer": "gone",
    "nodes": [
        {"id": "a", "type": "ProviderCall", "config": {"provider": "openai", "model": "m", "base_url": "ftp://x", "nope": 1}},
        {"id": "a", "type": "Wait", "config": {"milliseconds": "soon"}},
        {"id": "b", "type": "Missing", "config": {}},
        {
            "id": "c",
            "type": "SetVars",
            "config": {"variables": [{"name": "OUT", "value": "{{ x|loud }} {{ y + 1 }} [[OUT:z.v]]"}]},
        },
        {"id": "d", "type": "Loop", "config": {"items": "[1]", "result": "none"}, "parent": "c"},
        {"id": "e", "type": "Break", "config": {}},
    ],
    "edges": [{"from": "c", "to": "nowhere"}, {"from": "e", "to": "c", "from_port": "odd"}, {"from": "a", "to": "b"}],
}


def problems_of(document: dict[str, object]) -> Sequence[Problem]:
    """What is wrong with a document."""
    with pytest.raises(InvalidPipeline) as refused:
        compile_plan("broken", document, Catalog(BUILTIN))
    return refused.value.problems


def test_facts_are_what_the_message_names() -> None:
    problems = problems_of(BROKEN)
    assert {"node.duplicate_id", "node.unknown_type", "answer.unknown", "loop.parent", "url.scheme"} <= {
        each.code for each in problems
    }
    assert {"template.unknown_filter", "template.syntax", "edge.unknown_node", "loop.outside"} <= {
        each.code for each in problems
    }
    for problem in problems:
        named = {name: fact for name, fact in problem.facts.items() if name != "reason"}
        for fact in named.values():
            assert all(str(one) in problem.message for one in (fact if isinstance(fact, (list, tuple)) else [fact])), problem


def test_a_field_that_does_not_fit_says_by_which_rule() -> None:
    node = {"id": "a", "type": "Loop", "config": {"mode": "sideways", "at_once": 0, "items": 3}}
    problems = problems_of({"format": 1, "name": "x", "nodes": [node], "edges": []})
    assert {each.field: each.facts["reason"] for each in problems} == {
        "mode": "literal_error",
        "at_once": "greater_than_equal",
        "items": "string_type",
    }
    assert [each.facts["ge"] for each in problems if each.field == "at_once"] == [1]
