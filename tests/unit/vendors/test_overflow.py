"""A conversation that is too long is known in every server's words, and told in every caller's."""

import pytest

from agentui.errors import UpstreamRefused
from agentui.jsonio import Json, dumps
from agentui.vendors.overflow import is_overflow, told_sizes
from agentui.vendors.registry import make_vendors

VENDORS = make_vendors()


def openai(message: str, **more: Json) -> Json:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}}


SAID: dict[str, tuple[str, int, Json, tuple[int, int] | None]] = {
    "openai": (
        "openai",
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            code="context_length_exceeded",
        ),
        (9000, 8192),
    ),
    "responses": (
        "openai_responses",
        400,
        openai("Your input exceeds the context window of this model.", code="context_length_exceeded"),
        None,
    ),
    "claude": (
        "claude",
        400,
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
        },
        (210_000, 200_000),
    ),
    "claude with its answer": (
        "claude",
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            },
        },
        (210_000, 200_000),
    ),
    "gemini": (
        "gemini",
        400,
        {
            "error": {
                "code": 400,
                "status": "INVALID_ARGUMENT",
                "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            }
        },
        (1_200_000, 1_048_576),
    ),
    "llama.cpp": (
        "openai",
        400,
        {
            "error": {
                "code": 400,
                "type": "exceed_context_size_error",
                "n_ctx": 8192,
                "message": "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
            }
        },
        (9000, 8192),
    ),
    "llama.cpp before": (
        "openai",
        500,
        {
            "error": {
                "code": 500,
                "type": "server_error",
                "message": "the request exceeds the available context size. try increasing the context size",
            }
        },
        None,
    ),
    "vllm": (
        "openai",
        400,
        openai(
            "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens "
            "and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens."
        ),
        (262_145, 262_144),
    ),
    "vllm's prompt": (
        "openai",
        400,
        openai("The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
        (9000, 8192),
    ),
    "sglang": (
        "openai",
        400,
        openai("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
        (9000, 8192),
    ),
    "lm studio": (
        "openai",
        400,
        {
            "error": "Trying to keep the first 9000 tokens when context the overflows. However, the model "
            "is loaded with context length of only 8192 tokens, which is not enough."
        },
        (9000, 8192),
    ),
    "lm studio's other": ("openai", 400, {"error": "Context size has been exceeded."}, None),
    "mistral": (
        "openai",
        400,
        {
            "object": "error",
            "type": "invalid_request_error",
            "code": "3051",
            "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        },
        (40_000, 32_768),
    ),
    "groq": (
        "openai",
        400,
        openai("Please reduce the length of the messages or completion.", code="context_length_exceeded"),
        None,
    ),
    "deepseek": (
        "openai",
        400,
        openai("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens."),
        (70_000, 65_536),
    ),
    "kimi": ("openai", 400, openai("Invalid request: Your request exceeded model token limit: 131072"), None),
    "xai": (
        "openai",
        400,
        {
            "code": "invalid-argument",
            "error": "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        },
        (140_000, 131_072),
    ),
    "openrouter": (
        "openai",
        400,
        openai("This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens."),
        (40_000, 32_768),
    ),
    "bedrock": ("claude", 400, {"message": "Input is too long for requested model."}, None),
    "ollama": ("openai", 400, openai("input length exceeds the context length"), None),
}
OTHERS = [
    ("openai", 429, openai("Request too large for gpt-4o: Limit 30000, Requested 90000 tokens per minute (TPM).")),
    (
        "openai",
        413,
        openai("Request too large for model in organization on tokens per minute (TPM): Limit 6000, Requested 9000"),
    ),
    ("openai", 400, openai("max_tokens is too large: 100000. This model supports at most 16384 completion tokens.")),
    ("claude", 400, {"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: 9 > 8, the most"}}),
    ("claude", 413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
    ("gemini", 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Invalid JSON payload received."}}),
]


def refused(vendor: str, status: int, body: Json) -> UpstreamRefused:
    return VENDORS[vendor].parse_error(status, {}, dumps(body))  # type: ignore[index]  # its names are literals


@pytest.mark.parametrize("name", SAID)
@pytest.mark.parametrize("caller", VENDORS)
def test_every_callers_agent_hears_it_in_the_words_that_it_knows(name: str, caller: str) -> None:
    vendor, status, body, sizes = SAID[name]
    error = refused(vendor, status, body)
    assert error.kind == "context_overflow"
    assert told_sizes(error.message) == sizes
    told = VENDORS[caller].render_error(error)  # type: ignore[index]
    assert told.status == 400
    match caller:
        case "claude":
            assert told.body["error"]["type"] == "invalid_request_error"
            known = ("prompt is too long", "input length and `max_tokens` exceed context limit")
            assert told.body["error"]["message"].startswith(known)
            if sizes is not None and vendor != "claude":
                assert f"{sizes[0]} tokens > {sizes[1]} maximum" in told.body["error"]["message"]
        case "gemini":
            assert told.body["error"]["status"] == "INVALID_ARGUMENT"
            assert told.body["error"]["message"].startswith("The input token count")
        case _:
            assert told.body["error"]["code"] == "context_length_exceeded"


@pytest.mark.parametrize(("vendor", "status", "body"), OTHERS)
def test_other_refusals_are_not_taken_for_it(vendor: str, status: int, body: Json) -> None:
    assert refused(vendor, status, body).kind != "context_overflow"


def test_a_long_message_takes_no_time() -> None:
    assert not is_overflow(400, "input tokens exceed " * 100_000)


def test_a_caller_of_the_same_dialect_gets_what_it_knows_as_it_came() -> None:
    for vendor, name in (("openai", "openai"), ("claude", "claude"), ("gemini", "gemini")):
        _, status, body, _ = SAID[name]
        assert VENDORS[vendor].render_error(refused(vendor, status, body)).body == body  # type: ignore[index]


@pytest.mark.parametrize(
    ("message", "sizes"),
    [
        ("prompt is too long: 190000 + 32000 > 200000", (222000, 200000)),
        ("context is 4,096 maximum, and 9,000 were sent", (9000, 4096)),
        ("9" * 4000, None),
        ("1," * 2000 + " maximum", None),
    ],
)
def test_sizes_are_whole_numbers(message: str, sizes: tuple[int, int] | None) -> None:
    assert told_sizes(message) == sizes
