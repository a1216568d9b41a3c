"""The content parts of a message item (``input_text``, ``input_image``, ``output_text``, ...), in and out."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from agentui.chat.messages import Media, MediaKind, Opaque, Part, Refusal, Role, Text
from agentui.errors import BadRequest, UnsupportedFeature
from agentui.jsonio import Json
from agentui.vendors.openai_responses.sealed import VENDOR

TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_EXTENSIONS = {"application/pdf": "pdf", "text/plain": "txt", "text/markdown": "md", "text/html": "html", "text/csv": "csv"}
_MEDIA_TYPES = {extension: media_type for media_type, extension in _EXTENSIONS.items()}


@dataclass(slots=True)
class Losses:
    """What could not be carried, by name, in the order met.

    ``file_ids`` is whether ids of uploaded files mean anything to this API (they do between OpenAI's own dialects).
    """

    file_ids: bool = True
    names: dict[str, None] = field(default_factory=dict)

    def drop(self, *names: str) -> None:
        """Remember that these were left out."""
        self.names.update(dict.fromkeys(names))


def parse_content(content: Json, param: str) -> tuple[Part, ...]:
    """A message's ``content``: a string or a list of parts. Raises BadRequest naming ``param``."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise BadRequest(f"{param} must be a string or a list of content parts.", param=param)
    return tuple(_parse_part(part, f"{param}[{number}]") for number, part in enumerate(content))


def _parse_part(part: Json, param: str) -> Part:
    """One content part; what is not modelled becomes Opaque."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        raise BadRequest(f"{param} must be an object with a 'type'.", param=param)
    kind = part["type"]
    if kind in TEXTS:
        return Text(_text(part, "text", param))
    if kind == "refusal":
        return Refusal(_text(part, "refusal", param))
    media = {"input_image": _parse_image, "input_file": _parse_file, "input_audio": _parse_audio}.get(kind)
    return Opaque(VENDOR, kind, part) if media is None else media(part, param)


def _text(part: dict[str, Json], key: str, param: str) -> str:
    """A field that must be a string."""
    value = part.get(key)
    if not isinstance(value, str):
        raise BadRequest(f"{param}.{key} must be a string.", param=f"{param}.{key}")
    return value


def _optional(part: dict[str, Json], key: str) -> str | None:
    """A field when it is a non-empty string."""
    value = part.get(key)
    return value if isinstance(value, str) and value else None


def _parse_image(part: dict[str, Json], param: str) -> Media:
    """``input_image``: ``image_url`` (http or data URL) or ``file_id``."""
    detail = _optional(part, "detail")
    url = _optional(part, "image_url")
    if url is None:
        if (file_id := _optional(part, "file_id")) is None:
            raise BadRequest(f"{param} needs an 'image_url' or a 'file_id'.", param=param)
        return Media("image", file_id=file_id, detail=detail)
    if (inline := parse_data_url(url, f"{param}.image_url")) is not None:
        return Media("image", inline[0], data=inline[1], detail=detail)
    return Media("image", url=url, detail=detail)


def _parse_file(part: dict[str, Json], param: str) -> Media:
    """``input_file``: ``file_data`` (data URL or bare base64), ``file_url`` or ``file_id``."""
    filename = _optional(part, "filename")
    if (data := _optional(part, "file_data")) is not None:
        inline = parse_data_url(data, f"{param}.file_data") or (_type_of(filename), data)
        return Media(_kind_of(inline[0]), inline[0], data=inline[1], filename=filename)
    if (url := _optional(part, "file_url")) is not None:
        return Media("document", _type_of(filename or url), url=url, filename=filename)
    if (file_id := _optional(part, "file_id")) is not None:
        return Media("document", file_id=file_id, filename=filename)
    raise BadRequest(f"{param} needs 'file_data', 'file_url' or 'file_id'.", param=param)


def _parse_audio(part: dict[str, Json], param: str) -> Media:
    """``input_audio``: ``{"input_audio": {"data", "format"}}``."""
    audio = part.get("input_audio")
    if not isinstance(audio, dict) or not isinstance(audio.get("data"), str):
        raise BadRequest(f"{param}.input_audio needs 'data' and 'format'.", param=f"{param}.input_audio")
    sound = _optional(audio, "format") or "wav"
    return Media("audio", "audio/mpeg" if sound == "mp3" else f"audio/{sound}", data=audio["data"])


def _type_of(filename: str | None) -> str:
    """The media type that a file's name tells; PDF is what the API itself assumes."""
    extension = (filename or "").rpartition(".")[2].lower()
    return _MEDIA_TYPES.get(extension, "application/pdf")


def _kind_of(media_type: str) -> MediaKind:
    """What kind of medium a media type is."""
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
    return kinds.get(media_type.partition("/")[0], "document")


def parse_data_url(url: str, param: str) -> tuple[str, str] | None:
    """Media type and base64 text of a data URL, None for any other URL. Raises BadRequest for one without a comma."""
    if url[:5].lower() != "data:":
        return None
    head, comma, payload = url[5:].partition(",")
    if not comma:
        raise BadRequest(f"{param} is not a complete data URL.", param=param)
    media_type, *options = head.split(";")
    if "base64" not in (option.strip().lower() for option in options):
        payload = base64.b64encode(unquote_to_bytes(payload)).decode()
    return media_type or "text/plain", payload


def render_content(parts: Sequence[Part], role: Role, losses: Losses) -> list[Json]:
    """Parts as the content list of a message item; only Text, Media, Refusal and own Opaque parts are content."""
    kind = "output_text" if role == "assistant" else "input_text"
    content: list[Json] = []
    for part in parts:
        match part:
            case Text(text):
                content.append({"type": kind, "text": text})
            case Refusal(text):
                content.append({"type": "refusal", "refusal": text} if role == "assistant" else {"type": kind, "text": text})
            case Media() if role == "assistant":
                # An assistant's message item has room for output_text and refusal only.
                losses.drop("assistant_media")
            case Media():
                content.append(render_media(part, losses))
            case Opaque(vendor, _, raw) if vendor == VENDOR:
                content.append(raw)
            case Opaque(_, label, _):
                losses.drop(label)
    return content


def render_media(media: Media, losses: Losses) -> dict[str, Json]:
    """``input_image`` or ``input_file``. Raises UnsupportedFeature for sound, film and references that are not ours."""
    if media.kind in ("audio", "video"):
        raise UnsupportedFeature(f"The Responses API takes no {media.kind} input.", param="input")
    if media.file_id is not None and not losses.file_ids:
        raise UnsupportedFeature(
            "A file id of another provider means nothing to the Responses API; send the data.", param="input"
        )
    if media.url is not None and not media.url.lower().startswith(("http://", "https://")):
        raise UnsupportedFeature("The Responses API takes http(s) URLs only; send the data.", param="input")
    return _render_image(media) if media.kind == "image" else _render_file(media)


def _render_image(media: Media) -> dict[str, Json]:
    """``input_image``; its detail is required by the API's own types."""
    image: dict[str, Json] = {"type": "input_image", "detail": media.detail or "auto"}
    if media.file_id is not None:
        image["file_id"] = media.file_id
    elif media.url is not None:
        image["image_url"] = media.url
    else:
        image["image_url"] = f"data:{media.media_type or 'image/png'};base64,{media.data}"
    return image


def _render_file(media: Media) -> dict[str, Json]:
    """``input_file``; data needs a file name."""
    file: dict[str, Json] = {"type": "input_file"}
    if media.file_id is not None:
        return {**file, "file_id": media.file_id}
    if media.url is not None:
        return {**file, "file_url": media.url}
    media_type = media.media_type or "application/pdf"
    filename = media.filename or f"document.{_EXTENSIONS.get(media_type, 'bin')}"
    return {**file, "filename": filename, "file_data": f"data:{media_type};base64,{media.data}"}
