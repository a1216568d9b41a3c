"""A prompt preset: which texts a prompt consists of, in which order, and how a model is asked.

Content is SillyTavern's chat completion preset. A member that is missing has SillyTavern's default; one that is there and empty
is empty.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Self, TypeAlias

from agentui.assets.values import Role, flag, members, number, role, text, texts, whole
from agentui.jsonio import Json

NamesBehavior: TypeAlias = Literal["none", "default", "completion", "content"]
"""How a message tells who speaks: not at all; where it would not be clear; by the message's name; by a prefix of its text."""

MARKERS: Final = (
    "chatHistory",
    "dialogueExamples",
    "worldInfoBefore",
    "worldInfoAfter",
    "charDescription",
    "charPersonality",
    "scenario",
    "personaDescription",
    "memory",
)
"""Identifiers of the places that a turn fills."""
CURRENT_TRACK: Final = 100001
"""The track that SillyTavern's prompt manager reads and writes."""
_FACTORY_TRACK: Final = 100000
"""The track that presets have had since before there was one for all characters."""
INTENTS: Final = ("normal", "continue", "impersonate", "swipe", "regenerate", "quiet")
"""What a prompt may be switched on for."""
DEFAULT_DEPTH: Final = 4
DEFAULT_ORDER: Final = 100

_MAIN: Final = "You write what {{char}} says and does next, in a story that {{charIfNotGroup}} and {{user}} tell together."
_ENHANCE: Final = "Where you know more of {{char}} than is said here, use it, but what is said here of {{char}} holds."
_IMPERSONATION: Final = (
    "[Write the next message as {{user}}, in the way in which {{user}} has written so far. "
    "Do not write as {{char}}, and do not tell what {{char}} does.]"
)
_NUDGE: Final = "[Continue your last message without repeating its original content.]"

_NAMES: Final[Mapping[int, NamesBehavior]] = {-1: "none", 0: "default", 1: "completion", 2: "content"}
_PARAMS: Final[Mapping[str, tuple[str, ...]]] = {
    "temperature": ("temperature", "temp_openai"),
    "top_p": ("top_p", "top_p_openai"),
    "frequency_penalty": ("frequency_penalty", "freq_pen_openai"),
    "presence_penalty": ("presence_penalty", "pres_pen_openai"),
    "min_p": ("min_p", "min_p_openai"),
    "repetition_penalty": ("repetition_penalty", "repetition_penalty_openai"),
}
"""Parameters that a preset gives, by our names, and the members that say them."""
_COUNTS: Final[Mapping[str, str]] = {
    "max_context_tokens": "openai_max_context",
    "max_output_tokens": "openai_max_tokens",
    "top_k": "top_k",
}
"""The same for whole numbers from one on; zero says nothing."""
_EFFORTS: Final[Mapping[str, str]] = {"min": "low", "low": "low", "medium": "medium", "high": "high", "max": "high"}
_NEUTRAL: Final[Mapping[str, float]] = {"top_a": 0}
"""Sampling that this server does not send, with the values that change nothing."""
MOST_ANSWERS: Final = 32
"""Answers of one turn (SillyTavern's ``n``, swipes in one go), as many as its slider has."""
_READ: Final = frozenset(
    {
        *(name for names in _PARAMS.values() for name in names),
        *_COUNTS.values(),
        *_NEUTRAL,
        *("seed", "n"),
        *("name", "prompts", "prompt_order", "extensions", "reasoning_effort", "names_behavior", "send_if_empty"),
        *("impersonation_prompt", "new_chat_prompt", "new_example_chat_prompt", "continue_nudge_prompt", "wi_format"),
        *("scenario_format", "personality_format", "assistant_prefill", "assistant_impersonation"),
        *("squash_system_messages", "continue_prefill", "continue_postfix"),
    }
)
"""Members of a preset that mean something here."""


@dataclass(frozen=True, slots=True)
class PresetPrompt:
    """One prompt of a preset. ``is_in_chat``: it stands within the chat, before the ``depth``-th message from its end, where
    those of a lower ``order`` come first; else where its track says. ``triggers`` are the intents that it is for, all where
    there are none; one that nobody knows is no turn's. ``forbids_overrides``: no card may replace it."""

    identifier: str
    name: str = ""
    role: Role = "system"
    content: str = ""
    is_marker: bool = False
    is_in_chat: bool = False
    depth: int = DEFAULT_DEPTH
    order: int = DEFAULT_ORDER
    triggers: tuple[str, ...] = ()
    forbids_overrides: bool = False

    @classmethod
    def of(cls, content: Mapping[str, Json]) -> Self:
        """The prompt that an item of ``prompts`` tells of."""
        return cls(
            identifier=text(content.get("identifier")),
            name=text(content.get("name")),
            role=role(content.get("role")),
            content=text(content.get("content")),
            is_marker=flag(content.get("marker")),
            is_in_chat=whole(content.get("injection_position"), 0) == 1,
            depth=max(whole(content.get("injection_depth"), DEFAULT_DEPTH), 0),
            order=whole(content.get("injection_order"), DEFAULT_ORDER),
            triggers=texts(content.get("injection_trigger")),
            forbids_overrides=flag(content.get("forbid_overrides")),
        )

    def is_for(self, intent: str) -> bool:
        """Whether the prompt is sent with this intent."""
        return not self.triggers or intent in self.triggers


FACTORY_PROMPTS: Final = (
    PresetPrompt("main", "Main Prompt", content=_MAIN),
    PresetPrompt("worldInfoBefore", "World Info (before)", is_marker=True),
    PresetPrompt("personaDescription", "Persona Description", is_marker=True),
    PresetPrompt("charDescription", "Char Description", is_marker=True),
    PresetPrompt("charPersonality", "Char Personality", is_marker=True),
    PresetPrompt("scenario", "Scenario", is_marker=True),
    PresetPrompt("enhanceDefinitions", "Enhance Definitions", content=_ENHANCE),
    PresetPrompt("nsfw", "Auxiliary Prompt"),
    PresetPrompt("worldInfoAfter", "World Info (after)", is_marker=True),
    PresetPrompt("dialogueExamples", "Chat Examples", is_marker=True),
    PresetPrompt("chatHistory", "Chat History", is_marker=True),
    PresetPrompt("jailbreak", "Post-History Instructions"),
)
"""The prompts that every preset has, in the order of one that says none; all but ``enhanceDefinitions`` are on in it."""


@dataclass(frozen=True, slots=True)
class PresetReading:
    """What was noticed while a preset was read.

    ``selected_track`` and ``ignored_tracks`` are the character ids of ``prompt_order``; None where there is none that says
    anything. ``unsupported`` and ``ignored`` name members (``top_level.x``, ``prompts[].x``); ``markers`` are identifiers of
    places that nothing fills.
    """

    selected_track: int | None = None
    ignored_tracks: tuple[int, ...] = ()
    unsupported: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptPreset:
    """A prompt preset, read. ``order`` are the prompts of its track that are switched on; ``off`` the identifiers of those
    that are not. ``params`` are generation parameters by the API's names. ``scripts`` are its regex scripts as they are kept.
    """

    order: tuple[PresetPrompt, ...] = tuple(each for each in FACTORY_PROMPTS if each.identifier != "enhanceDefinitions")
    off: frozenset[str] = frozenset({"enhanceDefinitions"})
    main: PresetPrompt = FACTORY_PROMPTS[0]
    params: Mapping[str, Json] = field(default_factory=dict)
    names_behavior: NamesBehavior = "default"
    send_if_empty: str = ""
    impersonation: str = _IMPERSONATION
    new_chat: str = "[Start a new Chat]"
    new_example_chat: str = "[Example Chat]"
    continue_nudge: str = _NUDGE
    wi_format: str = "{0}"
    scenario_format: str = "{{scenario}}"
    personality_format: str = "{{personality}}"
    continue_prefill: bool = False
    continue_postfix: str = " "
    assistant_prefill: str = ""
    assistant_impersonation: str = ""
    squash_system_messages: bool = False
    scripts: tuple[Mapping[str, Json], ...] = ()
    reading: PresetReading = PresetReading()

    @classmethod
    def of(cls, content: Mapping[str, Json], *, track: int | None = None) -> Self:
        """The preset that the content tells of; ``track`` is the character id of the ``prompt_order`` to take, where it has
        one. Otherwise it is the one that ``selected_track`` finds."""
        prompts = _prompts_of(content)
        tracks = _tracks_of(content)
        selected = selected_track(tracks, track)
        switches = FACTORY_ORDER if selected is None else tracks[selected]
        off = frozenset(identifier for identifier, is_on in switches.items() if not is_on)
        order = tuple(prompts[identifier] for identifier, is_on in switches.items() if is_on and identifier in prompts)
        names = _NAMES.get(whole(content.get("names_behavior"), 0), "default")
        scripts = members(content.get("extensions")).get("regex_scripts")
        return cls(
            order=order,
            off=off,
            main=prompts["main"],
            params=_params_of(content),
            names_behavior=names,
            send_if_empty=text(content.get("send_if_empty")),
            impersonation=text(content.get("impersonation_prompt"), _IMPERSONATION),
            new_chat=text(content.get("new_chat_prompt"), "[Start a new Chat]"),
            new_example_chat=text(content.get("new_example_chat_prompt"), "[Example Chat]"),
            continue_nudge=text(content.get("continue_nudge_prompt"), _NUDGE),
            wi_format=text(content.get("wi_format"), "{0}"),
            scenario_format=text(content.get("scenario_format"), "{{scenario}}"),
            personality_format=text(content.get("personality_format"), "{{personality}}"),
            continue_prefill=flag(content.get("continue_prefill")),
            continue_postfix=text(content.get("continue_postfix"), " "),
            assistant_prefill=text(content.get("assistant_prefill")),
            assistant_impersonation=text(content.get("assistant_impersonation")),
            squash_system_messages=flag(content.get("squash_system_messages")),
            scripts=tuple(each for each in scripts if isinstance(each, Mapping)) if isinstance(scripts, list) else (),
            reading=_reading(content, order, selected, tuple(each for each in tracks if each != selected)),
        )


FACTORY_ORDER: Final = {each.identifier: each.identifier != "enhanceDefinitions" for each in FACTORY_PROMPTS}
"""What a preset without an order switches on, in the order in which it is sent."""


def selected_track(ids: Collection[int], wanted: int | None = None) -> int | None:
    """Which of these tracks counts, by their character ids: the wanted one, else 100001, else 100000, else the first. None
    where there is none."""
    return next((id for id in (wanted, CURRENT_TRACK, _FACTORY_TRACK, *ids) if id in ids), None)


def _items(value: Json) -> Iterator[Mapping[str, Json]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


def _prompts_of(content: Mapping[str, Json]) -> dict[str, PresetPrompt]:
    """The prompts by their identifiers, of several with one the first; those that every preset has are there."""
    prompts: dict[str, PresetPrompt] = {}
    for item in _items(content.get("prompts")):
        prompt = PresetPrompt.of(item)
        if prompt.identifier:
            prompts.setdefault(prompt.identifier, prompt)
    for prompt in FACTORY_PROMPTS:
        prompts.setdefault(prompt.identifier, prompt)
    return prompts


def _tracks_of(content: Mapping[str, Json]) -> dict[int, dict[str, bool]]:
    """The tracks that order something, by their character ids: identifiers, and whether they are switched on."""
    tracks: dict[int, dict[str, bool]] = {}
    given = content.get("prompt_order")
    if isinstance(given, list) and given and all(isinstance(item, Mapping) and "identifier" in item for item in given):
        given = [{"character_id": CURRENT_TRACK, "order": given}]  # the prompt manager's own export has one track alone
    for item in _items(given):
        switches: dict[str, bool] = {}
        for entry in _items(item.get("order")):
            switches.setdefault(text(entry.get("identifier")), flag(entry.get("enabled")))
        if switches:
            tracks.setdefault(whole(item.get("character_id"), 0), switches)
    return tracks


def _params_of(content: Mapping[str, Json]) -> dict[str, Json]:
    """The generation parameters that a preset gives, by the API's names."""
    params: dict[str, Json] = {}
    for name, keys in _PARAMS.items():
        found = next((value for key in keys if (value := number(content.get(key), None)) is not None), None)
        if found is not None:
            params[name] = found
    for name, key in _COUNTS.items():
        if (count := whole(content.get(key), 0)) > 0:
            params[name] = count
    if (seed := whole(content.get("seed"), -1)) >= 0:  # -1 is SillyTavern's word for none
        params["seed"] = seed
    if (answers := whole(content.get("n"), 1)) > 1:
        params["n"] = min(answers, MOST_ANSWERS)
    effort = _EFFORTS.get(text(content.get("reasoning_effort")))
    return params if effort is None else {**params, "reasoning_effort": effort}


def _reading(
    content: Mapping[str, Json],
    order: tuple[PresetPrompt, ...],
    selected: int | None,
    others: tuple[int, ...],
) -> PresetReading:
    """What a person should know about how the preset was read."""
    odd = [name for name, neutral in _NEUTRAL.items() if number(content.get(name), neutral) != neutral]
    warnings = []
    if others:
        warnings.append(
            f"prompt_order has {len(others) + 1} tracks: that of the character_id {selected} is used, no other one."
        )
    if "chatHistory" not in {prompt.identifier for prompt in order}:
        warnings.append("The track does not switch chatHistory on: nothing of the chat is sent.")
    for prompt in order:
        unknown = [trigger for trigger in prompt.triggers if trigger not in INTENTS]
        if unknown:
            warnings.append(f"The prompt {prompt.identifier!r} has unknown triggers: {', '.join(map(repr, unknown))}.")
    return PresetReading(
        selected_track=selected,
        ignored_tracks=others,
        unsupported=tuple(f"top_level.{name}" for name in odd),
        ignored=tuple(f"top_level.{name}" for name in content if name not in _READ),
        markers=tuple(each.identifier for each in order if each.is_marker and each.identifier not in MARKERS),
        warnings=tuple(warnings),
    )
