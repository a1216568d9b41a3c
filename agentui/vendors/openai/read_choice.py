"""One choice of a streamed chat completion while it is read: its words, its tool calls, what came beside them."""

from dataclasses import dataclass, field

from agentui.chat.deltas import Delta, MediaDelta, OpaqueDelta, RefusalDelta, TextDelta, ThinkingDelta, ToolCallDelta
from agentui.chat.messages import Media, Text, Thinking
from agentui.errors import BadRequest, UpstreamInvalid
from agentui.jsonio import Json, dumps_text
from agentui.vendors.arguments import ArgumentPieces
from agentui.vendors.openai.citations import read_citations
from agentui.vendors.openai.messages import VENDOR, invented_call_id, parse_content, parse_images, signature_of, thought_of
from agentui.vendors.openai.reasoning_details import MEMBER, DetailPieces, token_of, words_of


@dataclass(slots=True)
class _ReadCall:
    """A tool call while it is told; ``held`` are arguments that came before its name."""

    index: int
    id: str | None = None
    is_begun: bool = False
    is_custom: bool = False
    arguments: ArgumentPieces = field(default_factory=ArgumentPieces)
    held: list[str] = field(default_factory=list)
    signature: str | None = None
    told_signature: str | None = None

    def sign(self) -> tuple[str | None, str | None]:
        """The call's signature and who it is for, once."""
        if self.signature == self.told_signature:
            return None, None
        self.told_signature = self.signature
        return self.signature, VENDOR


@dataclass(slots=True)
class ReadChoice:
    """What is known of a choice so far. ``by_key`` finds a call by what the server calls it."""

    answer_id: str | None
    origin: str = ""
    is_finished: bool = False
    has_refusal: bool = False
    has_citations: bool = False
    calls: list[_ReadCall] = field(default_factory=list)
    by_key: dict[int | str, _ReadCall] = field(default_factory=dict)
    by_id: dict[str, _ReadCall] = field(default_factory=dict)
    details: DetailPieces = field(default_factory=DetailPieces)

    def read(self, delta: dict[str, Json], number: int, deltas: list[Delta]) -> None:
        """Anything that a delta may hold."""
        member = "reasoning_content" if delta.get("reasoning_content") else "reasoning"
        details = delta.get(MEMBER)
        thought = told if isinstance(told := delta.get(member), str) and told else words_of(details)
        if thought:
            deltas.append(self._thought(thought_of(thought, member, self.origin), number))
        if details:
            self.details.feed(details)
        content = delta.get("content")
        if content or delta.get("tool_calls"):
            self.close_thought(number, deltas)
        if content:
            self._read_content(content, number, deltas)
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self.has_refusal = True
            deltas.append(RefusalDelta(refusal, number))
        calls = delta.get("tool_calls")
        if calls:
            self._read_calls(calls, number, deltas)
        function = delta.get("function_call")
        if function:
            self._read_call({"index": "function_call", "function": function}, number, deltas)
        if "images" in delta or "audio" in delta or "annotations" in delta:
            self._read_extras(delta, number, deltas)

    def close_thought(self, number: int, deltas: list[Delta]) -> None:
        """Tell the token of the thoughts so far: what is behind them ends their block."""
        if self.origin and (details := self.details.take()):
            deltas.append(ThinkingDelta("", token_of(details, self.origin), None, VENDOR, choice=number))

    def close_calls(self, number: int, deltas: list[Delta]) -> None:
        """Hand on what was held back."""
        for call in self.calls:
            if not call.is_begun:
                self._begin_call(call, "", "", number, deltas)
            rest = '"}' if call.is_custom else call.arguments.close()
            call.is_custom = False
            if rest:
                deltas.append(ToolCallDelta(call.index, arguments=rest, choice=number))

    def _thought(self, thought: Thinking, number: int) -> ThinkingDelta:
        return ThinkingDelta(thought.text, thought.signature, None, thought.signed_by, choice=number)

    def _read_content(self, content: Json, number: int, deltas: list[Delta]) -> None:
        """Words, or a list of parts (Mistral, whose thoughts stand there); parts of other kinds mean nothing here."""
        if isinstance(content, str):
            deltas.append(TextDelta(content, number))
            return
        try:
            parts = parse_content(content, "content", self.origin)
        except BadRequest as error:
            raise not_a_chunk(error.message) from error
        for part in parts:
            if isinstance(part, Text) and part.text:
                deltas.append(TextDelta(part.text, number))
            elif isinstance(part, Thinking) and part.text:
                deltas.append(self._thought(part, number))

    def _read_calls(self, calls: Json, number: int, deltas: list[Delta]) -> None:
        """Pieces of tool calls."""
        if not isinstance(calls, list):
            raise not_a_chunk("tool_calls is no list")
        for call in calls:
            if not isinstance(call, dict):
                raise not_a_chunk("a tool call is no object")
            self._read_call(call, number, deltas)

    def _read_call(self, piece: dict[str, Json], number: int, deltas: list[Delta]) -> None:
        """A piece of one call. A custom tool's free text is told as ``{"input": text}``, piece by piece."""
        function = piece.get("function")
        is_custom = not isinstance(function, dict) and isinstance(piece.get("custom"), dict)
        function = piece["custom"] if is_custom else function
        function = function if isinstance(function, dict) else {}
        id, name = piece.get("id"), function.get("name")
        id = id if isinstance(id, str) and id else None
        name = name if isinstance(name, str) and name else None
        call = self._call_of(piece.get("index"), id, name)
        call.signature = signature_of(piece, self.origin) or call.signature
        text = function.get("input" if is_custom else "arguments")
        text = text if isinstance(text, str) else "" if text is None else dumps_text(text)
        if is_custom:
            text = ("" if call.is_custom else '{"input":"') + dumps_text(text)[1:-1]
            call.is_custom = True
        else:
            text = call.arguments.feed(text)
        if call.is_begun:
            if text or call.signature != call.told_signature:
                deltas.append(ToolCallDelta(call.index, None, None, text, *call.sign(), choice=number))
        elif name:
            self._begin_call(call, name, text, number, deltas)
        else:
            call.held.append(text)

    def _begin_call(self, call: _ReadCall, name: str, text: str, number: int, deltas: list[Delta]) -> None:
        """The first delta of a call, with id and name."""
        call.is_begun = True
        id = call.id or invented_call_id(self.answer_id, number, call.index)
        deltas.append(ToolCallDelta(call.index, id, name, "".join([*call.held, text]), *call.sign(), choice=number))
        call.held.clear()

    def _call_of(self, key: Json, id: str | None, name: str | None) -> _ReadCall:
        """The call that a piece belongs to.

        Servers differ: some leave ``index`` out, some give every whole call index 0, some repeat the id with each piece.
        So a piece that names another id and a function begins a call, and one that says nothing continues the last.
        """
        if isinstance(key, int | str):
            call = self.by_key.get(key)
        elif id is not None:
            call = self.by_id.get(id)
        else:
            call = self.calls[-1] if self.calls and name is None else None
        begins_another = call is not None and id is not None and name is not None and call.id not in (None, id)
        if call is None or begins_another:
            call = _ReadCall(len(self.calls), id)
            self.calls.append(call)
            if isinstance(key, int | str):
                self.by_key[key] = call
        call.id = call.id or id
        if call.id is not None:
            self.by_id.setdefault(call.id, call)
        return call

    def _read_extras(self, delta: dict[str, Json], number: int, deltas: list[Delta]) -> None:
        """Pictures, sound and citations beside the words."""
        try:
            images = parse_images(delta.get("images"), "delta")
        except BadRequest as error:
            raise not_a_chunk(error.message) from error
        deltas += [MediaDelta(image, number) for image in images if isinstance(image, Media)]
        for name in ("audio", "annotations"):
            if told := delta.get(name):
                cited = read_citations(told) if name == "annotations" else ()
                self.has_citations = self.has_citations or bool(cited)
                deltas.append(OpaqueDelta(VENDOR, name, {name: told}, number, cited))


def not_a_chunk(why: str) -> UpstreamInvalid:
    """The upstream speaks another language, as ``why`` says."""
    return UpstreamInvalid(f"The upstream's stream is not an OpenAI chat completion: {why}.")
