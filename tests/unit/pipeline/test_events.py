"""An event shows what happened, small and without keys."""

from agentui.jsonio import loads
from agentui.pipeline.events import INLINE_LIMIT, RunEvent
from agentui.redaction import Redactor

SECRET = "sk-live-0123456789abcdef"


def redactor(*secrets: str) -> Redactor:
    known = Redactor()
    known.register(*secrets)
    return known


def test_an_event_tells_its_run_place_time_and_node() -> None:
    event = RunEvent("node.finished", 1.23456, "n1", {"text": "hi"})
    assert event.as_json("run_1", 4, Redactor()) == {
        "run": "run_1",
        "seq": 4,
        "type": "node.finished",
        "at_ms": 1234.56,
        "node": "n1",
        "data": {"text": "hi"},
    }


def test_an_event_without_node_or_data_has_neither() -> None:
    assert set(RunEvent("run.started", 0.0).as_json("r", 0, Redactor())) == {"run", "seq", "type", "at_ms"}


def test_large_data_is_summarised_with_a_link() -> None:
    event = RunEvent("node.finished", 0.0, "n1", {"text": "x" * INLINE_LIMIT})
    data = event.as_json("run_1", 7, Redactor())["data"]
    assert data["link"] == "/api/runs/run_1/events/7"
    assert data["bytes"] == INLINE_LIMIT + len('{"text":""}')
    assert data["summary"].startswith('{"text":"xxx')
    assert len(data["summary"]) == 500


def test_the_limit_counts_bytes() -> None:
    event = RunEvent("node.finished", 0.0, "n1", {"text": "д" * (INLINE_LIMIT // 2)})
    assert event.as_json("r", 0, Redactor())["data"]["bytes"] == INLINE_LIMIT + len('{"text":""}')


def test_whole_data_is_shown_to_who_asks_for_it() -> None:
    text = "x" * INLINE_LIMIT * 2
    assert RunEvent("node.finished", 0.0, "n1", {"text": text}).as_json("r", 0, Redactor(), whole=True)["data"] == {
        "text": text
    }


def test_no_secret_is_shown_whole_or_in_a_summary() -> None:
    for size in (0, INLINE_LIMIT):
        event = RunEvent("node.request", 0.0, "n1", {"url": f"https://x/?key={SECRET}", SECRET: [SECRET], "pad": "x" * size})
        for whole in (True, False):
            assert SECRET not in str(event.as_json("r", 0, redactor(SECRET), whole=whole))


def test_a_secret_with_quotes_is_found_in_json() -> None:
    secret = 'pass"word\\with'
    shown = RunEvent("node.request", 0.0, None, {"key": secret}).as_json("r", 0, redactor(secret))
    assert shown["data"] == {"key": "***"}


def test_a_secret_of_digits_inside_a_number_leaves_readable_text() -> None:
    shown = RunEvent("node.request", 0.0, None, {"n": 12345678, "s": "12345678"}).as_json("r", 0, redactor("12345678"))
    assert "12345678" not in str(shown)
    assert shown["data"] == {"text": '{"n":***,"s":"***"}'}


def test_the_data_itself_stays_as_it_was() -> None:
    data = loads(f'{{"key": "{SECRET}"}}')
    RunEvent("node.request", 0.0, None, data).as_json("r", 0, redactor(SECRET))
    assert data == {"key": SECRET}
