"""What is kept of a prompt."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hypothesis import given as drawn
from hypothesis import strategies as st

from agentui.jsonio import Json, dumps, loads
from agentui.prompt.assembly import assemble
from agentui.prompt.explain import (
    LONGEST_TEXT,
    MOST_DIAGNOSTICS,
    MOST_SECTIONS,
    MOST_TRACES,
    PromptScope,
    explain_document,
    governance,
    section_stats,
    shown_sections,
)
from agentui.prompt.history import HistoryEntry
from agentui.prompt.macro_report import macro_report
from agentui.prompt.policy import resolve_policy
from agentui.prompt.prepared import PromptInput, PromptSection, TurnMessage
from agentui.prompt.section_runs import SectionRun, runs_of
from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import MacroScope, Phase

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SCOPE = PromptScope("s", "main", True, None, "main", "existing_branch")


@dataclass
class Facts:
    """A session."""

    character_snapshot: Mapping[str, Json] | None = None
    user_snapshot: Mapping[str, Json] | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    prompt_mode: str | None = None
    model_name: str | None = None


def section(name: str, source: str, tokens: int, *, group: str = "", kept: bool = True) -> PromptSection:
    return PromptSection(name, group or f"section:{name}", source, "system", name, tokens, kept, None if kept else "why")


def test_the_document_tells_all_of_a_prompt_and_survives_json() -> None:
    given = PromptInput(Facts(), MacroScope("assemble", NOW), message=TurnMessage("Hello!"))
    resolution = resolve_policy(None, {"delivery": {"no_assistant": True}})
    prepared = assemble(replace(given, policy=resolution.policy))
    document = explain_document(
        prepared, runs_of(prepared.sections), resolution, SCOPE, {"preset": None}, {"prompt_digest": prepared.prompt_digest}
    )
    assert loads(dumps(document)) == loads(dumps(loads(dumps(document))))
    assert set(document) == {
        "scope", "assets", "prompt_snapshot", "resolved_policy", "source_map", "trim_reasons", "excluded_sources",
        "history_texts",
        "section_stats", "governance", "diagnostics", "sections", "omitted_sections", "first_included_no", "macro", "memory",
    }  # fmt: skip
    assert document["scope"]["history_source_mode"] == "existing_branch"
    assert document["source_map"]["structure"]["mode"] == "branch_policy"
    assert document["source_map"]["history"] == {"source_branch_id": "main", "source_mode": "existing_branch"}
    assert [each["code"] for each in document["diagnostics"]] == ["derived_no_assistant_structure"]
    assert sum(each["token_count"] for each in document["section_stats"]) == sum(each.tokens for each in prepared.sections)


def test_a_long_chat_is_kept_in_bounds() -> None:
    texts = [section(f"{number}", "default", 3) for number in range(MOST_SECTIONS + 50)]
    system = "{{noop}}" * 400 + "x" * 3 * LONGEST_TEXT
    prepared = assemble(PromptInput(Facts(metadata={"system_prompt": system}), MacroScope("assemble", NOW)))
    document = explain_document(prepared, runs_of((*texts, *prepared.sections)), resolve_policy(), SCOPE, {}, {})
    assert len(document["sections"]) == MOST_SECTIONS
    assert document["omitted_sections"] == len(texts) + len(prepared.sections) - MOST_SECTIONS
    assert all(len(each["text"]) <= LONGEST_TEXT for each in document["sections"])
    assert len(document["macro"]["traces"]) <= MOST_TRACES


def test_what_macros_wrote_is_kept_in_bounds() -> None:
    system = "{{setvar::long::" + "x" * 3 * LONGEST_TEXT + "}}"
    prepared = assemble(PromptInput(Facts(metadata={"system_prompt": system}), MacroScope("assemble", NOW)))
    macro = explain_document(prepared, runs_of(prepared.sections), resolve_policy(), SCOPE, {}, {})["macro"]
    for [written] in (macro["mutation_preview"], macro["staged_mutations"]):
        assert (written["key"], written["value"]) == ("long", "x" * LONGEST_TEXT)


def test_an_odd_history_is_told_in_bounds() -> None:
    history = tuple(HistoryEntry(f"f{at}", at, f"m{at}", f"p{at}", "assistant", "ok") for at in range(MOST_DIAGNOSTICS + 50))
    prepared = assemble(PromptInput(Facts(), MacroScope("assemble", NOW), history=history))
    document = explain_document(prepared, runs_of(prepared.sections), resolve_policy(), SCOPE, {}, {})
    assert [each["code"] for each in document["diagnostics"]] == ["adjacent_assistant_floors"] * MOST_DIAGNOSTICS


def test_messages_of_one_fate_are_told_as_one() -> None:
    def said(number: int, why: str | None = None) -> PromptSection:
        made = section(f"history:{number}", "history", 10, group="history", kept=why is None)
        return replace(made, why=why, floor_no=number // 2, message_id=f"m{number}")

    sections = [
        section("main", "default", 5),
        *(said(n, "budget_exceeded") for n in range(1_000)),
        *map(said, range(1_000, 1_006)),
    ]
    main, left_out, sent = shown_sections(runs_of(sections))
    assert (main["name"], main["text"], main["tokens"], main["kept"], main["message_count"]) == ("main", "main", 5, True, 1)
    assert left_out == {
        "name": "history",
        "title": None,
        "group": "history",
        "source": "history",
        "role": None,
        "text": None,
        "is_cut": False,
        "tokens": 10_000,
        "kept": False,
        "why": "budget_exceeded",
        "first_floor_no": 0,
        "last_floor_no": 499,
        "message_count": 1_000,
    }
    assert (sent["kept"], sent["first_floor_no"], sent["last_floor_no"], sent["message_count"]) == (True, 500, 502, 6)


def test_tokens_are_counted_by_group_as_far_as_they_are_sent() -> None:
    sections = [
        section("main", "default", 5),
        section("history:1", "history", 7, group="history", kept=False),
        section("history:2", "history", 11, group="history"),
        section("history:3", "history", 13, group="history"),
    ]
    assert section_stats(runs_of(sections)) == [
        {"section_name": "main", "token_count": 5},
        {"section_name": "history", "token_count": 24},
    ]
    view = governance(runs_of(sections))
    assert view["mismatches"] == []
    assert view["entries"] == [
        {
            "source_kind": "default",
            "declared_level": "hard_required",
            "registered": True,
            "effective_retention": "fixed",
            "pinned": True,
            "prunable": False,
            "budget_groups": ["section:main"],
            "section_names": ["main"],
            "token_count": 5,
            "retained_token_count": 5,
            "pruned_token_count": 0,
        },
        {
            "source_kind": "history",
            "declared_level": "budget_prunable",
            "registered": True,
            "effective_retention": "budget_prunable",
            "pinned": False,
            "prunable": True,
            "budget_groups": ["history"],
            "section_names": ["history"],
            "token_count": 31,
            "retained_token_count": 24,
            "pruned_token_count": 7,
        },
    ]


def test_a_source_that_nobody_declared_is_told() -> None:
    [mismatch] = governance(runs_of([section("weather", "weather", 3)]))["mismatches"]
    assert (mismatch["code"], mismatch["source_kind"]) == ("unregistered_governed_source", "weather")


def test_macros_are_told_in_the_seeds_words() -> None:
    def told(phase: Phase, *, is_kept: bool) -> Json:
        run = MacroRun(MacroScope(phase, NOW))
        text = run.expand("{{.资产.金币=3}}{{getvar::资产}}{{nobody}}{{if 1}}a{{/if}}")
        assert text == '{"金币":"3"}{{nobody}}a'
        return macro_report(run.report, is_kept=is_kept)

    preview, kept = told("preview", is_kept=False), told("assemble", is_kept=True)
    assert preview["used_names"][:2] == ["setvar", "getvar"]
    assert preview["mutation_preview"][0] == {"kind": "set", "scope": "branch", "key": "资产", "value": '{"金币":"3"}'}
    assert preview["staged_mutations"] == []
    assert kept["staged_mutations"][0] == {**preview["mutation_preview"][0], "source_macro": "setvar"}
    assert preview["traces"][0] == {
        "macro_name": "setvar",
        "raw_text": "{{.资产.金币=3}}",
        "resolved_text": "",
        "phase": "preview",
        "source_kind": "macro",
    }
    assert preview["traces"][-1]["selected_branch"] == "then"
    codes = {warning["code"]: warning for warning in preview["warnings"]}
    assert codes["macro_preview_side_effect_suppressed"]["macro_name"] == "setvar"
    assert codes["macro_unknown"]["raw_text"] == "{{nobody}}"
    assert "macro_preview_side_effect_suppressed" not in {warning["code"] for warning in kept["warnings"]}
    assert {trace["phase"] for trace in kept["traces"]} == {"assemble"}


SOURCES = st.sampled_from(["history", "greeting", "main"])
WHYS = st.sampled_from([None, "budget_exceeded", "empty"])
NUMBERS = st.none() | st.integers(0, 9)


@drawn(st.lists(st.tuples(SOURCES, WHYS, NUMBERS, st.integers(0, 9)), max_size=12))
def test_runs_tell_what_each_section_alone_would(told: list[tuple[str, str | None, int | None, int]]) -> None:
    sections = []
    for at, (source, why, floor_no, tokens) in enumerate(told):
        group = "section:main" if source == "main" else "history"
        made = section(f"{source}:{at}", source, tokens, group=group, kept=why is None)
        sections.append(replace(made, why=why, floor_no=floor_no))
    runs = runs_of(sections)
    alone = [SectionRun(each, each.tokens, 1, each.floor_no, each.floor_no) for each in sections]
    for tell in (shown_sections, section_stats, governance):
        assert tell(runs) == tell(alone)
    assert len(shown_sections(runs)) <= len(runs) <= len(sections)
    assert sum(run.size for run in runs) == len(sections)
