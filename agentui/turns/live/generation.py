"""How a turn asks its model: what the caller said over what the session says, as a request of a conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentui.chat.capabilities import Effort
from agentui.chat.messages import Message, Text, text_message
from agentui.chat.request import ChatRequest, Params, ThinkingConfig, WireRequest
from agentui.jsonio import Json, dumps
from agentui.pipeline.incoming import Incoming
from agentui.threads import LONG, apart
from agentui.vendors.base import Vendor, Vendors

PATH = "/v1/chat/completions"
"""Where a turn's conversation would have come in: it is asked in OpenAI's dialect, so that every pipeline serves it."""

NO_PARAMS: Mapping[str, Json] = {}
_NEUTRAL: Mapping[str, float] = {
    "top_p": 1,
    "frequency_penalty": 0,
    "presence_penalty": 0,
    "min_p": 0,
    "repetition_penalty": 1,
    "n": 1,
}
"""Values that change nothing."""
_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "logit_bias", "banned_strings")
_BESIDE = ("logit_bias", "banned_strings", "n")
"""What OpenAI's dialect alone has, and some servers of it; others drop these by their names."""
_CHOSEN_TOGETHER = frozenset({"temperature", "top_p"})
"""Some models refuse one of these beside the other."""
_EFFORTS: tuple[Effort, ...] = ("low", "medium", "high")
_NAMES: Mapping[str, str] = {"max_output_tokens": "max_tokens", "stop_sequences": "stop"}
"""The names of ours that ``Params`` has others for."""
_KINDS: Mapping[str, tuple[type, ...]] = {
    "temperature": (int, float),
    "top_p": (int, float),
    "top_k": (int,),
    "min_p": (int, float),
    "repetition_penalty": (int, float),
    "max_output_tokens": (int,),
    "frequency_penalty": (int, float),
    "presence_penalty": (int, float),
    "seed": (int,),
    "n": (int,),
    "logit_bias": (dict,),
    "banned_strings": (list,),
    "stop_sequences": (list,),
    "reasoning_effort": (str,),
    "max_context_tokens": (int,),
}


def merged_params(
    session: Mapping[str, Json] | None,
    given: Mapping[str, Json],
    preset: Mapping[str, Json] = NO_PARAMS,
    slot: Mapping[str, Json] = NO_PARAMS,
) -> dict[str, Json]:
    """The parameters of a turn: ``given`` over the session's over the ``slot``'s over the prompt preset's, without what is
    None.

    A session's parameters may have been written by another version: what is of another type than it should be is no parameter.
    Of a preset only what changes something is one: it names all, and some models take none of them.
    """
    kept = {name: value for name, value in (session or {}).items() if name in _KINDS and _is_a(value, _KINDS[name])}
    said = {name: value for name, value in preset.items() if _NEUTRAL.get(name) != value}
    of_slot = {name: value for name, value in slot.items() if name in _KINDS}
    return said | of_slot | kept | {name: value for name, value in given.items() if value is not None}


def _is_a(value: Json, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def given_params(params: Params) -> dict[str, Json]:
    """What a caller said of its parameters, by our names; what it did not say is left out."""
    said = {name: getattr(params, _NAMES.get(name, name), None) for name in _KINDS}
    return {name: value for name, value in said.items() if value is not None}


def left_open(params: Mapping[str, Json], given: Mapping[str, Json]) -> dict[str, Json]:
    """The parameters that a caller who ``given`` some leaves to others."""
    chosen = given.keys() | (_CHOSEN_TOGETHER if given.keys() & _CHOSEN_TOGETHER else frozenset())
    return {name: value for name, value in params.items() if name not in chosen}


def filled(vendor: Vendor, wire: WireRequest, params: Mapping[str, Json]) -> WireRequest:
    """A request with parameters (``merged_params``) that its caller did not say, as its dialect spells them."""
    # A plain client knows of one answer.
    left_out = {"reasoning_effort", "n"} if vendor.takes_sampling(wire) else {"reasoning_effort", "n", *_SAMPLING}
    spelled = {name: value for name, value in params.items() if name not in left_out}
    spare = vendor.render_request(replace(chat_of([text_message("user", "")], wire.model, spelled), stream=False))
    return replace(wire, body=_under(spare.body, wire.body))


def _under(spare: Mapping[str, Json], own: Mapping[str, Json]) -> dict[str, Json]:
    """A document with the members of another one that it has not."""
    filled = {**spare, **own}
    for name, value in spare.items():
        if isinstance(value, dict) and isinstance(own.get(name), dict):
            filled[name] = _under(value, own[name])
    return filled


def chat_of(messages: Sequence[Message], model: str | None, params: Mapping[str, Json], *, stream: bool = True) -> ChatRequest:
    """The request of a turn. ``params`` are those of ``merged_params``."""
    known = {_NAMES.get(name, name): value for name, value in params.items()}
    effort = known.pop("reasoning_effort", None)
    stop, bias, banned, answers = (known.pop(name, None) for name in ("stop", *_BESIDE))
    fields = {name: value for name, value in known.items() if name in Params.__dataclass_fields__}
    return ChatRequest(
        vendor="agentui",
        model=model or "",
        messages=tuple(messages),
        params=Params(
            **fields,
            stop=tuple(stop) if stop else None,
            logit_bias=tuple(bias.items()) if bias else None,
            banned_strings=tuple(banned) if banned else None,
            answers=answers if answers and answers > 1 else None,
        ),
        stream=stream,
        thinking=ThinkingConfig(effort=effort) if effort in _EFFORTS else None,
        unmodelled=tuple(name for name, value in zip(_BESIDE, (bias, banned, answers), strict=True) if value and value != 1),
    )


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request that a pipeline is to answer, with what its caller sent: ``headers`` and the key among them."""

    chat: ChatRequest
    headers: Mapping[str, str]
    api_key: str
    vendors: Vendors

    def saying(self, *more: Message) -> "Conversation":
        """A question beside the turn: the same with more messages at its end, for one answer whatever the turn wants."""
        chat = self.chat
        left = tuple(name for name in chat.unmodelled if name != "n")
        params = replace(chat.params, answers=None)
        return replace(self, chat=replace(chat, messages=(*chat.messages, *more), params=params, unmodelled=left))

    def asking(self, model: str | None, params: Mapping[str, Json]) -> "Conversation":
        """The same, asked of another model and with its parameters."""
        known = merged_params(None, {}, slot=params)
        return replace(self, chat=chat_of(self.chat.messages, model, known, stream=params.get("stream") is not False))

    @property
    def vendor(self) -> Vendor:
        """Whose dialect it is asked in."""
        return self.vendors["openai"]

    async def incoming(self) -> Incoming:
        """The request as pipelines see it: a chat of OpenAI's, as if it had come over HTTP. A long one is made in a thread."""
        size = sum(len(message.text) for message in self.chat.messages)
        return await apart(size, self._incoming)

    def _incoming(self) -> Incoming:
        chat = self.chat
        wire = self.vendor.render_request(chat)
        body = dumps(wire.body)
        incoming = Incoming(
            method="POST",
            url="",
            path=PATH,
            query="",
            query_params={},
            headers={**self.headers, "content-type": "application/json"},
            body=body,
            json=wire.body,
            wire=wire,
            model=chat.model or None,
            vendors=self.vendors,
            api_key=self.api_key,
            chat=chat,
        )
        if all(map(_is_one_text, chat.messages)):
            # What people and models say is in members that we named, which hold no keys: a long chat is not walked for them.
            incoming.find_keys({name: value for name, value in wire.body.items() if name != "messages"})
        elif len(body) > LONG:
            incoming.find_keys()  # here a thread has time for it
        return incoming


def _is_one_text(message: Message) -> bool:
    """Whether a message is nothing but a text that was made here, as nearly all of a prompt are."""
    return message.raw is None and len(message.parts) == 1 and type(message.parts[0]) is Text
