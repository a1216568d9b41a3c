"""The table of what models take, and what the dialects make of it."""

import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.capabilities import EFFORTS, Capabilities
from agentui.chat.messages import Message, Text, Thinking, text_message
from agentui.chat.request import ChatRequest, Params, ThinkingConfig, Tool, VendorName
from agentui.jsonio import Json, dumps_text, loads
from agentui.turns.live.generation import chat_of
from agentui.vendors.capabilities import TABLE, known_capabilities
from agentui.vendors.registry import VENDOR_TITLES, make_vendors

VENDORS = make_vendors()
LOOK = Tool("look", None, {"type": "object"})


def asked(vendor: VendorName, model: str, *messages: Message, **fields: Json) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The body that a request of nobody's dialect becomes, and what it lost."""
    wire = VENDORS[vendor].render_request(ChatRequest("agentui", model, messages or (text_message("user", "hi"),), **fields))
    return wire.body, wire.dropped


@pytest.mark.parametrize("model", ["claude-opus-4-7", "claude-opus-4.8", "claude-sonnet-5", "claude-opus-5-20270101"])
def test_new_claudes_take_no_sampling_and_think_adaptively(model: str) -> None:
    params = Params(temperature=0.5, top_p=0.9, top_k=5)
    body, dropped = asked("claude", model, params=params, thinking=ThinkingConfig("high"))
    assert not {"temperature", "top_p", "top_k"} & body.keys()
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "high"}
    assert dropped == ("temperature", "top_p", "top_k")


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-20250514", "claude-3-7-sonnet-latest"])
def test_older_claudes_think_by_a_budget_also_where_adaptive_was_meant(model: str) -> None:
    body, _ = asked("claude", model, thinking=ThinkingConfig(mode="adaptive"))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 4096}
    assert "output_config" not in body


def test_claudes_before_3_7_do_not_think() -> None:
    body, dropped = asked("claude", "claude-3-5-haiku-20241022", thinking=ThinkingConfig("high"))
    assert "thinking" not in body and dropped == ("thinking",)


@pytest.mark.parametrize(("model", "takes"), [("claude-opus-4-5", 1), ("claude-sonnet-4-6", 0), ("claude-opus-5", 0)])
def test_a_prefill_is_asked_for_in_words_where_it_is_refused(model: str, takes: int) -> None:
    body, dropped = asked("claude", model, text_message("user", "Once"), text_message("assistant", "upon a"))
    assert body["messages"][1] == {"role": "assistant", "content": [{"type": "text", "text": "upon a"}]}
    assert (len(body["messages"]) == 2) is bool(takes)
    assert (body["messages"][-1]["role"] == "assistant") is bool(takes)
    assert dropped == (() if takes else ("prefill",))


@pytest.mark.parametrize(
    ("model", "wished", "said"),
    [
        ("gpt-5", "none", None),
        ("gpt-5", "xhigh", "high"),
        ("gpt-5.1", "minimal", "low"),
        ("gpt-5.2", "none", "none"),
        ("gpt-5.6-terra", "minimal", "low"),
        ("gpt-5.6-terra", "max", "max"),
        ("o3", "minimal", "low"),
        ("some-local-model", "minimal", "minimal"),
    ],
)
@pytest.mark.parametrize("vendor", ["openai", "openai_responses"])
def test_efforts_are_those_that_the_model_takes(vendor: VendorName, model: str, wished: str, said: str | None) -> None:
    body, _ = asked(vendor, model, thinking=ThinkingConfig(wished, mode="disabled" if wished == "none" else "enabled"))
    assert body.get("reasoning_effort", body.get("reasoning", {}).get("effort")) == said


@pytest.mark.parametrize(
    ("model", "with_effort", "without"), [("gpt-5.4", None, None), ("gpt-5.6-sol", "none", "none"), ("gpt-5", "high", None)]
)
def test_chat_completions_take_tools_beside_an_effort_as_the_model_does(
    model: str, with_effort: str | None, without: str | None
) -> None:
    body, dropped = asked("openai", model, tools=(LOOK,), thinking=ThinkingConfig("high"))
    assert body.get("reasoning_effort") == with_effort
    assert dropped == (() if with_effort == "high" else ("thinking",))
    assert asked("openai", model, tools=(LOOK,))[0].get("reasoning_effort") == without
    assert asked("openai_responses", model, tools=(LOOK,), thinking=ThinkingConfig("high"))[0]["reasoning"]["effort"] == "high"


@pytest.mark.parametrize(
    ("vendor", "model", "member", "most"),
    [
        ("openai", "gpt-4o-mini", "max_tokens", 16_384),
        ("openai", "gpt-5", "max_completion_tokens", 128_000),
        ("openai_responses", "gpt-4.1", "max_output_tokens", 32_768),
        ("claude", "claude-opus-4-1", "max_tokens", 32_000),
    ],
)
def test_a_limit_is_at_most_the_models_own(vendor: VendorName, model: str, member: str, most: int) -> None:
    body, dropped = asked(vendor, model, params=Params(max_tokens=1_000_000))
    assert (body[member], dropped) == (most, ("max_tokens",))
    assert asked(vendor, model, params=Params(max_tokens=100))[1] == ()


def test_leading_system_texts_are_one_message_for_compatible_servers_only() -> None:
    front = (text_message("system", "A"), text_message("system", "B"))
    messages = (*front, text_message("user", "hi"), text_message("system", "C"))
    joined = [{"role": "system", "content": "A\n\nB"}, {"role": "user", "content": "hi"}, {"role": "system", "content": "C"}]
    assert asked("openai", "qwen3.5-32b", *messages) == ({"model": "qwen3.5-32b", "messages": joined}, ())
    assert [one["content"] for one in asked("openai", "gpt-4o", *messages)[0]["messages"]] == ["A", "B", "hi", "C"]
    marked, dropped = asked("openai", "qwen3.5-32b", *messages, differences={"system": "marked"})
    assert marked["messages"][1:] == [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "<system>\nC\n</system>"},
    ]
    assert dropped == ("messages.system_role",)


def test_what_the_node_says_counts_more_than_the_table() -> None:
    differences = {"refused": (), "prefill": True, "max_output": 10, "thinking": ("budget",)}
    body, _ = asked("claude", "claude-opus-5", params=Params(temperature=0.5), differences=differences)
    assert (body["temperature"], body["max_tokens"]) == (0.5, 10)


def test_an_answer_of_nothing_but_a_thought_does_not_end_a_conversation_with_claude() -> None:
    broken = Message("assistant", (Thinking("Hm", "sig", None, "claude"),))
    body, dropped = asked("claude", "claude-sonnet-4-5", text_message("user", "hi"), broken)
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    assert dropped == ("thinking",)
    going_on = Message("user", (Text("Go on"),))
    assert len(asked("claude", "claude-sonnet-4-5", text_message("user", "hi"), broken, going_on)[0]["messages"]) == 3


@given(st.lists(st.sampled_from(EFFORTS), unique=True), st.sampled_from(EFFORTS))
def test_the_nearest_effort_is_one_that_the_model_takes(efforts: list, wished: str) -> None:
    said = Capabilities(efforts=tuple(efforts)).nearest_effort(wished)
    assert said is None or said in efforts
    if wished in efforts:
        assert said == wished
    if wished == "none" or said != wished:
        assert said != "none" or wished == "none"


def test_every_row_is_of_dialects_and_fields_that_there_are() -> None:
    fields = set(Capabilities.__slots__)
    for row in loads(TABLE.read_bytes()):
        assert set(row["dialects"]) <= set(VENDOR_TITLES)
        assert row["takes"].keys() <= fields and row["takes"]
        assert known_capabilities(row["dialects"][0], "")


@pytest.mark.parametrize(
    ("vendor", "model", "told"),
    [
        ("openai", "local-model", {"logit_bias": {"50256": -100}, "banned_strings": ["shiver"]}),
        ("openai", "gpt-4o", {"logit_bias": {"50256": -100}}),
        ("openai", "gpt-5", {}),
        ("openai_responses", "gpt-4o", {}),
        ("claude", "claude-opus-4-1", {}),
        ("gemini", "gemini-2.5-flash", {}),
    ],
)
def test_a_bias_and_banned_strings_are_told_where_a_server_has_them(vendor: VendorName, model: str, told: Json) -> None:
    chat = chat_of([text_message("user", "Hi")], model, {"logit_bias": {"50256": -100}, "banned_strings": ["shiver"]})
    wire = VENDORS[vendor].render_request(chat)
    both = {"logit_bias", "banned_strings"}
    assert {name: value for name, value in wire.body.items() if name in both} == told
    assert set(wire.dropped) & both == both - told.keys()


SAMPLED = Params(top_k=40, min_p=0.05, repetition_penalty=1.1)


def test_compatible_servers_get_the_sampling_that_openai_does_not_have() -> None:
    body, dropped = asked("openai", "qwen3-32b", params=SAMPLED)
    assert (body["top_k"], body["min_p"], body["repetition_penalty"], dropped) == (40, 0.05, 1.1, ())


@pytest.mark.parametrize(
    ("vendor", "model", "taken"),
    [
        ("openai", "gpt-4o", set()),
        ("openai", "openai/gpt-5.2", set()),
        ("openai", "o3", set()),
        ("openai_responses", "gpt-4o", set()),
        ("claude", "claude-sonnet-4-5", {"top_k"}),
        ("gemini", "gemini-2.5-flash", {"topK"}),
    ],
)
def test_sampling_that_a_dialect_does_not_have_is_named(vendor: VendorName, model: str, taken: set[str]) -> None:
    body, dropped = asked(vendor, model, params=SAMPLED)
    told = {**body, **body.get("generationConfig", {})}
    assert told.keys() & {"top_k", "topK", "min_p", "repetition_penalty"} == taken
    assert set(dropped) == {"min_p", "repetition_penalty"} | (set() if taken else {"top_k"})


def test_sampling_that_changes_nothing_is_left_out_without_a_word() -> None:
    for vendor, model in (("openai", "gpt-4o"), ("claude", "claude-sonnet-4-5"), ("gemini", "gemini-2.5-flash")):
        assert asked(vendor, model, params=Params(min_p=0, repetition_penalty=1))[1] == ()


def test_a_long_name_is_not_kept_with_what_is_known_of_it():
    name = "gpt-5" + "x" * 1_000_000
    before = sys.getrefcount(name)
    assert known_capabilities("openai", name).object_root
    assert sys.getrefcount(name) == before


@pytest.mark.parametrize("name", ["repeat_penalty", "rep_pen"])
def test_a_local_servers_penalty_has_its_own_name(name: str) -> None:
    body, _ = asked("openai", "qwen3-32b", params=SAMPLED, differences={"penalty_name": name})
    assert (body[name], "repetition_penalty" in body) == (1.1, False)
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "repetition_penalty": 1.2}
    own = VENDORS["openai"].parse_request(VENDORS["openai"].read_request("/v1/chat/completions", {}, {}, body))
    sent = VENDORS["openai"].render_request(replace(own, differences={"penalty_name": name})).body
    assert (sent[name], "repetition_penalty" in sent) == (1.2, False)


@pytest.mark.parametrize("top_k", [0, -1])
def test_a_top_k_that_limits_nothing_is_told_to_local_servers_alone(top_k: int) -> None:
    for vendor, model in (("claude", "claude-sonnet-4-5"), ("claude", "claude-opus-5"), ("gemini", "gemini-2.5-flash")):
        body, dropped = asked(vendor, model, params=Params(top_k=top_k))
        assert "top_k" not in dumps_text(body) and "topK" not in dumps_text(body) and dropped == ()
    assert asked("openai", "qwen3-32b", params=Params(top_k=top_k))[0]["top_k"] == top_k
    for model in ("gpt-4o", "gpt-5"):
        assert asked("openai", model, params=Params(top_k=top_k)) == asked("openai", model, params=Params())
