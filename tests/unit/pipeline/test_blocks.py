"""Prompt Blocks put texts and the caller's conversation into one conversation."""

from collections.abc import Sequence
from copy import copy
from typing import Any, cast

import pytest

from agentui.chat.messages import Message, ToolCall, ToolResult
from agentui.chat.request import ChatRequest, WireRequest
from agentui.jsonio import Json
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.node import Build
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.blocks import Block, BlockList, Found
from agentui.pipeline.nodes.model.provider_call import ProviderCall
from tests.unit.pipeline.parts import VENDORS, Ear, compiled, make_incoming, make_run

TALK = make_incoming(
    {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Caller's rules."},
            {"role": "user", "content": "One"},
            {"role": "assistant", "content": "Two"},
            {"role": "user", "content": "Three"},
        ],
    }
)
OPENAI_TOOLS = make_incoming(
    {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Look"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "Seen"},
            {"role": "user", "content": "And?"},
        ],
    }
)
CLAUDE_TOOLS = make_incoming(
    {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Look"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Seen"}]},
            {"role": "assistant", "content": "I see."},
        ],
    },
    "/v1/messages",
)
GEMINI_TOOLS = make_incoming(
    {
        "contents": [
            {"role": "user", "parts": [{"text": "Look"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"a": 1}}}]},
            {"role": "model", "parts": [{"text": "I see."}]},
        ]
    },
    "/v1beta/models/m:generateContent",
)
PLAN = compiled([{"id": "n1", "type": "SetVars"}])


def text(role: str, words: str, **more: Json) -> Json:
    return {"kind": "text", "role": role, "text": words, **more}


def history(**more: Json) -> Json:
    return {"kind": "history", **more}


def composed(blocks: Sequence[Json], incoming: Incoming = TALK, **variables: Json) -> tuple[Message, ...]:
    """The conversation that the blocks describe."""
    build = Build("n1")
    made = BlockList([Block.model_validate(block) for block in blocks], build)
    assert not build.problems
    run = make_run(PLAN, incoming)
    run.frame.run_vars = dict(variables)
    ctx = NodeContext(run, "n1", "ProviderCall", None)
    return made.compose(ctx, ctx.scope(), Found())


def said(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


def test_without_blocks_the_conversation_is_the_callers_own() -> None:
    assert composed([]) == TALK.chat.messages


def test_with_every_block_disabled_the_conversation_is_the_callers_own() -> None:
    assert composed([text("system", "Off.", enabled=False)]) == TALK.chat.messages


SYSTEM_ONLY = [text("system", "Be kind."), history(enabled=False)]


@pytest.mark.parametrize(
    ("config", "warned"),
    [
        ({"blocks": SYSTEM_ONLY}, ["blocks.no_conversation"]),
        ({"blocks": [text("assistant", "I say"), text("user", "Off", enabled=False)]}, ["blocks.no_conversation"]),
        ({"blocks": [*SYSTEM_ONLY, history()]}, []),
        ({"blocks": [*SYSTEM_ONLY, text("user", "Say this.")]}, []),
        ({"blocks": [text("system", "Off", enabled=False)]}, []),
        ({"blocks": SYSTEM_ONLY, "template": "{}"}, []),
        ({}, []),
    ],
)
def test_blocks_without_the_conversation_are_warned_about_when_they_are_checked(config: Json, warned: list[str]) -> None:
    node: Json = {"id": "n1", "type": "ProviderCall", "config": config}
    found = compiled([node]).warnings
    assert [(problem.code, problem.node, problem.field) for problem in found] == [(code, "n1", "blocks") for code in warned]


def test_texts_stand_around_the_history_in_order() -> None:
    assert said(composed([text("system", "Before."), history(), text("user", "After.")])) == [
        ("system", "Before."),
        ("system", "Caller's rules."),
        ("user", "One"),
        ("assistant", "Two"),
        ("user", "Three"),
        ("user", "After."),
    ]


def test_disabled_blocks_are_left_out() -> None:
    assert said(composed([text("system", "Off.", enabled=False), text("user", "On.")])) == [("user", "On.")]


def test_blocks_stand_in_the_order_of_their_numbers() -> None:
    blocks = [text("user", "c", order=3), text("user", "a", order=1), text("user", "b", order=2)]
    assert said(composed(blocks)) == [("user", "a"), ("user", "b"), ("user", "c")]


def test_blocks_of_one_number_keep_their_place() -> None:
    assert said(composed([text("user", "a", order=5), text("user", "b", order=5)])) == [("user", "a"), ("user", "b")]


def test_a_text_is_a_template_that_sees_variables_and_request() -> None:
    assert said(composed([text("user", "[[NAME]]: {{ chat.last_user }} ({{ CFG }})")], NAME="Ann", CFG={"a": [1]})) == [
        ("user", 'Ann: Three ({"a":[1]})')
    ]


@pytest.mark.parametrize("words", ["", "  \n ", "{{ nothing }}", "[[VAR:nothing]]"])
def test_a_text_that_renders_to_nothing_is_left_out(words: str) -> None:
    assert said(composed([text("system", words), text("user", "x")])) == [("user", "x")]


def test_what_the_caller_wrote_is_never_a_template() -> None:
    hostile = make_incoming({"model": "m", "messages": [{"role": "user", "content": "{{ model }} [[VAR:model]]"}]})
    assert said(composed([history(), text("user", "{{ chat.last_user }}")], hostile)) == [
        ("user", "{{ model }} [[VAR:model]]"),
        ("user", "{{ model }} [[VAR:model]]"),
    ]


def test_history_keeps_every_part_of_the_callers_messages() -> None:
    messages = composed([history()], OPENAI_TOOLS)
    assert messages == OPENAI_TOOLS.chat.messages
    assert isinstance(messages[1].parts[-1], ToolCall)
    assert isinstance(messages[2].parts[0], ToolResult)


def test_history_may_go_without_the_callers_system_texts() -> None:
    assert ("system", "Caller's rules.") not in said(composed([history(system=False)]))


def test_the_last_messages_do_not_count_system_texts() -> None:
    assert said(composed([history(last=2)])) == [("system", "Caller's rules."), ("assistant", "Two"), ("user", "Three")]
    assert said(composed([history(last=1, system=False)])) == [("user", "Three")]


def test_more_last_messages_than_there_are_is_all_of_them() -> None:
    assert composed([history(last=100)]) == TALK.chat.messages


@pytest.mark.parametrize(
    ("incoming", "last", "kept"),
    [
        (OPENAI_TOOLS, 3, 3),
        (OPENAI_TOOLS, 2, 1),
        (CLAUDE_TOOLS, 3, 3),
        (CLAUDE_TOOLS, 2, 1),
        (GEMINI_TOOLS, 3, 3),
        (GEMINI_TOOLS, 2, 1),
    ],
)
def test_a_cut_history_never_begins_with_a_result_without_its_call(incoming: Incoming, last: int, kept: int) -> None:
    assert composed([history(last=last)], incoming) == incoming.chat.messages[-kept:]


def test_two_histories_may_stand_in_one_list() -> None:
    assert said(composed([history(last=1, system=False), text("assistant", "Hm."), history(last=1, system=False)])) == [
        ("user", "Three"),
        ("assistant", "Hm."),
        ("user", "Three"),
    ]


def test_a_broken_text_names_its_block() -> None:
    build = Build("n7")
    BlockList([Block(text="fine"), Block(text="{{ broken")], build)
    assert [(problem.node, problem.field) for problem in build.problems] == [("n7", "blocks.1.text")]


@pytest.mark.parametrize(
    ("blocks", "whole"),
    [
        ([], True),
        ([history()], True),
        ([history(last=3)], False),
        ([history(system=False)], False),
        ([text("user", "x")], False),
    ],
)
def test_only_the_untouched_history_counts_as_whole(blocks: Sequence[Json], whole: bool) -> None:
    made = BlockList([Block.model_validate(block) for block in blocks], Build("n1"))
    assert made.is_whole_history is whole


ITEMS = make_incoming({"model": "m", "input": [{"role": "user", "content": "Hi"}]}, "/v1/responses")


class Parsed:
    """A dialect that counts how often it takes a request apart."""

    def __init__(self) -> None:
        self.times = 0

    def parse_request(self, wire: WireRequest) -> ChatRequest:
        self.times += 1
        return VENDORS[wire.vendor].parse_request(wire)


@pytest.mark.parametrize("incoming", [TALK, CLAUDE_TOOLS, GEMINI_TOOLS, ITEMS])
@pytest.mark.parametrize(
    ("blocks", "times"),
    [([], 0), ([{"kind": "history"}], 0), ([{"text": "Be brief."}, {"kind": "history"}, {"kind": "history", "last": 1}], 1)],
)
async def test_a_conversation_is_taken_apart_once_and_only_where_blocks_change_it(
    incoming: Incoming, blocks: list[Json], times: int
) -> None:
    parsed = Parsed()
    incoming = copy(incoming)
    incoming.release()
    assert incoming.wire is not None  # is read again
    incoming.vendors = cast(Any, dict.fromkeys(VENDORS, parsed))
    plan = compiled([{"id": "n1", "type": "ProviderCall", "config": {"base_url": "https://x.example", "blocks": blocks}}])
    node = plan.nodes[0].node
    assert isinstance(node, ProviderCall)
    await node.assemble(NodeContext(make_run(plan, incoming), "n1", "ProviderCall", Ear()))
    assert parsed.times == times
