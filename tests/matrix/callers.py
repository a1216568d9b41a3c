"""The four SDKs behind one interface: ask, and say what was heard."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import anthropic
import openai
from google import genai
from google.genai import errors as genai_errors
from google.genai import types

from tests.matrix.neutral import Answer, Ask, Call, Heard, Image, Pdf, Result, Results, Said, Tokens, Turn, User
from tests.upstreams.server import API_KEY

OLDER = {"anthropic-version": "2023-06-01"}
"""The version of Claude's API that still takes sampling parameters."""


class Caller(Protocol):
    """One SDK."""

    name: str

    async def ask(self, origin: str, ask: Ask, *, stream: bool = False) -> Answer:
        """Ask, and gather the answer. Raises the SDK's own errors."""

    def error(self, status: int) -> type[Exception]:
        """The class that the SDK raises for a status."""

    def message(self, error: Exception) -> str:
        """The message that the SDK shows."""

    def retry_after(self, error: Exception) -> float | None:
        """Seconds to wait, where the SDK's error tells."""

    async def models(self, origin: str) -> list[str]:
        """The names of the models."""


@dataclass
class Callers:
    """The SDKs' clients, made once: an address is given with each call."""

    openai: openai.AsyncOpenAI
    anthropic: anthropic.AsyncAnthropic
    genai: genai.Client

    @classmethod
    def make(cls, key: str = API_KEY) -> "Callers":
        """Clients that try nothing twice."""
        address = "http://127.0.0.1:9"
        return cls(
            openai.AsyncOpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0),
            anthropic.AsyncAnthropic(base_url=address, api_key=key, max_retries=0),
            genai.Client(api_key=key, http_options=types.HttpOptions(base_url=address)),
        )

    def __getitem__(self, name: str) -> Caller:
        made: dict[str, Caller] = {
            "openai": OpenAICaller(self.openai),
            "openai_responses": ResponsesCaller(self.openai),
            "claude": ClaudeCaller(self.anthropic),
            "gemini": GeminiCaller(self.genai),
        }
        return made[name]

    async def close(self) -> None:
        """Close every client."""
        await self.openai.close()
        await self.anthropic.close()
        await self.genai.aio.aclose()
        self.genai.close()


def said(values: dict[str, Any]) -> dict[str, Any]:
    """The parameters that were given."""
    return {key: value for key, value in values.items() if value is not None}


def data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def dropped_of(headers: Any) -> tuple[str, ...]:
    names = headers.get("x-agentui-dropped")
    return tuple(name.strip() for name in names.split(",")) if names else ()


# --- OpenAI chat -----------------------------------------------------------------------------------------------------


class _OpenAIClient:
    """What the callers of both OpenAI dialects share."""

    def __init__(self, client: openai.AsyncOpenAI) -> None:
        self._client = client

    def at(self, origin: str) -> openai.AsyncOpenAI:
        """The client with another address."""
        return self._client.with_options(base_url=f"{origin}/v1")

    async def models(self, origin: str) -> list[str]:
        return [model.id async for model in self.at(origin).models.list()]

    def error(self, status: int) -> type[Exception]:
        known: dict[int, type[Exception]] = {
            400: openai.BadRequestError,
            401: openai.AuthenticationError,
            403: openai.PermissionDeniedError,
            404: openai.NotFoundError,
            429: openai.RateLimitError,
        }
        return known.get(status, openai.InternalServerError if status >= 500 else openai.APIStatusError)

    def message(self, error: Exception) -> str:
        return str(error.body["message"]) if isinstance(error, openai.APIError) and isinstance(error.body, dict) else str(error)

    def retry_after(self, error: Exception) -> float | None:
        assert isinstance(error, openai.APIStatusError)
        after = error.response.headers.get("retry-after")
        return None if after is None else float(after)


class OpenAICaller(_OpenAIClient):
    """``client.chat.completions``."""

    name = "openai"

    async def ask(self, origin: str, ask: Ask, *, stream: bool = False) -> Answer:
        create = self.at(origin).chat.completions.with_raw_response.create
        if not stream:
            raw = await create(**self._body(ask))
            return _whole_chat(raw.parse(), dropped_of(raw.headers))
        raw = await create(**self._body(ask), stream=True, stream_options={"include_usage": True})
        return await _streamed_chat(raw.parse(), dropped_of(raw.headers))

    def _body(self, ask: Ask) -> dict[str, Any]:
        body = said(
            {
                "model": ask.model,
                "temperature": ask.temperature,
                "top_p": ask.top_p,
                "max_completion_tokens": ask.max_tokens,
                "stop": None if ask.stop is None else list(ask.stop),
                "seed": ask.seed,
                "presence_penalty": ask.presence,
                "frequency_penalty": ask.frequency,
                "n": ask.n,
                "user": ask.user,
                "parallel_tool_calls": ask.parallel,
                "reasoning_effort": {None: None, True: "medium", False: "none"}[ask.think],
            }
        )
        if ask.top_logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": ask.top_logprobs}
        system = [{"role": "system", "content": ask.system}] if ask.system else []
        body["messages"] = system + [message for turn in ask.turns for message in self._messages(turn)]
        if ask.tools:
            body["tools"] = [
                {"type": "function", "function": said({"name": t.name, "description": t.description, "parameters": t.schema})}
                for t in ask.tools
            ]
        if ask.choice in ("none", "required"):
            body["tool_choice"] = ask.choice
        elif ask.choice:
            body["tool_choice"] = {"type": "function", "function": {"name": ask.choice}}
        if ask.schema is not None:
            form = {"name": "answer", "schema": ask.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif ask.json:
            body["response_format"] = {"type": "json_object"}
        return body

    def _messages(self, turn: Turn) -> list[Any]:
        match turn:
            case User((str(text),)):
                return [{"role": "user", "content": text}]
            case User(parts):
                return [{"role": "user", "content": [self._part(part) for part in parts]}]
            case Said(text):
                return [{"role": "assistant", "content": text}]
            case Heard(answer):
                return [answer.native]
            case Results(results):
                return [{"role": "tool", "tool_call_id": result.call.id, "content": result.text} for result in results]

    def _part(self, part: str | Image | Pdf) -> Any:
        match part:
            case str(text):
                return {"type": "text", "text": text}
            case Image(data, url, media_type):
                return {"type": "image_url", "image_url": {"url": url or data_url(media_type, data)}}
            case Pdf(data):
                return {"type": "file", "file": {"filename": "a.pdf", "file_data": data_url("application/pdf", data)}}


def _chat_message(text: str, calls: Sequence[tuple[str | None, str, str]]) -> dict[str, Any]:
    """The assistant's message as clients put it back."""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}} for id, name, arguments in calls
        ]
    return message


def _chat_usage(usage: Any) -> Tokens | None:
    if usage is None:
        return None
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    cached, reasoning = prompt and prompt.cached_tokens, completion and completion.reasoning_tokens
    return Tokens(usage.prompt_tokens, usage.completion_tokens, cached or 0, reasoning or 0)


def _chat_logprobs(choice: Any) -> list[tuple[str, float, int]]:
    content = choice.logprobs.content if choice.logprobs else None
    return [(token.token, token.logprob, len(token.top_logprobs)) for token in content or ()]


def _calls(found: Sequence[tuple[str | None, str, str]]) -> list[Call]:
    return [Call(id, name, json.loads(arguments or "{}")) for id, name, arguments in found]


def _whole_chat(reply: Any, dropped: tuple[str, ...]) -> Answer:
    choices = sorted(reply.choices, key=lambda choice: choice.index)
    first = choices[0].message
    calls = [(call.id, call.function.name, call.function.arguments) for call in first.tool_calls or ()]
    return Answer(
        [choice.message.content or "" for choice in choices],
        choices[0].finish_reason,
        getattr(first, "reasoning_content", None) or "",
        first.refusal or "",
        _calls(calls),
        _chat_usage(reply.usage),
        _chat_logprobs(choices[0]),
        reply.model,
        _chat_message(first.content or "", calls),
        dropped,
    )


async def _streamed_chat(stream: Any, dropped: tuple[str, ...]) -> Answer:
    """Put the chunks together, checking what clients rely on: one id, usage in a last chunk without choices."""
    answer = Answer([], None, dropped=dropped)
    texts: dict[int, str] = {}
    calls: dict[int, list[Any]] = {}
    ids: set[str] = set()
    async for chunk in stream:
        assert answer.usage is None, "nothing may follow the usage"
        ids.add(chunk.id)
        answer.model = chunk.model
        if chunk.usage is not None:
            assert chunk.choices == []
            answer.usage = _chat_usage(chunk.usage)
        for choice in chunk.choices:
            delta = choice.delta
            texts[choice.index] = texts.get(choice.index, "") + (delta.content if isinstance(delta.content, str) else "")
            answer.pieces += bool(delta.content)
            if choice.index == 0:
                answer.finish = choice.finish_reason or answer.finish
                answer.refusal += delta.refusal or ""
                answer.thoughts += getattr(delta, "reasoning_content", None) or ""
                answer.logprobs += _chat_logprobs(choice)
                for call in delta.tool_calls or ():
                    known = calls.setdefault(call.index, [call.id, call.function.name, ""])
                    known[2] += call.function.arguments or ""
                    answer.pieces += bool(call.function.arguments)
    assert len(ids) == 1
    assert list(calls) == list(range(len(calls)))
    answer.texts = [texts[number] for number in sorted(texts)]
    found = [(id, name, arguments) for id, name, arguments in calls.values()]
    answer.calls = _calls(found)
    answer.native = _chat_message(answer.text, found)
    return answer


# --- OpenAI Responses ------------------------------------------------------------------------------------------------


class ResponsesCaller(_OpenAIClient):
    """``client.responses``."""

    name = "openai_responses"

    async def ask(self, origin: str, ask: Ask, *, stream: bool = False) -> Answer:
        client = self.at(origin)
        if not stream:
            raw = await client.responses.with_raw_response.create(**self._body(ask))
            return _response(raw.parse(), dropped_of(raw.headers))
        pieces, text = 0, ""
        numbers: list[int] = []
        async with client.responses.stream(**self._body(ask)) as events:
            async for event in events:
                numbers.append(event.sequence_number)
                pieces += event.type in ("response.output_text.delta", "response.function_call_arguments.delta")
                text += event.delta if event.type == "response.output_text.delta" else ""
                if event.type in ("response.completed", "response.incomplete"):
                    final = event.response
            # The helper has no public way to the headers.
            answer = _response(final, dropped_of(events._response.headers))
        assert numbers == list(range(len(numbers)))
        assert text == answer.text
        answer.pieces = pieces
        return answer

    def _body(self, ask: Ask) -> dict[str, Any]:
        body = said(
            {
                "model": ask.model,
                "instructions": ask.system,
                "temperature": ask.temperature,
                "top_p": ask.top_p,
                "max_output_tokens": ask.max_tokens,
                "safety_identifier": ask.user,
                "parallel_tool_calls": ask.parallel,
            }
        )
        include = []
        if ask.top_logprobs is not None:
            body["top_logprobs"] = ask.top_logprobs
            include.append("message.output_text.logprobs")
        if ask.think is not None:
            body["reasoning"] = {"effort": "medium", "summary": "auto"} if ask.think else {"effort": "none"}
        if ask.think:
            include.append("reasoning.encrypted_content")
            body["store"] = False
        if include:
            body["include"] = include
        body["input"] = [item for turn in ask.turns for item in self._items(turn)]
        if ask.tools:
            blank = {"type": "object", "properties": {}}
            body["tools"] = [
                {
                    "type": "function",
                    "name": t.name,
                    "description": t.description,
                    "parameters": t.schema or blank,
                    "strict": False,
                }
                for t in ask.tools
            ]
        if ask.choice in ("none", "required"):
            body["tool_choice"] = ask.choice
        elif ask.choice:
            body["tool_choice"] = {"type": "function", "name": ask.choice}
        if ask.schema is not None:
            body["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": ask.schema, "strict": True}}
        elif ask.json:
            body["text"] = {"format": {"type": "json_object"}}
        return body

    def _items(self, turn: Turn) -> list[Any]:
        match turn:
            case User((str(text),)):
                return [{"role": "user", "content": text}]
            case User(parts):
                return [{"role": "user", "content": [self._part(part) for part in parts]}]
            case Said(text):
                return [{"role": "assistant", "content": text}]
            case Heard(answer):
                return list(answer.native)
            case Results(results):
                return [
                    {"type": "function_call_output", "call_id": result.call.id, "output": result.text} for result in results
                ]

    def _part(self, part: str | Image | Pdf) -> Any:
        match part:
            case str(text):
                return {"type": "input_text", "text": text}
            case Image(data, url, media_type):
                return {"type": "input_image", "detail": "auto", "image_url": url or data_url(media_type, data)}
            case Pdf(data):
                return {"type": "input_file", "filename": "a.pdf", "file_data": data_url("application/pdf", data)}


def _response(response: Any, dropped: tuple[str, ...]) -> Answer:
    assert response.status in ("completed", "incomplete")
    finish = response.incomplete_details.reason if response.status == "incomplete" else "completed"
    usage = response.usage
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens
    answer = Answer([response.output_text], finish, dropped=dropped, model=response.model)
    answer.usage = Tokens(
        usage.input_tokens,
        usage.output_tokens,
        usage.input_tokens_details.cached_tokens,
        usage.output_tokens_details.reasoning_tokens,
    )
    for item in response.output:
        match item.type:
            case "function_call":
                answer.calls.append(Call(item.call_id, item.name, json.loads(item.arguments or "{}")))
            case "reasoning":
                answer.thoughts += "".join(part.text for part in item.summary)
            case "message":
                for part in item.content:
                    if part.type == "refusal":
                        answer.refusal += part.refusal
                    else:
                        answer.logprobs += [(one.token, one.logprob, len(one.top_logprobs)) for one in part.logprobs or ()]
    answer.native = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
    for item in answer.native:
        for part in item.get("content") or ():
            part.pop("parsed", None)
    return answer


# --- Claude ----------------------------------------------------------------------------------------------------------


class ClaudeCaller:
    """``client.messages``."""

    name = "claude"

    def __init__(self, client: anthropic.AsyncAnthropic) -> None:
        self._client = client

    def at(self, origin: str) -> anthropic.AsyncAnthropic:
        """The client with another address."""
        return self._client.with_options(base_url=origin)

    async def models(self, origin: str) -> list[str]:
        return [model.id async for model in self.at(origin).models.list()]

    async def ask(self, origin: str, ask: Ask, *, stream: bool = False) -> Answer:
        client = self.at(origin)
        if not stream:
            raw = await client.messages.with_raw_response.create(**self._body(ask))
            return _claude_message(await raw.parse(), dropped_of(raw.headers))
        pieces = 0
        async with client.messages.stream(**self._body(ask)) as events:
            async for event in events:
                pieces += event.type == "content_block_delta" and event.delta.type in ("text_delta", "input_json_delta")
            answer = _claude_message(await events.get_final_message(), dropped_of(events.response.headers))
        answer.pieces = pieces
        return answer

    def _body(self, ask: Ask) -> dict[str, Any]:
        body = said(
            {
                "model": ask.model,
                "max_tokens": ask.max_tokens or 8192,
                "system": ask.system,
                "stop_sequences": None if ask.stop is None else list(ask.stop),
                "metadata": None if ask.user is None else {"user_id": ask.user},
            }
        )
        if sampling := said({"temperature": ask.temperature, "top_p": ask.top_p}):
            body |= {"extra_body": sampling, "extra_headers": OLDER}
        if ask.think is not None:
            body["thinking"] = {"type": "enabled", "budget_tokens": 4096} if ask.think else {"type": "disabled"}
        body["messages"] = [self._message(turn) for turn in ask.turns]
        if ask.tools:
            body["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": t.schema or {"type": "object"}}
                for t in ask.tools
            ]
        choice: dict[str, Any] = {"type": "auto"}
        if ask.choice in ("none", "required"):
            choice = {"type": {"none": "none", "required": "any"}[ask.choice]}
        elif ask.choice:
            choice = {"type": "tool", "name": ask.choice}
        if ask.parallel is False:
            choice["disable_parallel_tool_use"] = True
        if choice != {"type": "auto"}:
            body["tool_choice"] = choice
        if ask.schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": ask.schema}}
        return body

    def _message(self, turn: Turn) -> Any:
        match turn:
            case User((str(text),)):
                return {"role": "user", "content": text}
            case User(parts):
                return {"role": "user", "content": [self._part(part) for part in parts]}
            case Said(text):
                return {"role": "assistant", "content": text}
            case Heard(answer):
                return {"role": "assistant", "content": answer.native}
            case Results(results):
                return {"role": "user", "content": [self._result(result) for result in results]}

    def _result(self, result: Result) -> Any:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call.id, "content": result.text}
        return {**block, "is_error": True} if result.is_error else block

    def _part(self, part: str | Image | Pdf) -> Any:
        match part:
            case str(text):
                return {"type": "text", "text": text}
            case Image(url=str(url)) if url:
                return {"type": "image", "source": {"type": "url", "url": url}}
            case Image(data, _, media_type):
                source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
                return {"type": "image", "source": source}
            case Pdf(data):
                encoded = base64.b64encode(data).decode()
                return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": encoded}}

    def error(self, status: int) -> type[Exception]:
        known: dict[int, type[Exception]] = {
            400: anthropic.BadRequestError,
            401: anthropic.AuthenticationError,
            403: anthropic.PermissionDeniedError,
            404: anthropic.NotFoundError,
            429: anthropic.RateLimitError,
        }
        return known.get(status, anthropic.InternalServerError if status >= 500 else anthropic.APIStatusError)

    def message(self, error: Exception) -> str:
        assert isinstance(error, anthropic.APIError)
        assert isinstance(error.body, dict)
        assert error.body["type"] == "error"
        return str(error.body["error"]["message"])

    def retry_after(self, error: Exception) -> float | None:
        assert isinstance(error, anthropic.APIStatusError)
        after = error.response.headers.get("retry-after")
        return None if after is None else float(after)


def _claude_message(message: Any, dropped: tuple[str, ...]) -> Answer:
    texts = [block.text for block in message.content if block.type == "text"]
    usage = message.usage
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    details = getattr(usage, "output_tokens_details", None)
    refused = message.stop_reason == "refusal" and message.stop_details
    return Answer(
        ["".join(texts)],
        message.stop_reason,
        "".join(block.thinking for block in message.content if block.type == "thinking"),
        refused.explanation or "" if refused else "",
        [Call(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"],
        Tokens(usage.input_tokens + cached + written, usage.output_tokens, cached, details.thinking_tokens if details else 0),
        model=message.model,
        # The stream helper's own blocks carry fields of the SDK that the API does not know.
        native=[_claude_block(block) for block in message.content],
        dropped=dropped,
    )


def _claude_block(block: Any) -> dict[str, Any]:
    fields = {
        "text": ("text",),
        "tool_use": ("id", "name", "input"),
        "thinking": ("thinking", "signature"),
        "redacted_thinking": ("data",),
    }
    return {"type": block.type, **{name: getattr(block, name) for name in fields[block.type]}}


# --- Gemini ----------------------------------------------------------------------------------------------------------


class GeminiCaller:
    """``client.aio.models``."""

    name = "gemini"

    def __init__(self, client: genai.Client) -> None:
        self._client = client

    async def models(self, origin: str) -> list[str]:
        config = types.ListModelsConfig(http_options=types.HttpOptions(base_url=origin))
        return [model.name or "" async for model in await self._client.aio.models.list(config=config)]

    async def ask(self, origin: str, ask: Ask, *, stream: bool = False) -> Answer:
        models = self._client.aio.models
        body: Any = {
            "model": ask.model,
            "contents": [self._content(turn) for turn in ask.turns],
            "config": self._config(origin, ask),
        }
        if not stream:
            reply = await models.generate_content(**body)
            chunks = [reply]
        else:
            chunks = [chunk async for chunk in await models.generate_content_stream(**body)]
        answer = _gemini_answer(chunks)
        answer.dropped = dropped_of(chunks[0].sdk_http_response.headers)
        return answer

    def _config(self, origin: str, ask: Ask) -> types.GenerateContentConfig:
        fields: dict[str, Any] = {
            "system_instruction": ask.system,
            "temperature": ask.temperature,
            "top_p": ask.top_p,
            "max_output_tokens": ask.max_tokens,
            "stop_sequences": None if ask.stop is None else list(ask.stop),
            "seed": ask.seed,
            "presence_penalty": ask.presence,
            "frequency_penalty": ask.frequency,
            "candidate_count": ask.n,
            "http_options": types.HttpOptions(base_url=origin),
            "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
        }
        if ask.top_logprobs is not None:
            fields |= {"response_logprobs": True, "logprobs": ask.top_logprobs}
        if ask.think is not None:
            fields["thinking_config"] = types.ThinkingConfig(
                include_thoughts=ask.think, thinking_budget=4096 if ask.think else 0
            )
        if ask.tools:
            declared = [
                types.FunctionDeclaration(name=t.name, description=t.description, parameters_json_schema=t.schema)
                for t in ask.tools
            ]
            fields["tools"] = [types.Tool(function_declarations=declared)]
        if ask.choice is not None:
            calling: dict[str, Any] = {"mode": {"none": "NONE"}.get(ask.choice, "ANY")}
            if ask.choice not in ("none", "required"):
                calling["allowed_function_names"] = [ask.choice]
            fields["tool_config"] = types.ToolConfig(function_calling_config=types.FunctionCallingConfig(**calling))
        if ask.schema is not None or ask.json:
            fields |= {"response_mime_type": "application/json", "response_json_schema": ask.schema}
        return types.GenerateContentConfig(**said(fields))

    def _content(self, turn: Turn) -> types.Content:
        match turn:
            case User(parts):
                return types.Content(role="user", parts=[self._part(part) for part in parts])
            case Said(text):
                return types.Content(role="model", parts=[types.Part(text=text)])
            case Heard(answer):
                return types.Content(role="model", parts=answer.native)
            case Results(results):
                return types.Content(role="user", parts=[self._result(result) for result in results])

    def _result(self, result: Result) -> types.Part:
        response = {"error" if result.is_error else "result": result.text}
        return types.Part(function_response=types.FunctionResponse(id=result.call.id, name=result.call.name, response=response))

    def _part(self, part: str | Image | Pdf) -> types.Part:
        match part:
            case str(text):
                return types.Part(text=text)
            case Image(url=str(url), media_type=media_type) if url:
                return types.Part.from_uri(file_uri=url, mime_type=media_type)
            case Image(data, _, media_type):
                return types.Part.from_bytes(data=data, mime_type=media_type)
            case Pdf(data):
                return types.Part.from_bytes(data=data, mime_type="application/pdf")

    def error(self, status: int) -> type[Exception]:
        return genai_errors.ServerError if status >= 500 else genai_errors.ClientError

    def message(self, error: Exception) -> str:
        assert isinstance(error, genai_errors.APIError)
        return str(error.message)

    def retry_after(self, error: Exception) -> float | None:
        """The SDK ignores the header; clients read RetryInfo."""
        assert isinstance(error, genai_errors.APIError)
        for detail in error.details["error"].get("details", ()):
            if detail["@type"].endswith("RetryInfo"):
                return float(detail["retryDelay"].rstrip("s"))
        return None


def _gemini_answer(chunks: Sequence[types.GenerateContentResponse]) -> Answer:
    answer = Answer([], None)
    texts: dict[int, str] = {}
    parts: list[types.Part] = []
    for chunk in chunks:
        answer.model = chunk.model_version or answer.model
        if chunk.usage_metadata is not None and chunk.usage_metadata.prompt_token_count is not None:
            answer.usage = _gemini_usage(chunk.usage_metadata)
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason is not None:
            answer.finish = f"blocked:{chunk.prompt_feedback.block_reason.value}"
        for candidate in chunk.candidates or ():
            index = candidate.index or 0
            texts.setdefault(index, "")
            for part in (candidate.content and candidate.content.parts) or ():
                if part.text and not part.thought:
                    texts[index] += part.text
                    answer.pieces += 1
                if index == 0:
                    parts.append(part)
            if index == 0:
                answer.finish = candidate.finish_reason.value if candidate.finish_reason else answer.finish
                answer.logprobs += _gemini_logprobs(candidate.logprobs_result)
    answer.texts = [texts[index] for index in sorted(texts)]
    answer.thoughts = "".join(part.text for part in parts if part.text and part.thought)
    called = [part.function_call for part in parts if part.function_call]
    answer.calls = [Call(call.id, call.name or "", call.args or {}) for call in called]
    # Empty texts are refused in a request; a signature on one still goes back.
    answer.native = [part for part in parts if part.text != "" or part.thought_signature]
    return answer


def _gemini_usage(usage: types.GenerateContentResponseUsageMetadata) -> Tokens:
    thoughts = usage.thoughts_token_count or 0
    output = (usage.candidates_token_count or 0) + thoughts
    assert usage.total_token_count is not None
    return Tokens(usage.prompt_token_count or 0, output, usage.cached_content_token_count or 0, thoughts)


def _gemini_logprobs(result: types.LogprobsResult | None) -> list[tuple[str, float, int]]:
    if result is None:
        return []
    rivals = [len(top.candidates or ()) for top in result.top_candidates or ()]
    chosen = result.chosen_candidates or []
    rivals += [0] * (len(chosen) - len(rivals))
    return [(one.token or "", one.log_probability or 0.0, many) for one, many in zip(chosen, rivals, strict=True)]
