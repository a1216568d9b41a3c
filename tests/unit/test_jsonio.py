"""JSON goes in and out in one spelling, and nothing odd comes in."""

import json
import sys
import time
from types import FrameType

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui import jsonio
from agentui.jsonio import (
    MAX_DEPTH,
    MAX_OPENED,
    MAX_VALUES,
    InvalidJson,
    Json,
    count_values,
    dumps,
    dumps_pretty,
    dumps_text,
    loads,
    weigh,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_is_read_back_by_anybody(value: Json) -> None:
    assert json.loads(dumps(value)) == value


@given(st.recursive(st.integers(-(2**63), 2**64 - 1) | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=8))
def test_what_is_written_is_read_back(value: Json) -> None:
    assert loads(dumps(value)) == value == loads(dumps_text(value)) == loads(dumps_pretty(value))


def test_writing_is_compact_and_keeps_characters_as_they_are() -> None:
    assert dumps({"a": [1, "é\u2028"], "b": None}) == '{"a":[1,"é\u2028"],"b":null}'.encode()


def test_pretty_json_is_for_people() -> None:
    assert dumps_pretty({"a": [1]}) == b'{\n  "a": [\n    1\n  ]\n}\n'


def test_integers_of_any_size_keep_every_digit() -> None:
    assert dumps({"n": 2**200, "m": [-(2**100)]}) == b'{"n":%d,"m":[%d]}' % (2**200, -(2**100))


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63)])
def test_whole_numbers_of_64_bits_are_read_exactly_and_longer_ones_as_floats(number: int) -> None:
    assert loads(str(number)) == number and type(loads(str(number))) is int
    longer = number * 10
    assert type(loads(str(longer))) is float and loads(str(longer)) == float(longer)


def test_lone_surrogates_never_stop_an_answer() -> None:
    assert dumps({"a": "x\ud800y"}) == b'{"a":"x?y"}'


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'"\ud83d"', "\ufffd"),
        (r'"a\uDE00b"', "a\ufffdb"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (r'{"\ud800": "\\ud800 \u00e9\n"}', {"\ufffd": "\\ud800 é\n"}),
    ],
)
def test_half_a_character_is_read_as_the_mark_for_it(written: str, read: object) -> None:
    assert loads(written) == loads(written.encode()) == read


def test_not_a_number_is_never_written_as_such() -> None:
    assert dumps([float("nan"), float("inf")]) == b"[null,null]"
    with pytest.raises(ValueError):
        dumps([float("nan"), 2**100])


@pytest.mark.parametrize(
    "text", ["", "{", "NaN", "[Infinity]", "{'a': 1}", '{"a": 1,}', b'"\xff"', b"\xef\xbb\xbf{}", "1 2", "// x"]
)
def test_what_vendors_would_read_differently_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidJson):
        loads(text)


def test_a_mistake_is_placed() -> None:
    with pytest.raises(InvalidJson, match="line 2 column"):
        loads('{"a": 1,\n  oops}')


@pytest.mark.parametrize(
    "beside",
    ['""', f'"{"x" * 10_000}"', f"[{'1,' * 9_000}1]", "[" + '"{[",' * 2_000 + "1]"],
    ids=["short", "long", "wide", "wide with brackets in its texts"],
)
def test_nesting_has_a_limit_whatever_stands_beside(beside: str) -> None:
    deepest = MAX_DEPTH - 1
    assert loads(f"[{beside},{'[' * deepest}{']' * deepest}]") is not None
    with pytest.raises(InvalidJson, match="nested deeper than 100"):
        loads(f"[{beside},{'[' * MAX_DEPTH}{']' * MAX_DEPTH}]")


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_has_a_limit(opening: str, closing: str) -> None:
    inner = "1"
    assert loads(opening * MAX_DEPTH + inner + closing * MAX_DEPTH) is not None
    with pytest.raises(InvalidJson, match="nested deeper than 100"):
        loads(opening * (MAX_DEPTH + 1) + inner + closing * (MAX_DEPTH + 1))


def test_a_bomb_of_brackets_is_refused_at_once() -> None:
    with pytest.raises(InvalidJson):
        loads("[" * 1_000_000)


def test_brackets_in_texts_do_not_count() -> None:
    text = "[{" * 1000 + '\\"' + "[" * 1000
    assert loads(json.dumps([text, 'a"[', text])) == [text, 'a"[', text]


def test_wide_is_not_deep() -> None:
    assert len(loads(b"[" + b"[]," * 10_000 + b"[]]")) == 10_001


def _opened(value: Json) -> int:
    """The objects and lists in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict | list) + sum(map(_opened, inner))


TRICKY = st.recursive(
    st.text('[{"\\\n') | st.integers(-(2**63), 2**63 - 1),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('[{"\\', max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(TRICKY), st.integers(1, 9))
def test_objects_and_lists_are_counted_exactly_wherever_a_piece_ends(value: Json, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonio, "_AT_ONCE", piece)
        patch.setattr(jsonio, "MAX_OPENED", _opened(value))
        assert loads(dumps(value)) == value
        patch.setattr(jsonio, "MAX_OPENED", _opened(value) - 1)
        with pytest.raises(InvalidJson, match="objects and lists"):
            loads(dumps(value))


def test_a_prompt_may_quote_more_brackets_than_a_body_may_open() -> None:
    quoted = json.dumps([{"a": '"[{'}] * MAX_OPENED)
    assert loads(dumps({"content": quoted})) == {"content": quoted}
    with pytest.raises(InvalidJson, match="more than 250000 objects and lists"):
        loads(b"[" + b"{}," * MAX_OPENED + b"1]")


@given(
    st.lists(st.sampled_from(["\\ud83d", "\\ude00", "\\uDBFF", "\\\\", "\\n", '\\"', "a", "ud800", "\\u0041"]), max_size=8),
    st.integers(1, 40),
)
def test_halves_among_other_escapes_are_what_the_standard_library_reads(pieces: list[str], size: int) -> None:
    text = f'"{"".join(pieces)}"'
    expected = json.loads(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonio, "_AT_ONCE", size)
        assert loads(text) == expected


def _values(value: Json) -> int:
    """Values in others, the names of members, and the objects and lists; of each object and list one less, for it takes no
    comma."""
    if isinstance(value, dict):
        return 1 + 2 * len(value) - bool(value) + sum(map(_values, value.values()))
    return 1 + len(value) - bool(value) + sum(map(_values, value)) if isinstance(value, list) else 0


@given(st.lists(TRICKY), st.integers(1, 9))
def test_values_are_weighed_exactly_wherever_a_piece_ends(value: Json, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonio, "_AT_ONCE", piece)
        patch.setattr(jsonio, "_LITTLE", -1)
        assert sum(count_values(dumps(value))) == _values(value)


def test_a_prompt_may_quote_more_values_than_a_body_may_hold() -> None:
    assert weigh(dumps({"content": json.dumps(["a,b:"] * MAX_VALUES)})).values < MAX_VALUES
    assert weigh(dumps({"content": "," * (MAX_VALUES + 10_000)})).values == 2
    assert weigh(dumps(["a,b:"] * (MAX_VALUES + 2))).values > MAX_VALUES
    assert weigh(dumps(["a,b:"] * (MAX_VALUES - 2))).values < MAX_VALUES


BOOKS = st.dictionaries(st.text('[{"\\,é', max_size=3), TRICKY | st.just({"a": {}}), max_size=9) | st.lists(
    TRICKY | st.dictionaries(st.sampled_from("ab"), TRICKY) | st.just({"pages": [{"messages": [{}]}]}), max_size=9
)


@given(
    st.sampled_from(["entries", "floors"]),
    BOOKS,
    st.sampled_from([(), ("data",), ("character_book",), ("data", "character_book"), ("other",)]),
    st.dictionaries(st.sampled_from(["name", "entries", "floors", "data"]), TRICKY, max_size=2),
    st.integers(1, 60),
    st.sampled_from([None, 1]),
    st.none() | st.tuples(st.integers(0), st.sampled_from([b"", b",", b"}", b'"', b"\\", b" "])),
)
def test_entries_are_read_wherever_they_are_cut(
    member: str,
    book: Json,
    path: tuple[str, ...],
    beside: Json,
    piece: int,
    indent: int | None,
    damage: tuple[int, bytes] | None,
) -> None:
    """Also those that are broken: as the parser reads, or refuses, the whole."""
    document = {**beside, member: book, **{f"{name} ": value for name, value in beside.items()}}
    for name in reversed(path):
        document = {"spec": 1, name: document, "tags": []}
    raw = json.dumps(document, indent=indent, ensure_ascii=False).encode()
    if damage is not None:
        at = damage[0] % len(raw)
        raw = raw[:at] + damage[1] + raw[at + 1 :]
    read: list[Json] = []
    for apart in (len(raw) + 1, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jsonio, "_AT_ONCE", piece)
            patch.setattr(jsonio, "_ENTRIES_APART", apart)
            try:
                read.append(dumps(loads(raw)))
            except InvalidJson as refused:
                read.append(str(refused))
    assert read[0] == read[1]


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("form", ["book", "book of a card", "card", "chat"])
def test_no_piece_of_a_long_book_holds_the_parser_long(form: str, indent: int | None) -> None:
    """While it parses no other thread works: what it is given at once is counted, and not how long it takes."""
    entry = {"key": ["sea", "salt"], "extensions": {"a": {"b": []}}, "content": 'He said: {"a": {}}, and went.', "order": 1}
    entries: Json = [entry] * 20_000 if form == "card" else dict.fromkeys(map(str, range(20_000)), entry)
    document: Json = {"name": "Sea", "entries": entries, "extensions": {}}
    if form == "book of a card":
        document["originalData"] = {"entries": [entry] * 100}
    elif form == "card":
        document = {"spec": "chara_card_v3", "data": {"name": "Mira", "character_book": document, "tags": []}}
    elif form == "chat":
        said = {"role": "user", "content": entry["content"], "parts": [{"a": {}}, {"b": []}]}
        floor = {"pages": [{"page_no": number, "messages": [said]} for number in (0, 1)]}
        book = {"name": "Sea", "entries": {"0": entry}}
        document = {
            "spec": "thchat",
            "header": {"character": {"character_book": book}},
            "floors": [floor] * 10_000,
            "branches": [],
        }
    raw = json.dumps(document, indent=indent).encode()
    calls = 0

    def count(frame: FrameType, event: str, called: object) -> None:
        nonlocal calls
        calls += event == "c_call" and called is orjson.loads

    sys.setprofile(count)
    try:
        read = loads(raw)
    finally:
        sys.setprofile(None)
    assert read == document
    assert len(raw) / calls < 512 * 1024


@pytest.mark.parametrize(("member", "like"), [("floors", b"}]}]} "), ("entries", b"}}}}}}")])
def test_a_text_that_nobody_can_cut_is_not_searched_to_its_end(member: str, like: bytes) -> None:
    """A search holds everybody up as the parser does. In seconds of the processor, beside the same text under another name; it
    took five times as long."""
    text = b'": ["' + like * 2_000_000 + b'"]}'
    seconds: dict[str, float] = {}
    for name in (member, "other"):
        raw = b'{"' + name.encode() + text
        for _ in range(3):
            began = time.thread_time()
            loads(raw)
            spent = time.thread_time() - began
            seconds[name] = min(spent, seconds.get(name, spent))
    assert seconds[member] < 3 * seconds["other"]


def test_half_a_character_among_very_many_escapes_is_found_soon() -> None:
    """In seconds of the processor; looking at each escape in Python took three times as long as this allows."""
    text = b'"' + rb"\\" * 8_000_000 + rb"\ud800" + b'"'
    began = time.thread_time()
    assert loads(text)[-2:] == "\\\ufffd"
    assert time.thread_time() - began < 1.2


def test_a_control_character_stays_an_error_beside_half_a_character() -> None:
    with pytest.raises(InvalidJson):
        loads(b'"\x01\x01\\ud800"')
