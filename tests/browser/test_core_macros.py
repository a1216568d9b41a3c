"""The editor finds the macros in each text of ``tests/fixtures/macros`` that the server finds; renaming, and completion."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentui.errors import Problem
from agentui.templating.core.problems import TemplateSyntaxError
from agentui.templating.hadtavern.filters import FILTERS
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.template import HadTavernTemplate, TextLanguage
from tests.browser.core import Evaluate

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures" / "macros").glob("*.json"))
LOCALES = Path(__file__).parents[2] / "static" / "locales"
CASES: list[dict[str, Any]] = [case for path in FIXTURES for case in json.loads(path.read_text(encoding="utf-8"))]


def compiled(case: dict[str, Any]) -> HadTavernTemplate[Any]:
    """The case's text, compiled by the server's engine."""
    if case["language"] == "json":
        return JsonLanguage(secrets=case["secrets"]).compile(case["text"])
    return TextLanguage(secrets=case["secrets"], prompt=case["prompt"]).compile(case["text"])


def place(text: str, problem: Problem) -> list[Any]:
    """A problem as the fixtures write it: its code, and its offset in characters."""
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: (problem.line or 1) - 1])
    return [problem.code, before + (problem.column or 1) - 1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["text"])[:40])
def test_the_server_reads_the_fixtures_so(case: dict[str, Any]) -> None:
    try:
        template = compiled(case)
    except TemplateSyntaxError as error:
        assert sorted(place(case["text"], problem) for problem in error.problems) == sorted(case["problems"])
        return
    assert case["problems"] == []
    assert [[macro.kind, macro.start, macro.end] for macro in template.macros] == case["macros"]
    assert sorted(template.reads.nodes) == case["reads"]
    assert sorted(template.reads.numbers) == case["short"]
    assert sorted(template.reads.names) == case["names"]


READ = """
const kinds = {"short-out": "best", curly: "expression"};
const tiers = ["global", "chat", "branch", "floor", "page"];
const sorted = (names) => [...new Set(names)].sort();
const isOut = ({name}) => /^OUT[0-9]{0,9}$/.test(name);
const isLookedUp = (path) => !isOut(path) && (path.name !== "vars" || (path.path.length === 2 && tiers.includes(path.path[1])));
return arg.map(({text, language}) => {
  const tokens = macros.tokenise(text, language);
  const characters = (offset) => [...text.slice(0, offset)].length;
  const paths = tokens.flatMap((token) => token.paths ?? []);
  const references = paths.flatMap((path) => path.reference ?? []);
  return {
    isWhole: tokens.map((token) => text.slice(token.from, token.to)).join("") === text,
    macros: tokens.filter((token) => token.kind !== "text")
      .map((token) => [kinds[token.kind] ?? token.kind, characters(token.from), characters(token.to)]),
    reads: sorted(references.map(({node}) => node)),
    short: sorted(references.filter(({style}) => style === "short").map(({node}) => node.slice(1))),
    names: sorted(paths.filter(isLookedUp).map(({name}) => name)),
  };
});
"""


@pytest.mark.browser
async def test_the_editor_reads_the_fixtures_so(core: Evaluate) -> None:
    assert len(CASES) > 150
    for case, read in zip(CASES, await core(READ, CASES), strict=True):
        assert read["isWhole"], case["text"]
        if not case["problems"]:
            assert {name: read[name] for name in ("macros", "reads", "short", "names")} == {
                name: case[name] for name in ("macros", "reads", "short", "names")
            }, case["text"]


@pytest.mark.parametrize("locale", ["en", "ru", "zh"])
def test_every_filter_has_its_words(locale: str) -> None:
    words = json.loads((LOCALES / locale / "code.json").read_text(encoding="utf-8"))
    assert {key for key in words if key.startswith("code.filter.")} == {f"code.filter.{name}" for name in ["default", *FILTERS]}


RENAMED = [
    ("{{ OUT.n1.x }} [[OUT:n1.y]] [[OUT1]]", "n1", "n7", "{{ OUT.n7.x }} [[OUT:n7.y]] [[OUT7]]"),
    (
        "[[OUT1]] {{ OUT1|upper }} [[VAR:OUT1]]",
        "n1",
        "plan",
        "[[OUT:plan.response_text]] {{ OUT.plan.response_text|upper }} [[VAR:OUT.plan.response_text]]",
    ),
    (
        '{{ OUT[\'n1\'].x }} {{ OUT["n1"] }} [[VAR:OUT["n1"].x]]',
        "n1",
        "b",
        '{{ OUT[\'b\'].x }} {{ OUT["b"] }} [[VAR:OUT["b"].x]]',
    ),
    ("{{ OUT.n1 }} [[OUT:n1]]", "n1", "-a-", "{{ OUT['-a-'] }} [[OUT:-a-]]"),
    ("{{ OUT[7].x }} {{ OUT.7.x }}", "7", "n1", "{{ OUT['n1'].x }} {{ OUT.n1.x }}"),
    ('{"a": "{{ OUT.n1.x|default(\\"OUT.n1\\") }}"}', "n1", "n2", '{"a": "{{ OUT.n2.x|default(\\"OUT.n1\\") }}"}'),
    ("{{ a|default(OUT.n1.x)|add(OUT.n1.y) }}", "n1", "n2", "{{ a|default(OUT.n2.x)|add(OUT.n2.y) }}"),
    ("OUT.n1 [[OUT.n1]] {{ out.n1 }} {{ x.OUT.n1 }}", "n1", "n2", "OUT.n1 [[OUT.n1]] {{ out.n1 }} {{ x.OUT.n1 }}"),
    ("{{ OUT.n1.x|nope }} {{ OUT.n1 + 1 }}", "n1", "n2", "{{ OUT.n2.x|nope }} {{ OUT.n1 + 1 }}"),
    ("{{ OUT.n11 }} [[OUT11]]", "n1", "n2", "{{ OUT.n11 }} [[OUT11]]"),
]


@pytest.mark.browser
async def test_renaming_follows_every_way_of_writing_a_node(core: Evaluate) -> None:
    results = await core(
        "return arg.map(([text, from, to]) => macros.rewriteReferences(text, new Map([[from, to]]), new Set([from])))",
        [list(case[:3]) for case in RENAMED],
    )
    assert results == [case[3] for case in RENAMED]
    # What was written anew reads the new node, for the server too.
    for (before, old, new, _), after in zip(RENAMED, results, strict=True):
        try:
            reads = TextLanguage().compile(before).reads.nodes
        except TemplateSyntaxError:
            continue
        assert TextLanguage().compile(after).reads.nodes == {new if node == old else node for node in reads}


COMPLETIONS: list[tuple[str, dict[str, Any] | None]] = [
    ("a [[|", {"kind": "square", "word": "", "path": [], "closed": False}),
    ("a [[RE|]]", {"kind": "square", "word": "RE", "path": [], "closed": True}),
    ("[[VAR:inc|", {"kind": "var", "word": "inc", "path": []}),
    ("[[VAR:incoming.headers.|]]", {"kind": "var", "word": "", "path": ["incoming", "headers"], "closed": True}),
    ("[[OUT:n1.re|]]", {"kind": "out", "word": "re", "path": ["n1"]}),
    ("[[SECRET:op|", {"kind": "secret", "word": "op"}),
    ("{{ |}}", {"kind": "curly", "word": "", "closed": True}),
    ("{{ params.te| }}", {"kind": "curly", "word": "te", "path": ["params"]}),
    ("{{ OUT.n1.us|", {"kind": "out", "word": "us", "path": ["n1"]}),
    ("{{ a|de|", {"kind": "filter", "word": "de"}),
    ("{{ a|default(b.c|", {"kind": "curly", "word": "c", "path": ["b"]}),
    ("{{ a|default('te|", None),
    ("{{ a }} b|", None),
    ("[[A]] b|", None),
    ("plain|", None),
]


@pytest.mark.browser
async def test_what_may_be_completed_is_told_by_what_stands_before(core: Evaluate) -> None:
    # The last | is the cursor.
    marked = [text.rsplit("|", 1) for text, _ in COMPLETIONS]
    found = await core("return arg.map(([a, b]) => macros.contextAt(a + b, a.length))", marked)
    for (text, expected), context in zip(COMPLETIONS, found, strict=True):
        if expected is None:
            assert context is None, text
            continue
        assert context is not None, text
        assert {name: context[name] for name in expected} == expected, text
        assert context["to"] - context["from"] == len(context["word"])
