"""A chat request as a body for ``/v1/messages``: the caller's own with new messages, or one made from another dialect's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from agentui.chat.capabilities import Capabilities, Effort, SystemPlace
from agentui.chat.messages import CACHE_MARK, Media, Message, ToolResult
from agentui.chat.request import ChatRequest, ThinkingConfig, WireRequest
from agentui.chat.stops import cut_of
from agentui.errors import UnsupportedFeature, UnsupportedState
from agentui.jsonio import Json
from agentui.vendors.capabilities import capabilities_of, clamped_limit, without_refused
from agentui.vendors.claude.cache_marks import cap_marks, has_room
from agentui.vendors.claude.content import CITATION, is_foreign_citation
from agentui.vendors.claude.reply import MADE_HERE
from agentui.vendors.claude.request import continued_message, parse_system, patch_request
from agentui.vendors.claude.tools import fit_schema, render_tools
from agentui.vendors.claude.turns import OPENING, Turns, render_message, render_turns
from agentui.vendors.schema_roots import with_object_roots
from agentui.vendors.speakers import named
from agentui.vendors.system_place import placed
from agentui.vendors.thought_marks import is_marked

ENDPOINT = "/v1/messages"
MIN_BUDGET = 1024
UNKNOWN_LIMIT = 8192
"""The limit for the models of compatible servers, which refuse more than they can: Claude requires ``max_tokens``, and no other
dialect does."""
_BUDGETS: Mapping[Effort, int] = MappingProxyType(
    {"minimal": 1024, "low": 1024, "medium": 4096, "high": 16384, "xhigh": 32768, "max": 32768}
)
_JSON_ONLY = "Answer with one JSON value only."


def render_request(chat: ChatRequest) -> WireRequest:
    """Put the dialect on. From Claude nothing but messages, system, model and stream changes; from another dialect the
    body is built anew and ``dropped`` names what it could not hold. Raises UnsupportedFeature."""
    own = chat.wire_in("claude")
    return _render_foreign(chat) if own is None else _render_same(chat, own)


def forward_request(wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
    """The caller's own request with another model or stream switch, and without thoughts that Claude did not think.

    Those carry our mark (``thought_marks``); a thought without it goes as it came, signed or not. Where the tool loop under way
    began with a marked one, nothing signed is left for it to begin with, and thinking is left out as well. Raises
    UnsupportedState.
    """
    _check_thread(wire)
    patched = patch_request(wire, model=model, stream=stream)
    dropped: list[str] = []
    kept = [_own_message(raw, dropped) if isinstance(raw, dict) else raw for raw in wire.body["messages"]]
    if not dropped:
        return patched
    body = {**patched.body, "messages": [raw for raw in kept if raw is not None]}
    if _loop_lacks_thought(body["messages"]):
        body.pop("thinking", None)
    return replace(patched, body=body, dropped=tuple(dict.fromkeys(dropped)))


def _check_thread(wire: WireRequest) -> None:
    """Raise UnsupportedState for a thread whose last answer was another vendor's: Claude has nothing of it."""
    continued = continued_message(wire.body)
    if continued is not None and continued.startswith(MADE_HERE):
        raise UnsupportedState(
            "The thread's last answer did not come from Claude, who cannot continue it: send the whole conversation.",
            param="thread",
        )


def _loop_lacks_thought(messages: Sequence[Json]) -> bool:
    """Whether the first answer since the user last spoke (results of tools are no speech) begins without a thought."""
    first: Json = None
    for message in reversed(messages):
        kinds = _block_kinds(message)
        if message.get("role") == "user" and "tool_result" not in kinds:
            break
        if message.get("role") == "assistant":
            first = kinds
    return first is not None and first[:1] not in (["thinking"], ["redacted_thinking"])


def _block_kinds(message: Mapping[str, Json]) -> list[Json]:
    """The types of a message's content blocks."""
    content = message.get("content")
    if not isinstance(content, list):
        return ["text"]
    return [block.get("type") for block in content if isinstance(block, dict)]


def _render_same(chat: ChatRequest, own: WireRequest) -> WireRequest:
    """The caller's body with the messages put back. A thread that is continued has its system text already. Raises
    UnsupportedState."""
    _check_thread(own)
    dropped: list[str] = []
    system: list[Message] = []
    spoken: list[Json] = []
    for message in placed(named(chat.messages), _own_place(chat), dropped):
        is_own = message.raw_vendor == "claude" and isinstance(message.raw, dict)
        if message.role == "system" and not (is_own and "role" in message.raw):
            system.append(message)
        elif (said := _own_message(message.raw, dropped) if is_own else render_message(message, dropped)) is not None:
            spoken.append(said)
    if continued_message(own.body) is not None:
        dropped += ["system"] if system else []
        system = []
    elif chat.is_recomposed and (not spoken or spoken[0]["role"] == "assistant"):
        spoken.insert(0, dict(OPENING))
    body = {**own.body, "messages": spoken}
    if chat.cache is not None and CACHE_MARK not in body and has_room(body):
        body[CACHE_MARK] = chat.cache
    _put_system(body, system)
    wire = replace(own, body=body, dropped=tuple(dict.fromkeys(dropped)))
    return patch_request(wire, model=chat.model, stream=chat.stream)


def _own_place(chat: ChatRequest) -> SystemPlace:
    """Where system texts of a pipeline stand beside a Claude caller's own messages. A caller of the newest API version has
    system messages amid the conversation, which go as they came; nothing is moved then."""
    has_own = any(
        message.role == "system" and isinstance(message.raw, dict) and "role" in message.raw for message in chat.messages
    )
    return "anywhere" if has_own else capabilities_of("claude", chat).system


def _own_message(raw: dict[str, Json], dropped: list[str]) -> dict[str, Json] | None:
    """The caller's own message. Only thoughts and citations with our mark are left out: those came from another vendor through
    this proxy, and Claude refuses them."""
    content = raw.get("content")
    if not isinstance(content, list):
        return raw
    kept = [_without_citations(block, dropped) for block in content if not _is_foreign_thought(block)]
    if len(kept) < len(content):
        dropped.append("thinking")
    elif all(new is old for new, old in zip(kept, content, strict=True)):
        return raw
    return {**raw, "content": kept} if kept else None


def _without_citations(block: Json, dropped: list[str]) -> Json:
    """A block of the caller's own, without the citations that were written here."""
    citations = block.get("citations") if isinstance(block, dict) else None
    if not isinstance(citations, list) or not any(map(is_foreign_citation, citations)):
        return block
    dropped.append(CITATION)
    own = [citation for citation in citations if not is_foreign_citation(citation)]
    rest = {name: value for name, value in block.items() if name != "citations"}
    return {**rest, "citations": own} if own else rest


def _is_foreign_thought(block: Json) -> bool:
    """Whether a block is another vendor's thought that was written here."""
    return isinstance(block, dict) and block.get("type") == "thinking" and is_marked(block.get("signature"))


def _put_system(body: dict[str, Json], system: Sequence[Message]) -> None:
    """Set the body's ``system``: untouched when it is the caller's alone, else with the added texts as further blocks."""
    own = [message.raw["system"] for message in system if message.raw_vendor == "claude" and message.raw]
    if len(own) == len(system) == 1:
        body["system"] = own[0]
    elif own:
        body["system"] = [block for message in system for block in _system_blocks(message)]
    elif any(message.text.strip() for message in system):
        body["system"] = "\n\n".join(message.text for message in system if message.text.strip())
    elif parse_system(body.get("system"), []) is not None:
        del body["system"]


def _system_blocks(message: Message) -> list[Json]:
    """A system message as text blocks, the caller's own as they came."""
    own = message.raw["system"] if message.raw_vendor == "claude" and message.raw else None
    if isinstance(own, list):
        return own
    text = own if isinstance(own, str) else message.text
    return [{"type": "text", "text": text}] if text.strip() else []


@dataclass(frozen=True, slots=True)
class _Thought:
    """What the body says about thinking: the limit of answer and thoughts, the member (None: nothing), and an effort."""

    limit: int
    member: dict[str, Json] | None = None
    effort: str | None = None


def _render_foreign(chat: ChatRequest) -> WireRequest:
    """A body made from another dialect's request."""
    chat, is_wrapped = with_object_roots(chat, capabilities_of("claude", chat))
    dropped = [name for name in chat.unmodelled if name != CACHE_MARK]
    _name_lost(chat, dropped)
    turns = render_turns(chat.messages, dropped, capabilities_of("claude", chat))
    thought = _render_thinking(chat, turns, dropped)
    thinks = thought.member is not None
    body: dict[str, Json] = {"model": chat.model, "max_tokens": thought.limit, "messages": turns.messages}
    system = _system(chat, turns)
    if system:
        json_only = [{"type": "text", "text": _JSON_ONLY}] if system != turns.system else []
        body["system"] = [*turns.system_blocks, *json_only] if turns.system_blocks else system
    if chat.cache is not None:
        body[CACHE_MARK] = chat.cache
    body |= _sampling(chat, thinks=thinks, dropped=dropped)
    if chat.tools or turns.tools:
        body |= render_tools(chat, turns.tools, thinks=thinks, dropped=dropped).members
    if thinks:
        body["thinking"] = thought.member
    output = _output_config(chat, thought, dropped)
    if output:
        body["output_config"] = output
    if chat.params.user:
        body["metadata"] = {"user_id": chat.params.user}
    if chat.stream:
        body["stream"] = True
    cap_marks(body, dropped)
    return WireRequest(
        vendor="claude",
        operation="chat",
        model=chat.model,
        stream=chat.stream,
        path=ENDPOINT,
        body=body,
        dropped=tuple(dict.fromkeys(dropped)),
        # Claude takes no stop string of white space only.
        cut=cut_of([text for text in chat.params.stop or () if not text.strip()]),
        is_wrapped=is_wrapped,
    )


def _name_lost(chat: ChatRequest, dropped: list[str]) -> None:
    """Name what Claude has no words for. Raises UnsupportedFeature for several answers."""
    params = chat.params
    if params.n is not None and params.n > 1:
        raise UnsupportedFeature("Claude gives one answer; ask with n = 1.", param="n")
    if params.seed is not None:
        dropped.append("seed")
    if params.presence_penalty:
        dropped.append("presence_penalty")
    if params.frequency_penalty:
        dropped.append("frequency_penalty")
    if params.min_p:
        dropped.append("min_p")
    if params.repetition_penalty not in (None, 1):
        dropped.append("repetition_penalty")
    if params.logprobs or params.top_logprobs:
        dropped.append("logprobs")
    if any(_has_detail(message) for message in chat.messages if message.lone_text is None):
        dropped.append("detail")


def _has_detail(message: Message) -> bool:
    """Whether a picture of the message asks for a resolution."""
    shown = [inner for part in message.parts for inner in (part.content if isinstance(part, ToolResult) else (part,))]
    return any(isinstance(part, Media) and part.detail not in (None, "auto") for part in shown)


def _system(chat: ChatRequest, turns: Turns) -> str:
    """The system text. Claude has no JSON mode without a schema, so that is asked for in words."""
    wanted = chat.response_format
    wants_json = wanted is not None and (wanted.kind == "json" or (wanted.kind == "schema" and wanted.schema is None))
    return "\n\n".join(text for text in (turns.system, _JSON_ONLY if wants_json else "") if text)


def _sampling(chat: ChatRequest, *, thinks: bool, dropped: list[str]) -> dict[str, Json]:
    """Temperature and its kin as Claude takes them: 0 to 1, not beside top_p, and not at all while thinking, nor by newer
    models."""
    sampling: dict[str, Json] = {}
    params = chat.params
    told: dict[str, Json] = {"temperature": params.temperature, "top_p": params.top_p, "top_k": params.limiting_top_k}
    taken, refused = without_refused("claude", chat, told)
    dropped.extend(refused)
    temperature, top_p, top_k = (taken.get(name) for name in ("temperature", "top_p", "top_k"))
    if thinks:
        dropped.extend(name for name in ("temperature", "top_p", "top_k") if taken.get(name) is not None)
    else:
        if temperature is not None:
            sampling["temperature"] = min(temperature, 1)
            if temperature > 1:
                dropped.append("temperature>1")
        if top_p is not None:
            if temperature is None:
                sampling["top_p"] = top_p
            else:
                dropped.append("top_p")
        if top_k is not None:
            sampling["top_k"] = top_k
    if stop := [text for text in chat.params.stop or () if text.strip()]:
        sampling["stop_sequences"] = stop
    return sampling


def _render_thinking(chat: ChatRequest, turns: Turns, dropped: list[str]) -> _Thought:
    """How much to think, below the limit, in the form that the model takes. ``none`` says nothing, for models differ in whether
    they take ``disabled``."""
    config, params, model = chat.thinking, chat.params, capabilities_of("claude", chat)
    known = model.max_output
    told, clamped = clamped_limit(params.max_tokens, model)
    dropped.extend(clamped)
    limit = told or known or UNKNOWN_LIMIT
    if config is None or config.mode == "disabled" or config.effort == "none" or config.budget == 0:
        return _Thought(limit)
    is_newest = "budget" not in model.thinking
    # Adaptive thinking asks no signed thought of the answers before it.
    if not model.thinking or not (turns.may_think or is_newest):
        dropped.append("thinking")
        return _Thought(limit)
    if "adaptive" in model.thinking and (config.mode == "adaptive" or is_newest):
        return _Thought(limit, _adaptive(chat, config), _effort(config, model))
    budget = max(config.budget or _BUDGETS[config.effort or "medium"], MIN_BUDGET)
    if params.is_answer_limit or (params.max_tokens is None and known is None):
        room = limit + budget
        limit = room if known is None else max(limit, min(room, known))
    if limit <= MIN_BUDGET:
        dropped.append("thinking")
        return _Thought(limit)
    if budget >= limit:
        budget = max(MIN_BUDGET, limit * 3 // 4)
    return _Thought(limit, {"type": "enabled", "budget_tokens": budget})


def _adaptive(chat: ChatRequest, config: ThinkingConfig) -> dict[str, Json]:
    """Thinking as the model sees fit. The newest models leave the words of their thoughts out unless they are asked for
    (``display``), which older ones refuse."""
    is_newest = "budget" not in capabilities_of("claude", chat).thinking
    return {"type": "adaptive", **({"display": "summarized"} if is_newest and config.include is not False else {})}


def _effort(config: ThinkingConfig, model: Capabilities) -> Effort | None:
    """The effort beside adaptive thinking; a budget that another dialect named says about how much was meant."""
    wished = config.effort
    if wished is None and config.budget:
        wished = "low" if config.budget <= 2048 else "medium" if config.budget <= 8192 else "high"
    return None if wished is None else model.nearest_effort("low" if wished == "minimal" else wished)


def _output_config(chat: ChatRequest, thought: _Thought, dropped: list[str]) -> dict[str, Json]:
    """Effort and structured output, {} for neither."""
    config: dict[str, Json] = {}
    if thought.effort is not None:
        config["effort"] = thought.effort
    wanted = chat.response_format
    if wanted is not None and wanted.kind == "schema" and wanted.schema is not None:
        removed: list[str] = []
        config["format"] = {"type": "json_schema", "schema": fit_schema(wanted.schema, removed)}
        dropped.extend(f"response_format.{keyword}" for keyword in removed)
    return config
