"""What each upstream saw, read from the request that the mock recorded."""

import base64
import json
from collections.abc import Mapping
from typing import Any, Literal

from tests.matrix.neutral import Part, Seen
from tests.upstreams.gemini_shapes import GENERATE
from tests.upstreams.server import Recorded

Side = Literal["user", "assistant"]


def read(recorded: Recorded) -> Seen:
    """The request in no dialect; the path tells which one it is in."""
    readers = {
        "/v1/chat/completions": _openai,
        "/v1/responses": _responses,
        "/v1/messages": _claude,
    }
    return readers.get(recorded.path, _gemini)(recorded)


class _Turns:
    """Turns while they are read: neighbours of one side become one."""

    def __init__(self) -> None:
        self.turns: list[tuple[Side, list[Part]]] = []

    def add(self, side: Side, parts: list[Part]) -> None:
        if self.turns and self.turns[-1][0] == side:
            self.turns[-1][1].extend(parts)
        else:
            self.turns.append((side, list(parts)))


def _bytes_of(url: str) -> bytes | str:
    """The bytes of a data URL, any other URL as it is."""
    return base64.b64decode(url.partition(",")[2]) if url.startswith("data:") else url


def _joined(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


# --- OpenAI chat -----------------------------------------------------------------------------------------------------


def _openai(recorded: Recorded) -> Seen:
    body = recorded.body
    turns = _Turns()
    system = []
    for message in body["messages"]:
        match message["role"]:
            case "system" | "developer":
                system.append(_joined(message["content"]))
            case "tool":
                turns.add("user", [("result", message["tool_call_id"], None, _joined(message["content"]), False)])
            case "user":
                content = message["content"]
                parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
                turns.add("user", [_openai_part(part) for part in parts])
            case "assistant":
                turns.add("assistant", _openai_said(message))
    choice = body.get("tool_choice")
    form = body.get("response_format") or {}
    effort = body.get("reasoning_effort")
    stop = body.get("stop")
    return Seen(
        body["model"],
        body.get("stream") is True,
        "\n\n".join(system),
        turns.turns,
        [(f["name"], f.get("description"), f.get("parameters")) for f in (t[t["type"]] for t in body.get("tools", ()))],
        choice[choice["type"]]["name"] if isinstance(choice, dict) else choice,
        body.get("parallel_tool_calls"),
        form.get("json_schema", {}).get("schema"),
        form.get("type") == "json_object",
        None if effort is None else effort != "none",
        body.get("temperature"),
        body.get("top_p"),
        body.get("max_completion_tokens", body.get("max_tokens")),
        [stop] if isinstance(stop, str) else stop,
        body.get("seed"),
        body.get("presence_penalty"),
        body.get("frequency_penalty"),
        body.get("n"),
        body.get("top_logprobs") if body.get("logprobs") else None,
        body.get("user") or body.get("safety_identifier"),
    )


def _openai_part(part: Mapping[str, Any]) -> Part:
    match part["type"]:
        case "image_url":
            return ("image", _bytes_of(part["image_url"]["url"]))
        case "file":
            return ("pdf", _bytes_of(part["file"]["file_data"]))
    return ("text", part["text"])


def _openai_said(message: Mapping[str, Any]) -> list[Part]:
    text = _joined(message.get("content"))
    parts: list[Part] = [("text", text)] if text else []
    for call in message.get("tool_calls") or ():
        called = call[call["type"]]
        given = {"input": called["input"]} if call["type"] == "custom" else json.loads(called["arguments"] or "{}")
        parts.append(("call", call["id"], called["name"], given))
    return parts


# --- OpenAI Responses ------------------------------------------------------------------------------------------------


def _responses(recorded: Recorded) -> Seen:
    body = recorded.body
    turns = _Turns()
    system = [body["instructions"]] if body.get("instructions") else []
    given = body["input"]
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        match item.get("type", "message"):
            case "message" if item["role"] in ("system", "developer"):
                system.append(_joined(item["content"]))
            case "message":
                turns.add("assistant" if item["role"] == "assistant" else "user", _responses_parts(item["content"]))
            case "function_call":
                turns.add("assistant", [("call", item["call_id"], item["name"], json.loads(item["arguments"] or "{}"))])
            case "function_call_output":
                turns.add("user", [("result", item["call_id"], None, _joined(item["output"]), False)])
            case "reasoning":
                turns.add("assistant", [("thought", item.get("encrypted_content"))])
    choice = body.get("tool_choice")
    form = (body.get("text") or {}).get("format") or {}
    effort = (body.get("reasoning") or {}).get("effort")
    return Seen(
        body["model"],
        body.get("stream") is True,
        "\n\n".join(system),
        turns.turns,
        [
            (tool["name"], tool.get("description"), tool.get("parameters"))
            for tool in body.get("tools", ())
            if tool["type"] == "function"
        ],
        choice["name"] if isinstance(choice, dict) else choice,
        body.get("parallel_tool_calls"),
        form.get("schema"),
        form.get("type") == "json_object",
        None if body.get("reasoning") is None else effort != "none",
        body.get("temperature"),
        body.get("top_p"),
        body.get("max_output_tokens"),
        top_logprobs=body.get("top_logprobs") if "message.output_text.logprobs" in body.get("include", ()) else None,
        user=body.get("safety_identifier") or body.get("user"),
    )


def _responses_parts(content: Any) -> list[Part]:
    parts: list[Part] = []
    for part in [{"type": "input_text", "text": content}] if isinstance(content, str) else content:
        match part["type"]:
            case "input_image":
                parts.append(("image", _bytes_of(part["image_url"])))
            case "input_file":
                parts.append(("pdf", _bytes_of(part["file_data"])))
            case _:
                parts.append(("text", part["text"]))
    return parts


# --- Claude ----------------------------------------------------------------------------------------------------------


def _claude(recorded: Recorded) -> Seen:
    body = recorded.body
    turns = _Turns()
    system = [_joined(body.get("system"))]
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "system":
            system.append(_joined(blocks))
        else:
            turns.add(message["role"], [_claude_part(block) for block in blocks])
    choice = body.get("tool_choice") or {}
    form = (body.get("output_config") or {}).get("format") or {}
    thinking = body.get("thinking")
    words = {"any": "required", "none": "none", "auto": "auto"}
    return Seen(
        body["model"],
        body.get("stream") is True,
        "\n\n".join(text for text in system if text),
        turns.turns,
        [(tool["name"], tool.get("description"), tool.get("input_schema")) for tool in body.get("tools", ())],
        choice.get("name") or words.get(choice.get("type")),
        False if choice.get("disable_parallel_tool_use") else None,
        form.get("schema"),
        False,
        None if thinking is None else thinking["type"] != "disabled",
        body.get("temperature"),
        body.get("top_p"),
        body.get("max_tokens"),
        body.get("stop_sequences"),
        user=(body.get("metadata") or {}).get("user_id"),
    )


def _claude_part(block: Mapping[str, Any]) -> Part:
    match block["type"]:
        case "image" | "document" as kind:
            source = block["source"]
            held = base64.b64decode(source["data"]) if source["type"] == "base64" else source["url"]
            return ("image" if kind == "image" else "pdf", held)
        case "tool_use":
            return ("call", block["id"], block["name"], block["input"])
        case "tool_result":
            return ("result", block["tool_use_id"], None, _joined(block.get("content")), bool(block.get("is_error")))
        case "thinking":
            return ("thought", block["signature"])
        case "redacted_thinking":
            return ("thought", block["data"])
    return ("text", block["text"])


# --- Gemini ----------------------------------------------------------------------------------------------------------


def _gemini(recorded: Recorded) -> Seen:
    # Proto JSON may be spelt in either case; the mock reads both.
    body = GENERATE.read(recorded.body, ())
    turns = _Turns()
    for content in body["contents"]:
        turns.add("assistant" if content.get("role") == "model" else "user", [_gemini_part(part) for part in content["parts"]])
    config = body.get("generationConfig") or {}
    calling = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
    allowed = calling.get("allowedFunctionNames") or [None]
    thinking = config.get("thinkingConfig")
    is_json = config.get("responseMimeType") == "application/json"
    words = {"ANY": "required", "NONE": "none", "AUTO": "auto"}
    schema = config.get("responseJsonSchema")
    declared = [one for tool in body.get("tools", ()) for one in tool["functionDeclarations"]]
    return Seen(
        recorded.path.rpartition("/models/")[2].rpartition(":")[0],
        recorded.path.endswith(":streamGenerateContent"),
        "\n\n".join(part["text"] for part in (body.get("systemInstruction") or {"parts": []})["parts"]),
        turns.turns,
        [(one["name"], one.get("description"), one.get("parametersJsonSchema")) for one in declared],
        allowed[0] or words.get(calling.get("mode")),
        None,
        schema,
        is_json and schema is None,
        None if thinking is None else thinking.get("thinkingBudget") != 0,
        config.get("temperature"),
        config.get("topP"),
        config.get("maxOutputTokens"),
        config.get("stopSequences"),
        config.get("seed"),
        config.get("presencePenalty"),
        config.get("frequencyPenalty"),
        config.get("candidateCount"),
        config.get("logprobs") if config.get("responseLogprobs") else None,
    )


def _gemini_part(part: Mapping[str, Any]) -> Part:
    match part:
        case {"functionCall": call}:
            return ("call", call.get("id"), call["name"], call.get("args", {}))
        case {"functionResponse": response}:
            is_error, text = _unwrapped(response["response"])
            return ("result", response.get("id"), response["name"], text, is_error)
        case {"inlineData": blob}:
            held = base64.b64decode(blob["data"].replace("-", "+").replace("_", "/"))
            return ("pdf" if blob["mimeType"] == "application/pdf" else "image", held)
        case {"fileData": file}:
            return ("image", file["fileUri"])
        case {"thought": True}:
            return ("thought", part.get("thoughtSignature"))
    return ("text", part["text"])


def _unwrapped(response: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether a result is an error, and its words: a string has to be wrapped, an object stands as it is."""
    for key in ("result", "error"):
        if set(response) == {key} and isinstance(response[key], str):
            return key == "error", response[key]
    return False, json.dumps(response, separators=(",", ":"), ensure_ascii=False)
