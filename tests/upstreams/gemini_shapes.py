"""The fields of Gemini's requests (after the official SDK's types); names may be camelCase or snake_case."""

import re
from collections.abc import Mapping

from tests.upstreams.shapes import ANY, BOOLEAN, INTEGER, NUMBER, OBJECT, STRING, Base64, Json, Kind, ListOf, Obj, Path, enum


def camel(name: str) -> str:
    """The camelCase spelling of a proto field."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def snake(name: str) -> str:
    """The snake_case spelling of a proto field, as error messages use it."""
    return re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name)


def proto(fields: Mapping[str, Kind], required: tuple[str, ...] = ()) -> Obj:
    """A proto message as JSON."""
    return Obj(fields, required, camel)


class _Schema:
    """The OpenAPI subset, read recursively: a schema's own names are checked, property names are not."""

    def read(self, value: Json, path: Path) -> Json:
        """The schema with its field names in camelCase."""
        return _SCHEMA_FIELDS.read(value, path)


class _MapOf:
    """An object with any names and one kind of values."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def read(self, value: Json, path: Path) -> Json:
        """The object with its values read."""
        return {key: self._kind.read(item, (*path, key)) for key, item in OBJECT.read(value, path).items()}


SCHEMA = _Schema()
_SCHEMA_FIELDS = proto(
    {
        "type": STRING,
        "format": STRING,
        "title": STRING,
        "description": STRING,
        "nullable": BOOLEAN,
        "enum": ListOf(STRING),
        "maxItems": ANY,
        "minItems": ANY,
        "properties": _MapOf(SCHEMA),
        "required": ListOf(STRING),
        "minProperties": ANY,
        "maxProperties": ANY,
        "minLength": ANY,
        "maxLength": ANY,
        "pattern": STRING,
        "example": ANY,
        "anyOf": ListOf(SCHEMA),
        "propertyOrdering": ListOf(STRING),
        "default": ANY,
        "items": SCHEMA,
        "minimum": NUMBER,
        "maximum": NUMBER,
    }
)

_BYTES = Base64(url_safe=True)
_BLOB = proto({"mimeType": STRING, "data": _BYTES, "displayName": STRING}, ("mimeType", "data"))
_FILE = proto({"mimeType": STRING, "fileUri": STRING, "displayName": STRING}, ("fileUri",))
PART_DATA = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
PART = proto(
    {
        "text": STRING,
        "inlineData": _BLOB,
        "fileData": _FILE,
        "functionCall": proto(
            {"id": STRING, "name": STRING, "args": OBJECT, "partialArgs": ListOf(OBJECT), "willContinue": BOOLEAN}
        ),
        "functionResponse": proto(
            {
                "id": STRING,
                "name": STRING,
                "response": OBJECT,
                "parts": ListOf(proto({"inlineData": _BLOB, "fileData": _FILE})),
                "willContinue": BOOLEAN,
                "scheduling": STRING,
            }
        ),
        "executableCode": OBJECT,
        "codeExecutionResult": OBJECT,
        "toolCall": OBJECT,
        "toolResponse": OBJECT,
        "thought": BOOLEAN,
        "thoughtSignature": _BYTES,
        "videoMetadata": OBJECT,
        "mediaResolution": OBJECT,
        "partMetadata": OBJECT,
    }
)
CONTENT = proto({"role": STRING, "parts": ListOf(PART)})

_DECLARATION = proto(
    {
        "name": STRING,
        "description": STRING,
        "parameters": SCHEMA,
        "parametersJsonSchema": ANY,
        "response": SCHEMA,
        "responseJsonSchema": ANY,
        "behavior": STRING,
    },
)
_TOOL = proto(
    {
        "functionDeclarations": ListOf(_DECLARATION),
        "googleSearch": OBJECT,
        "googleSearchRetrieval": OBJECT,
        "codeExecution": OBJECT,
        "urlContext": OBJECT,
        "googleMaps": OBJECT,
        "fileSearch": OBJECT,
        "computerUse": OBJECT,
        "mcpServers": ListOf(OBJECT),
    }
)
_TOOL_CONFIG = proto(
    {
        "functionCallingConfig": proto(
            {
                "mode": enum("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"),
                "allowedFunctionNames": ListOf(STRING),
                "streamFunctionCallArguments": BOOLEAN,
            }
        ),
        "retrievalConfig": OBJECT,
        "includeServerSideToolInvocations": BOOLEAN,
    }
)
_LEVELS = enum("THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH", "minimal", "low", "medium", "high")
_CONFIG = proto(
    {
        "temperature": NUMBER,
        "topP": NUMBER,
        "topK": NUMBER,
        "candidateCount": INTEGER,
        "maxOutputTokens": INTEGER,
        "stopSequences": ListOf(STRING),
        "responseLogprobs": BOOLEAN,
        "logprobs": INTEGER,
        "presencePenalty": NUMBER,
        "frequencyPenalty": NUMBER,
        "seed": INTEGER,
        "responseMimeType": STRING,
        "responseSchema": SCHEMA,
        "responseJsonSchema": ANY,
        "responseModalities": ListOf(STRING),
        "mediaResolution": STRING,
        "speechConfig": OBJECT,
        "imageConfig": OBJECT,
        "enableEnhancedCivicAnswers": BOOLEAN,
        "thinkingConfig": proto({"includeThoughts": BOOLEAN, "thinkingBudget": INTEGER, "thinkingLevel": _LEVELS}),
    }
)
_CATEGORIES = enum(
    *(
        f"HARM_CATEGORY_{name}"
        for name in (
            "HARASSMENT",
            "HATE_SPEECH",
            "SEXUALLY_EXPLICIT",
            "DANGEROUS_CONTENT",
            "CIVIC_INTEGRITY",
            "JAILBREAK",
            "IMAGE_HATE",
            "IMAGE_DANGEROUS_CONTENT",
            "IMAGE_HARASSMENT",
            "IMAGE_SEXUALLY_EXPLICIT",
        )
    )
)
_THRESHOLDS = enum(
    "HARM_BLOCK_THRESHOLD_UNSPECIFIED", "BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF"
)
_GENERATE: dict[str, Kind] = {
    "model": STRING,
    "contents": ListOf(CONTENT),
    "systemInstruction": CONTENT,
    "generationConfig": _CONFIG,
    "safetySettings": ListOf(proto({"category": _CATEGORIES, "threshold": _THRESHOLDS})),
    "tools": ListOf(_TOOL),
    "toolConfig": _TOOL_CONFIG,
    "cachedContent": STRING,
    "serviceTier": STRING,
    "store": BOOLEAN,
}
GENERATE = proto(_GENERATE)
COUNT = proto({"contents": ListOf(CONTENT), "generateContentRequest": GENERATE})
_EMBED: dict[str, Kind] = {
    "model": STRING,
    "content": CONTENT,
    "taskType": STRING,
    "title": STRING,
    "outputDimensionality": INTEGER,
}
EMBED = proto(_EMBED)
BATCH_EMBED = proto({"requests": ListOf(EMBED)})
