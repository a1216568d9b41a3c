"""SillyTavern's macros: what each form gives, what it writes, what it warns of."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from agentui.templating.core.paths import MISSING
from agentui.templating.sillytavern import syntax
from agentui.templating.sillytavern.kept import KeptPieces
from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import Limits, MacroScope
from tests.unit.work import lines_run

NOW = datetime(2026, 3, 2, 15, 4, 5, tzinfo=UTC)
VALUES = {"user": "Ann", "char": "Bob", "description": "A friend of {{user}}", "lastMessage": "Hello {{char}}", "model": "m-1"}
LOCAL = {
    "gold": 5,
    "mood": "calm",
    "flag": False,
    "nothing": None,
    "assets": {"gold": 3, "the.sword": {"name": "剑"}, "list": [1, 2]},
    "flat.key": "flat",
    "flat": {"key": "nested"},
    "half": 2.5,
    "whole": 3.0,
}
GLOBAL = {"gold": 100, "account": {"balance": 7}}
CONTEXT = MacroScope(
    "assemble", NOW, values=VALUES, local=LOCAL, globals=GLOBAL, greetings=("Hi.", "Hey."), outlets={"lore": "L"}, seed="chat 1"
)


def run_of(**changes):
    return MacroRun(replace(CONTEXT, random=Random(7), **changes))


def expand(source, **changes):
    return run_of(**changes).expand(source)


def outcome(source, **changes):
    """The text, the warnings' codes and the writes."""
    run = run_of(**changes)
    text = run.expand(source)
    writes = [(each.kind, each.scope, each.key, each.value) for each in run.report.mutations]
    return text, [warning.code for warning in run.report.warnings], writes


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Hello {{user}} and {{ char }}!", "Hello Ann and Bob!"),
        ("{{USER}} {{userName}} {{assistantName}}", "Ann Ann Bob"),
        ("<USER> <bot> <Char> <CHARIFNOTGROUP>|<GROUP>|", "Ann Bob Bob Bob||"),
        ("{{{user}}}", "{Ann}"),
        ("{{ foo {{user}}", "{{ foo Ann"),
        ("a }} b {{ c", "a }} b {{ c"),
        ("{{// {{user}} }}x", "x"),
        ("{{//}} {{user}} {{///}}x", "x"),
        ("{{description}} {{lastMessage}}", "A friend of {{user}} Hello {{char}}"),
        (r"\{\{user\}\}", r"\{\{user\}\}"),
        ("a\r\n\n{{trim}}\n\nb", "ab"),
        ("a\n{{noop}}{{trim}}\nb", "a\nb"),
        ("[{{trim}}  x\n{{/trim}}]", "[x]"),
        ("{{newline}}{{newline::2}}|{{space::3}}|", "\n\n\n|   |"),
        ("{{reverse::abc}} {{reverse:abc}}", "cba cba"),
        ("{{time}} {{time_UTC+2}} {{time::UTC-03:30}}", "3:04 PM 5:04 PM 11:34 AM"),
        ("{{date}} {{weekday}} {{isodate}} {{isotime}}", "March 2, 2026 Monday 2026-03-02 15:04"),
        ("{{datetimeformat::YYYY [year] Do}}", "2026 year 2nd"),
        ("{{timeDiff::2026-03-04::2026-03-02}}", "in 2 days"),
        ("{{greeting}} {{greeting::1}} {{greeting::9}}|{{outlet::lore}}{{outlet::none}}", "Hi. Hey. |L"),
        ("{{banned::x}}{{isMobile}} {{hasExtension::tts}}", "false false"),
        ("{{roll::1d1}} {{roll:3d1+2}} {{roll 1}} |{{roll::x}}{{roll::0d}}|", "1 5 1 ||"),
        ("{{random::a}} {{random:b}} {{pick::c}}", "a b c"),
    ],
)
def test_what_is_only_read(source, text):
    assert expand(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{getvar::gold}} {{getvar gold}} {{.gold}} {{gold}}", "5 5 5 5"),
        ("{{getglobalvar::gold}} {{$gold}}", "100 100"),
        ("{{getvar::assets.gold}} {{.assets.gold}} {{$account.balance}}", "3 3 7"),
        ('{{getvar::assets["the.sword"].name}} {{.assets["the.sword"]}}', '剑 {"name":"剑"}'),
        ("{{.flat.key}}", "flat"),
        ("|{{.none}}|{{.assets.none.deeper}}|{{.nothing}}|", "||||"),
        ("{{.flag}} {{.half}} {{.whole}} {{.assets.list}}", "false 2.5 3 [1,2]"),
        ("{{hasvar::nothing}} {{varexists::none}} {{hasvar::assets.gold}}", "true false true"),
        ("{{hasglobalvar::gold}} {{globalvarexists::mood}}", "true false"),
    ],
)
def test_variables_are_read(source, text):
    assert outcome(source) == (text, [], [])


@pytest.mark.parametrize(
    ("source", "text", "writes"),
    [
        ("{{setvar::a::1}}{{.a}}", "1", [("set", "branch", "a", "1")]),
        ("{{setvar a hello you}}{{.a}}", "hello you", [("set", "branch", "a", "hello you")]),
        ("{{.a = x y }}{{.a}}", "x y", [("set", "branch", "a", "x y")]),
        ("{{setvar::a::{{user}}-{{.gold}}}}{{.a}}", "Ann-5", [("set", "branch", "a", "Ann-5")]),
        ('{{setvar::a::{"b":{"c":1}}}}{{.a}}', '{"b":{"c":1}}', [("set", "branch", "a", '{"b":{"c":1}}')]),
        ("{{setvar::a}}\n  {{user}} {{/setvar}}{{.a}}", "Ann", [("set", "branch", "a", "Ann")]),
        ("{{incvar::gold}} {{.gold++}} {{.gold--}}", "6 7 6", [("set", "branch", "gold", value) for value in ("6", "7", "6")]),
        ("{{incvar::new}}", "1", [("set", "branch", "new", "1")]),
        (
            "{{addvar::gold::0.5}}{{.gold += 1}}{{.gold}}",
            "6.5",
            [("set", "branch", "gold", "5.5"), ("set", "branch", "gold", "6.5")],
        ),
        ("{{.gold -= 2}}{{.gold}}", "3", [("set", "branch", "gold", "3")]),
        ("{{addvar::new::x}}{{addvar::new::1}}{{.new}}", "x1", [("set", "branch", "new", "x"), ("set", "branch", "new", "x1")]),
        (
            "{{$gold=1}}{{$gold += 2}}{{.gold}}/{{$gold}}",
            "5/3",
            [("set", "global", "gold", "1"), ("set", "global", "gold", "3")],
        ),
        ("{{setvar::assets.gold::9}}{{.assets.gold}}", "9", [("set", "branch", "assets", {**LOCAL["assets"], "gold": "9"})]),
        ("{{.bag.coins=1}}{{.bag}}", '{"coins":"1"}', [("set", "branch", "bag", {"coins": "1"})]),
        ("{{deletevar::gold}}|{{.gold}}|", "||", [("delete", "branch", "gold", MISSING)]),
        ("{{flushvar::flat.key}}{{.flat.key}}", "nested", [("delete", "branch", "flat.key", MISSING)]),
        ("{{deletevar::account.none}}", "", []),
    ],
)
def test_variables_are_written(source, text, writes):
    assert outcome(source) == (text, [], writes)


def test_a_path_written_leaves_the_stored_value_as_it_was():
    expand("{{.assets.gold=9}}{{deletevar::assets.list}}")
    assert LOCAL["assets"] == {"gold": 3, "the.sword": {"name": "剑"}, "list": [1, 2]}


def test_a_later_text_of_the_run_sees_what_an_earlier_one_wrote():
    run = run_of()
    assert [run.expand(source) for source in ("{{.gold}}{{.gold++}}", "{{.gold}}", "{{$gold}}")] == ["56", "6", "100"]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("user == Ann", True),
        ("{{user}} == 'Ann'", True),
        ('{{char}} != "Bob"', False),
        (".gold == 5.0", True),
        (".gold > 4 and .gold <= 5", True),
        ("$gold >= 100 or .none", True),
        (".mood contains al", True),
        (".mood startsWith 'x'", False),
        ("not .none", True),
        ("!.none", True),
        ("not not .gold", True),
        ("(0 or 1) and (1)", True),
        ("1e3 == 1000", None),
        ("{{getvar::e}} == 1000", True),
        ("OFF", False),
        (" False ", False),
        ("no", True),
        ("[]", None),
        ("", False),
        (".flag", False),
        ("'' == ''", True),
        (".assets.gold == 3", True),
        ("a == b == c", None),
        ("a b", None),
        ("a && b", None),
        ("a endsWith b", None),
        (".mood > 3", None),
        ("(a", None),
        ("'a", None),
        ("and", None),
    ],
)
def test_conditions(condition, holds):
    source = f"{{{{if {condition}}}}}yes{{{{else}}}}no{{{{/if}}}}"
    local = {**LOCAL, "e": "1e3"}
    assert expand(source, local=local) == (source if holds is None else "yes" if holds else "no")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{if 1}}a{{if 0}}b{{else}}c{{/if}}d{{else}}e{{/if}}", "acd"),
        ("{{if 0}}a{{/if}}b", "b"),
        ("{{IF 1}}a{{ELSE}}b{{/IF}}", "a"),
        ("{{if 1}} a {{/if}}", " a "),
        ("{{if 1}}a{{else}}b{{else}}c{{/if}}", "a"),
        ("{{if 0}}a{{else}}b{{else}}c{{/if}}", "b"),
        ("{{if::{{user}}::x}}{{if::0::y}}", "x"),
        ("{{if {{.gold++}} == 6}}{{.gold}}{{/if}}", "6"),
    ],
)
def test_ifs(source, text):
    assert expand(source) == text


@pytest.mark.parametrize(
    "source",
    [
        "{{if 0}}{{setvar::a::1}}{{/if}}",
        "{{if 1}}{{else}}{{setvar::a::1}}{{/if}}",
        "{{if 0 and {{setvar::a::1}}}}{{/if}}",
        "{{if 1 or {{setvar::a::1}}}}{{/if}}",
        "{{if {{setvar::a::1}} && 1}}{{/if}}",
        "{{if 1}}{{setvar::a::1}}",
        "{{// {{setvar::a::1}} }}",
        "{{setvar::a::1::2}}",
    ],
)
def test_what_is_not_reached_writes_nothing(source):
    assert outcome(source)[2] == []


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ("{{nobody}}", ["macro_unknown"]),
        ("{{nobody::x}}", ["macro_arg_arity_invalid"]),
        ("{{}}", []),
        ("{{getvar}}", ["macro_arg_arity_invalid"]),
        ("{{char::x}}", ["macro_arg_arity_invalid"]),
        ("{{getvar::a..b}}", ["macro_parse_failed"]),
        ("{{.assets[0]}}", ["macro_parse_failed"]),
        ("{{.assets['x}}", ["macro_parse_failed"]),
        ("{{.gold.x}}", ["macro_arg_type_invalid"]),
        ("{{.assets.list.x}}", ["macro_arg_type_invalid"]),
        ("{{.mood.x=1}}", ["macro_arg_type_invalid"]),
        ("{{incvar::mood}}", ["macro_arg_type_invalid"]),
        ("{{.mood -= 1}}", ["macro_arg_type_invalid"]),
        ("{{time::nowhere}}", ["macro_arg_type_invalid"]),
        ("{{$gold++}}", ["macro_unknown"]),
        ("{{$gold--}}", ["macro_unknown"]),
        ("{{.gold||=1}}", ["macro_unknown"]),
        ("{{.gold ??= 1}}", ["macro_unknown"]),
        ("{{.gold==1}}", ["macro_unknown"]),
        ("{{.=1}}", ["macro_unknown"]),
        ("{{if 1}}{{user}}", ["macro_scoped_block_unclosed"]),
        ("{{/if}}", ["macro_unmatched_closing_block"]),
        ("{{else}}", ["macro_unknown"]),
        ("{{if a && b}}{{user}}{{/if}}", ["macro_condition_unsupported"]),
        ("{{if a b}}{{user}}{{/if}}", ["macro_parse_failed"]),
        ("{{if .mood > 1}}{{user}}{{/if}}", ["macro_arg_type_invalid"]),
    ],
)
def test_what_cannot_be_replaced_stays_and_is_told(source, codes):
    assert outcome(source) == (source, codes, [])


def test_an_unknown_macro_keeps_its_shell_and_its_inside_is_replaced():
    assert expand("{{nobody::{{user}}::b {{char}}}}") == "{{nobody::Ann::b Bob}}"


def test_missing_values_are_empty_and_told_once_each_time_they_are_used():
    assert outcome("{{persona}}|{{systemPrompt}}") == ("|", ["macro_value_missing"], [])


def test_a_variable_with_a_readonly_name_loses():
    local = {"user": "a variable"}
    assert outcome("{{user}}", local=local) == ("Ann", ["macro_readonly_name_conflict"], [])
    assert outcome("{{.user}}", local=local) == ("a variable", [], [])


def test_a_pick_stays_in_its_chat_and_a_roll_comes_from_the_context():
    source = "{{pick::a::b::c::d}}{{pick::a::b::c::d}}"
    assert len({expand(source) for _ in range(5)}) == 1
    assert len({expand(source, seed=str(number)) for number in range(20)}) > 1
    assert int(expand("{{roll::2d6+3}}")) in range(5, 16)


def test_the_idle_time_is_told_as_a_person_says_it():
    assert expand("{{idle_duration}}", idle=timedelta(minutes=7)) == "7 minutes"


def test_an_import_replaces_nothing_and_a_commit_writes_nothing():
    assert outcome("{{user}}<USER>", phase="import") == ("{{user}}<USER>", ["macro_eval_phase_disallowed"], [])
    assert outcome("{{setvar::a::1}}{{user}}", phase="commit_consume") == ("Ann", ["macro_eval_phase_disallowed"], [])


@pytest.mark.parametrize("phase", ["preview", "dry_run"])
def test_a_preview_tells_of_each_write(phase):
    text, codes, writes = outcome("{{setvar::a::1}}{{.a}}", phase=phase)
    assert (text, codes, writes) == ("1", ["macro_preview_side_effect_suppressed"], [("set", "branch", "a", "1")])


def test_a_report_names_what_was_used_and_how_each_macro_came_out():
    run = run_of()
    run.expand("{{varexists::gold}}{{USER}}{{if 1}}x{{/if}}{{nobody}}")
    assert list(run.report.used) == ["hasvar", "user", "if"]
    assert [(trace.macro, trace.raw, trace.resolved, trace.source, trace.branch) for trace in run.report.traces] == [
        ("hasvar", "{{varexists::gold}}", "true", "macro", None),
        ("user", "{{USER}}", "Ann", "macro", None),
        ("if", "{{if 1}}x{{/if}}", "x", "if", "then"),
    ]


@pytest.mark.parametrize(
    ("source", "limits", "code"),
    [
        ("{{.a++}}{{user}}{{user}}", Limits(steps=2), "macro_step_limit_exceeded"),
        ("{{.a++}}{{user}}{{user}}", Limits(length=5), "macro_expanded_length_limit_exceeded"),
        ("{{setvar::a::xx}}" + "{{setvar::a::{{.a}}{{.a}}}}" * 40, Limits(), "macro_expanded_length_limit_exceeded"),
        ("{{.a++}}{{newline::99999999999}}", Limits(), "macro_expanded_length_limit_exceeded"),
        ("{{.a++}}" + "x" * 100, Limits(length=50), "macro_expanded_length_limit_exceeded"),
        ("{{setvar::a::xxxxx}}" + "{{if .a contains y}}{{/if}}" * 9, Limits(looked=50), "macro_step_limit_exceeded"),
    ],
)
def test_a_text_over_a_limit_comes_back_whole_and_writes_nothing(source, limits, code):
    run = run_of(limits=limits)
    assert run.expand(source) == source
    assert [warning.code for warning in run.report.warnings] == [code]
    assert run.report.mutations == []
    assert run.views["branch"].written == {}


def test_a_write_over_the_limit_is_neither_kept_nor_seen():
    text, codes, writes = outcome("{{.a=1}}{{.b=1}}{{.c=1}}{{.d=1}}{{.b}}{{.c}}", limits=Limits(mutations=2))
    assert (text, codes) == ("1", ["macro_mutation_limit_exceeded"])
    assert [key for _, _, key, _ in writes] == ["a", "b"]


def test_macros_too_deep_stay():
    deep = "{{reverse::" * 40 + "x" + "}}" * 40
    text, codes, _ = outcome(deep)
    assert codes == ["macro_depth_limit_exceeded"] and text == "{{reverse::" * 8 + "x" + "}}" * 8
    assert expand("{{if 1}}" * 20 + "x" + "{{/if}}" * 20) == "x"


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "{{" * n,
        lambda n: "}}" * n,
        lambda n: "{{a" * n + "}}" * n,
        lambda n: "{{if 1}}" * n,
        lambda n: "{{if 1}}" * n + "{{/if}}" * n,
        lambda n: "{{setvar::a}}" * n + "{{/setvar}}" * n,
        lambda n: "{{/if}}" * n,
        lambda n: "{{getvar::" + "a::" * n + "}}",
        lambda n: "{{if " + "(" * n + "1" + ")" * n + "}}x{{/if}}",
        lambda n: "{{if " + "not " * n + "1}}x{{/if}}",
        lambda n: "{{if " + "1 and " * n + "1}}x{{/if}}",
        lambda n: "{{if '" + "{{user}}" * n + "'}}x{{/if}}",
        lambda n: "{{.a" + ".b" * n + "=1}}",
        lambda n: "{{random:" + "a," * n + "}}",
        lambda n: "{{setvar " + "a " * n + "}}",
        lambda n: "x\n{{trim}}\n" * n,
        lambda n: "{{user}}{{trim}}" * n,
        lambda n: "{{.a=1}}{{.a}}" * n,
        lambda n: "<USER>" * n,
    ],
)
def test_work_grows_with_the_text(make):
    limits = Limits(steps=10**9, length=10**9)
    small, large = (lines_run(lambda n=n: expand(make(n), limits=limits)) for n in (400, 800))
    assert large <= 2.5 * small


@pytest.mark.parametrize("source", ["{{addvar::big::1e308}}", "{{.big += 1e308}}", "{{.low -= 1e308}}"])
def test_a_number_that_grows_too_large_is_not_written(source):
    run = run_of(local={"big": "1e308", "low": -1e308})
    assert run.expand(source) == source
    assert [each.code for each in run.report.warnings] == ["macro_arg_type_invalid"]
    assert run.report.mutations == []


def test_dice_count_for_the_work_that_they_are():
    run = run_of()
    source = "{{roll::9999d6}}" * 7
    assert run.expand(source) == source
    assert [each.code for each in run.report.warnings] == ["macro_expanded_length_limit_exceeded"]
    assert 5 <= int(run.expand("{{roll::5d6}}")) <= 30


def test_a_caller_cannot_make_a_pattern_of_a_time_long():
    run = run_of(values={"input": "[D" * 100_000})
    assert run.expand("{{datetimeformat::{{input}}}}") == "{{datetimeformat::{{input}}}}"
    assert [each.code for each in run.report.warnings] == ["macro_arg_type_invalid"]
    assert expand("{{datetimeformat::[on [D] [D]}}") == "[on D D"


def test_a_pattern_of_a_time_is_told_once_for_all_its_parts():
    pattern = "D LLLL " * 100
    assert lines_run(lambda: expand(f"{{{{datetimeformat::{pattern}}}}}")) < 20 * len(pattern)
    assert expand("{{datetimeformat::D LT}}") == "2 3:04 PM"


def test_an_object_in_a_condition_counts_for_its_length():
    run = run_of(local={"big": {"text": "x" * 600}, "word": "x" * 600}, limits=Limits(length=1_000))
    source = "{{if .big}}a{{/if}}{{if .big}}b{{/if}}"
    assert run.expand(source) == source
    assert [each.code for each in run.report.warnings] == ["macro_expanded_length_limit_exceeded"]
    assert run.expand("{{if .word}}a{{/if}}" * 9) == "a" * 9


def test_quotes_that_nobody_closes_are_searched_for_their_end_once(monkeypatch):
    searches = []

    class Quoted:
        def match(self, text, position, found=syntax._QUOTED):
            searches.append(position)
            return found.match(text, position)

    monkeypatch.setattr(syntax, "_QUOTED", Quoted())
    assert expand("{{.a" + '\\"' * 1_000 + "\\'" * 1_000 + "=1}}") == ""
    assert len(searches) == 2


@pytest.mark.parametrize(("key", "mutated"), [("bob's gold", "bob's gold"), ('a["x=y"]', "a"), ("a['it\\'s=']", "a")])
def test_an_operator_is_not_looked_for_within_quotes(key, mutated):
    run = run_of()
    run.expand("{{." + key + "=1}}")
    assert [each.key for each in run.report.mutations] == [mutated]


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("{{if user > 1}}{{char}}{{/if}}", ["user"]),
        ("{{if 0 and {{getvar::gold}}}}{{char}}{{/if}}", ["if"]),
        ("{{incvar::mood}}{{getvar::gold.a}}", []),
        ("{{if .gold.a}}x{{/if}}", []),
    ],
)
def test_names_are_told_of_what_took_part(source, used):
    run = run_of()
    run.expand(source)
    assert list(run.report.used) == used


def test_a_text_that_stays_names_nothing():
    run = run_of(limits=Limits(steps=2))
    run.expand("{{user}}")
    run.expand("{{user}}{{char}}{{model}}")
    assert list(run.report.used) == ["user"] and len(run.report.traces) == 1


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"""{{if .said == "a \"b\" \\"}}x{{/if}}""", "x"),
        (r"""{{if .said == 'a "b" \\'}}x{{/if}}""", "x"),
        (r"""{{if "\'" == "'"}}x{{/if}}{{if '\'' == "'"}}y{{/if}}""", "xy"),
        (r"""{{if "{{user}}\"" == 'Ann"'}}x{{/if}}""", "x"),
        (r"""{{if "{{.said}}" == .said}}x{{/if}}""", "x"),
        (r"""{{if "a\" == 1}}x{{/if}}""", r"""{{if "a\" == 1}}x{{/if}}"""),
    ],
)
def test_quotes_within_quotes_have_a_backslash(source, text):
    assert expand(source, local={"said": 'a "b" \\'}) == text


def test_a_value_that_is_its_own_macro_is_a_cycle():
    local = {"loop": "{{loop}}", "other": "{{.other}}", "fine": "{{char}}"}
    assert outcome("{{loop}}{{.other}}{{.fine}}", local=local)[:2] == (
        "{{loop}}{{.other}}{{char}}",
        ["macro_cycle_detected", "macro_cycle_detected"],
    )
    assert outcome("{{user}}", values={"user": "{{user}}"})[1] == ["macro_cycle_detected"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{reverse:a::b}}", "b::a"),
        ("{{reverse a::{{user}}}}", "nnA::a"),
        ("{{setvar x 1::2}}{{.x}}", "1::2"),
        ("{{if 1::yes}}{{user}}", "{{if 1::yes}}Ann"),
        ("{{reverse::a::b}}", "{{reverse::a::b}}"),
    ],
)
def test_what_follows_a_colon_or_a_space_is_one_argument(source, text):
    assert expand(source) == text


def test_parsed_texts_are_kept_until_they_are_too_many():
    kept = KeptPieces(most=100_000)
    first = kept.of("{{user}} 0")
    for number in range(1, 200):
        kept.of(f"{{{{user}}}} {number}")
        assert kept.of("{{user}} 0") is first
    last = kept.of("{{user}} 199")
    assert kept.of("{{user}} 199") is last and len(kept._kept) < 60
    assert kept.of("{{user}}" * 100) is not kept.of("{{user}}" * 100), "what would push out most others is not kept"
