"""What ``[[OUT1]]`` takes from a result."""

import pytest

from agentui.templating.core.values import best_text
from agentui.templating.hadtavern.template import TextLanguage
from tests.unit.templating.scopes import scope


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"choices": [{"message": {"content": "hi"}}]}, "hi"),
        ({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}, "ab"),
        ({"choices": [{"message": {"content": None, "tool_calls": [{"text": "no"}]}}]}, ""),
        ({"choices": [{"text": "old"}]}, "old"),
        (
            {
                "candidates": [
                    {"content": {"parts": [{"text": "hm", "thought": True}, {"text": "a"}, {"inlineData": {}}, {"text": "b"}]}}
                ]
            },
            "ab",
        ),
        (
            {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            "ab",
        ),
        ({"content": [{"type": "tool_use", "input": {}}]}, ""),
        (
            {
                "output": [
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                    {"type": "message", "content": [{"type": "output_text", "text": "a"}]},
                ]
            },
            "a",
        ),
        ({"result": {"choices": [{"message": {"content": "in"}}]}}, "in"),
        ({"result": {"choices": []}, "response_text": "said"}, "said"),
        ({"result": {"choices": []}, "response_text": ""}, ""),
        ({"result": {"error": "x", "text": "<html>"}}, "<html>"),
        ({"result": "text"}, "text"),
        ("text", "text"),
        ({"a": [{"b": 1}, {"content": ""}, {"text": "first"}], "text": None, "z": {"text": "second"}}, "first"),
        ({"a": {"type": "thinking", "text": "hm"}, "reasoning": {"text": "hm"}, "b": {"content": "yes"}}, "yes"),
        ({"vars": {"a": 1}}, ""),
        (None, ""),
        (5, ""),
        ([], ""),
        ([{"text": "x"}], "x"),
        ({"choices": "x", "candidates": None, "content": 5}, ""),
    ],
)
def test_best_text(result, text):
    assert best_text(result) == text


def test_a_deep_result_is_searched_without_recursion():
    result: dict = {"text": "bottom"}
    for _ in range(50_000):
        result = {"a": result}
    assert best_text(result) == "bottom"


def test_out1_means_node_n1_and_else_node_1():
    assert TextLanguage().compile("[[OUT1]]").render(scope(out={"n1": "a", "1": "b"})) == "a"
    assert TextLanguage().compile("[[OUT1]]{{ OUT1 }}[[VAR:OUT1]]").render(scope(out={"1": "b"})) == "bbb"
    assert TextLanguage().compile("[[OUT1]]").render(scope(out={})) == ""
