"""What Gemini's endpoints refuse beyond the shape of the body."""

import base64
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from tests.upstreams.exchange import Exchange, Refused, Vault
from tests.upstreams.gemini_shapes import BATCH_EMBED, COUNT, EMBED, GENERATE, PART_DATA, snake
from tests.upstreams.shapes import Json, Kind, Misfit, Path

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_SENTINELS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
_FORMATS = {
    "STRING": ("enum", "date-time"),
    "NUMBER": ("float", "double"),
    "INTEGER": ("int32", "int64"),
}
_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def refuse(message: str, status: int = 400, details: list[Json] | None = None) -> Refused:
    """Google's error shape."""
    word = _STATUSES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
    error: dict[str, Json] = {"code": status, "message": message, "status": word}
    if details:
        error["details"] = details
    return Refused(status, {"error": error})


def check(exchange: Exchange) -> None:
    """Raise Refused as Gemini would."""
    match exchange.operation:
        case "countTokens":
            _check_count(read(COUNT, exchange.body), exchange)
        case "batchEmbedContents":
            _check_embeddings(read(BATCH_EMBED, exchange.body).get("requests", []), exchange.model)
        case "embedContent":
            _check_embeddings([{"model": f"models/{exchange.model}", **read(EMBED, exchange.body)}], exchange.model)
        case _:
            _check_generate(read(GENERATE, exchange.body), exchange)


def read(kind: Kind, body: Json) -> Json:
    """The body with its names in camelCase, if it has the shape."""
    try:
        return kind.read(body, ())
    except Misfit as misfit:
        raise _worded(misfit) from misfit


def spell(path: Path) -> str:
    """A path as Google writes it: ``contents[0].parts[1].inline_data``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else ("." if text else "") + snake(step)
    return text


def _worded(misfit: Misfit) -> Refused:
    """Google's words for a misfit, with the field in ``details``."""
    where = spell(misfit.path)
    if misfit.reason == "unknown":
        parent = spell(misfit.path[:-1])
        at = f" at '{parent}'" if parent else ""
        message = f'Invalid JSON payload received. Unknown name "{misfit.path[-1]}"{at}: Cannot find field.'
        where = parent
    elif misfit.detail == "base64":
        message = f"Invalid value at '{where}' (TYPE_BYTES), Base64 decoding failed for \"{str(misfit.value)[:40]}\""
    elif misfit.reason == "missing":
        message = f"* GenerateContentRequest.{where}: required field is not set"
    else:
        message = f"Invalid value at '{where}' ({misfit.detail}), {misfit.value!r:.60}"
    violation = {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": where, "description": message}],
    }
    return refuse(message, 400, [violation])


def _check_generate(body: Mapping[str, Json], exchange: Exchange) -> None:
    """A request to generate."""
    _check_config(body.get("generationConfig", {}), exchange.model)
    names = _check_tools(body, exchange.model)
    _check_tool_config(body, names)
    if "systemInstruction" in body:
        _check_system(body["systemInstruction"])
    if not body.get("contents"):
        raise refuse("* GenerateContentRequest.contents: contents is not specified\n")
    for number, content in enumerate(body["contents"]):
        _check_content(content, number)
    _check_function_turns(body["contents"])
    _check_signatures(body["contents"], exchange.model, exchange.vault)


def _check_count(body: Mapping[str, Json], exchange: Exchange) -> None:
    """Either contents or a whole request."""
    inner = body.get("generateContentRequest")
    if (inner is None) == ("contents" not in body):
        raise refuse("CountTokensRequest: set exactly one of contents and generate_content_request.")
    if inner is not None:
        if inner.get("model") != f"models/{exchange.model}":
            raise refuse("* CountTokensRequest.generate_content_request.model: model must be the one of the path\n")
        _check_generate(inner, exchange)
    for number, content in enumerate(body.get("contents", ())):
        _check_content(content, number)


def _check_embeddings(requests: list[Json], model: str) -> None:
    """At least one request, each for the path's model and with text."""
    if not requests:
        raise refuse("* BatchEmbedContentsRequest.requests: at least one request is required\n")
    for number, request in enumerate(requests):
        if request.get("model") != f"models/{model}":
            raise refuse(f"* BatchEmbedContentsRequest.requests[{number}].model: model must be the one of the path\n")
        _check_content(request.get("content", {}), number)


def _check_config(config: Mapping[str, Json], model: str) -> None:
    """Ranges, and what goes only together."""
    for name, low, high in (("temperature", 0, 2), ("topP", 0, 1), ("candidateCount", 1, 8), ("logprobs", 0, 20)):
        if name in config and not low <= config[name] <= high:
            raise refuse(f"* GenerateContentRequest.generation_config.{snake(name)}: must be in the range [{low}, {high}]\n")
    if config.get("maxOutputTokens", 1) < 1 or config.get("topK", 1) < 1:
        raise refuse("* GenerateContentRequest.generation_config: max_output_tokens and top_k must be positive\n")
    if len(config.get("stopSequences", ())) > 5:
        raise refuse("* GenerateContentRequest.generation_config.stop_sequences: at most 5 stop sequences are allowed\n")
    if "logprobs" in config and not config.get("responseLogprobs"):
        raise refuse("logprobs can only be set when response_logprobs is true")
    schemas = [name for name in ("responseSchema", "responseJsonSchema") if name in config]
    if len(schemas) > 1:
        raise refuse("Only one of response_schema and response_json_schema may be set.")
    if schemas and config.get("responseMimeType") not in ("application/json", "text/x.enum"):
        raise refuse("Response schema is only supported with response_mime_type application/json.")
    if "responseSchema" in config:
        check_schema(config["responseSchema"], "GenerateContentRequest.generation_config.response_schema")
    thinking = config.get("thinkingConfig", {})
    if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
        raise refuse("You can only set only one of thinking budget and thinking level.")
    if "thinkingLevel" in thinking and model.startswith("gemini-2"):
        raise refuse("Thinking level is not supported for this model.")
    _check_budget(thinking, model)


def _check_budget(thinking: Mapping[str, Json], model: str) -> None:
    """Each family's bounds; -1 leaves it to the model, and a model without thoughts takes no config at all."""
    if model.startswith(("gemini-1", "gemini-2.0")) and thinking:
        raise refuse("Thinking is not enabled for this model.")
    budget = thinking.get("thinkingBudget", -1)
    if "-pro" in model and budget == 0:
        raise refuse(f"Budget 0 is invalid. This model ({model}) only works in thinking mode.")
    least, most = (128, 32_768) if "-pro" in model else (0, 24_576)
    if model.startswith("gemini-2.5") and budget != -1 and not least <= budget <= most:
        raise refuse(f"The thinking budget {budget} is invalid. Please choose a value between {least} and {most}.")


def _check_tools(body: Mapping[str, Json], model: str) -> list[str]:
    """The declarations, and their names."""
    names: list[str] = []
    for number, tool in enumerate(body.get("tools", ())):
        if not tool:
            raise refuse(
                f"* GenerateContentRequest.tools[{number}].tool_type: "
                "required one_of 'tool_type' must have one initialized field\n"
            )
        for position, declaration in enumerate(tool.get("functionDeclarations", ())):
            where = f"GenerateContentRequest.tools[{number}].function_declarations[{position}]"
            _check_declaration(declaration, where)
            if declaration["name"] in names:
                raise refuse(f"Duplicate function declaration found: {declaration['name']}")
            names.append(declaration["name"])
    mime = body.get("generationConfig", {}).get("responseMimeType")
    if names and mime == "application/json" and model.startswith("gemini-2"):
        raise refuse("Function calling with a response mime type: 'application/json' is unsupported")
    return names


def _check_declaration(declaration: Mapping[str, Json], where: str) -> None:
    """One function's name and parameters."""
    if not _NAME.fullmatch(declaration.get("name", "")):
        raise refuse(
            f"* {where}.name: Invalid function name. Must start with a letter or an underscore. Must be alphameric "
            "(a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n"
        )
    if "parameters" in declaration and "parametersJsonSchema" in declaration:
        raise refuse(f"* {where}: only one of parameters and parameters_json_schema may be set\n")
    if "parameters" in declaration:
        check_schema(declaration["parameters"], f"{where}.parameters")
    json_schema = declaration.get("parametersJsonSchema")
    if json_schema is not None and (not isinstance(json_schema, dict) or json_schema.get("type", "object") != "object"):
        raise refuse(f"* {where}.parameters_json_schema: schema must be an object schema\n")


def check_schema(schema: Mapping[str, Json], where: str) -> None:
    """The OpenAPI subset (unknown keywords were refused as unknown fields before)."""
    kind = schema.get("type", "").upper()
    if kind not in _TYPES and not schema.get("anyOf"):
        raise refuse(f"* {where}.type: must be one of {', '.join(_TYPES)}\n")
    if "enum" in schema and kind != "STRING":
        raise refuse(f"* {where}.enum: only allowed for STRING type\n")
    if "format" in schema and schema["format"] not in _FORMATS.get(kind, ()):
        allowed = ", ".join(_FORMATS.get(kind, ()))
        raise refuse(f"* {where}.format: only {allowed or 'no format'} is supported for {kind} type\n")
    if kind == "ARRAY" and "items" not in schema:
        raise refuse(f"* {where}.items: missing field.\n")
    if kind == "OBJECT" and schema.get("properties") == {}:
        raise refuse(f"* {where}.properties: should be non-empty for OBJECT type\n")
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in properties:
            raise refuse(f"* {where}.required: property {name!r} is not defined\n")
    for name, child in properties.items():
        check_schema(child, f"{where}.properties[{name}]")
    if "items" in schema:
        check_schema(schema["items"], f"{where}.items")
    for number, child in enumerate(schema.get("anyOf", ())):
        check_schema(child, f"{where}.any_of[{number}]")


def _check_tool_config(body: Mapping[str, Json], names: list[str]) -> None:
    """Modes, and names that only some modes take."""
    config = body.get("toolConfig", {}).get("functionCallingConfig", {})
    mode = config.get("mode", "AUTO")
    if mode in ("ANY", "VALIDATED") and not names:
        raise refuse("Function calling config is set without function_declarations.")
    allowed = config.get("allowedFunctionNames", [])
    if allowed and mode not in ("ANY", "VALIDATED"):
        raise refuse("allowed_function_names can only be set when the function calling mode is ANY or VALIDATED.")
    for name in allowed:
        if name not in names:
            raise refuse(f"allowed_function_names contains {name!r}, which is not among the function_declarations.")


def _check_system(content: Mapping[str, Json]) -> None:
    """Text parts only."""
    if not content.get("parts"):
        raise refuse("* GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.\n")
    for part in content["parts"]:
        if not part.get("text"):
            raise refuse("* GenerateContentRequest.system_instruction: only non-empty text parts are supported\n")


def _check_content(content: Mapping[str, Json], number: int) -> None:
    """A role, and parts that each hold exactly one thing."""
    where = f"GenerateContentRequest.contents[{number}]"
    role = content.get("role", "user")
    if role not in ("user", "model", "function"):
        raise refuse("Please use a valid role: user, model.")
    if not content.get("parts"):
        raise refuse(f"* {where}.parts: contents.parts must not be empty.\n")
    for position, part in enumerate(content["parts"]):
        held = [name for name in PART_DATA if name in part]
        is_empty = held == ["text"] and not part["text"] and "thoughtSignature" not in part
        only_signature = not held and "thoughtSignature" in part
        if (not held and not only_signature) or is_empty:
            raise refuse(f"* {where}.parts[{position}].data: required oneof field 'data' must have one initialized field\n")
        if len(held) > 1:
            raise refuse(f"Invalid value at 'contents[{number}].parts[{position}]' (oneof), oneof field 'data' is already set.")
        _check_function_part(part, role, f"{where}.parts[{position}]")


def _check_function_part(part: Mapping[str, Json], role: str, where: str) -> None:
    """Calls stand in model turns, responses elsewhere; both need a name."""
    if "functionCall" in part:
        if role != "model":
            raise refuse("Function calls are only allowed in contents with the role model.")
        if not _NAME.fullmatch(part["functionCall"].get("name", "")):
            raise refuse(f"* {where}.function_call.name: Name cannot be empty.\n")
    if "functionResponse" in part:
        if role == "model":
            raise refuse("Function responses are not allowed in contents with the role model.")
        if not part["functionResponse"].get("name"):
            raise refuse(f"* {where}.function_response.name: Name cannot be empty.\n")
        if "response" not in part["functionResponse"]:
            raise refuse(f"* {where}.function_response.response: required field is not set\n")


def _check_function_turns(contents: list[Json]) -> None:
    """Calls follow a user or response turn and are answered by the next turn: as many, by the same names and ids."""
    calls: list[Json] = []
    for number, content in enumerate(contents):
        made = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        given = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        if made and (number == 0 or contents[number - 1].get("role", "user") == "model"):
            raise refuse(
                "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
            )
        if given and not calls:
            raise refuse("Please ensure that function response turn comes immediately after a function call turn.")
        _check_answered(calls, given)
        calls = made
    _check_answered(calls, [])


def _check_answered(calls: list[Json], responses: list[Json]) -> None:
    """Refuse responses that are not exactly those of the calls."""
    if len(calls) != len(responses):
        raise refuse(
            "Please ensure that the number of function response parts is equal to the number of function call parts "
            "of the function call turn."
        )
    if Counter(call["name"] for call in calls) != Counter(response["name"] for response in responses):
        raise refuse("Please ensure that the names of the function response parts match those of the function call parts.")
    ids = [call["id"] for call in calls if "id" in call]
    for response in responses:
        if "id" in response and response["id"] not in ids:
            raise refuse(f"Function response id {response['id']!r} matches no function call.")


def signature_key(token: str) -> str:
    """A signature in the standard alphabet with padding, whichever way it was written."""
    standard = token.replace("-", "+").replace("_", "/").rstrip("=")
    return standard + "=" * (-len(standard) % 4)


# The documented words work as they stand and as the SDK sends bytes: encoded once more.
_ACCEPTED = {signature_key(word) for word in _SENTINELS} | {base64.b64encode(word.encode()).decode() for word in _SENTINELS}


def _check_signatures(contents: list[Json], model: str, vault: Vault) -> None:
    """Signatures are our own; Gemini 3 wants one on the first call of each step of the current turn."""
    for number, content in enumerate(contents):
        for position, part in enumerate(content["parts"]):
            token = part.get("thoughtSignature")
            if token is not None and signature_key(token) not in _ACCEPTED and not vault.holds("gemini", signature_key(token)):
                raise refuse(f"Thought signature is not valid at contents[{number}].parts[{position}].")
    if not model.startswith("gemini-3"):
        return
    for number, part in _first_calls_of_current_turn(contents):
        if "thoughtSignature" not in part:
            raise refuse(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
                f"correctly. Function call `{part['functionCall']['name']}`, position {number}."
            )


def _first_calls_of_current_turn(contents: list[Json]) -> Iterator[tuple[int, Json]]:
    """The first call part of every model content after the last thing that the user said."""
    start = 0
    for number, content in enumerate(contents):
        says = any("functionResponse" not in part for part in content["parts"])
        if content.get("role", "user") != "model" and says:
            start = number
    for number, content in enumerate(contents[start:], start):
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is not None:
            yield number, first
