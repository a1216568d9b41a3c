"""The prompts of a preset, in the order of its track, with the places in it that the turn fills."""

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from agentui.assets.preset import PresetPrompt, PromptPreset
from agentui.chat.messages import Message, Text
from agentui.prompt.drafts import Draft
from agentui.prompt.macros import PromptMacros
from agentui.prompt.memory import MEMORY
from agentui.prompt.ordered.cast import Cast
from agentui.prompt.ordered.injections import Injection
from agentui.prompt.prepared import PromptInput
from agentui.templating.sillytavern.scope import MacroTrace

Expanded: TypeAlias = tuple[str, tuple[MacroTrace, ...]]
"""A text with its macros replaced, and what became of them."""
HISTORY: Final = "chatHistory"
EXAMPLES: Final = "dialogueExamples"
PERSONA: Final = "personaDescription"
_APPENDED: Final = (
    "worldInfoBefore",
    "worldInfoAfter",
    "charDescription",
    "charPersonality",
    "scenario",
    "personaDescription",
)
"""Places that a track may forget: they are filled at its end then, as SillyTavern does."""
_SOURCES: Final = {
    "worldInfoBefore": "worldbook",
    "worldInfoAfter": "worldbook",
    "charDescription": "character",
    "charPersonality": "character",
    "scenario": "character",
    "personaDescription": "user",
}


@dataclass(slots=True)
class Frame:
    """``slots`` are identifiers with what stands there; the chat and the examples are put in later. ``injections`` stand within
    the chat; ``in_chat`` are the identifiers of those that the preset puts there."""

    slots: dict[str, list[Draft]] = field(default_factory=dict)
    injections: list[Injection] = field(default_factory=list)
    in_chat: list[str] = field(default_factory=list)
    trigger_filtered: list[str] = field(default_factory=list)


def frame_of(given: PromptInput, preset: PromptPreset, cast: Cast, lore: dict[str, str], macros: PromptMacros) -> Frame:
    """The frame of a turn. ``lore`` are the texts of the lorebooks for ``worldInfoBefore`` and ``worldInfoAfter``."""
    frame = Frame()
    filled = _filled(preset, cast, lore, macros)
    order = [prompt for prompt in preset.order if prompt.is_for(given.intent)]
    frame.trigger_filtered = [prompt.identifier for prompt in preset.order if not prompt.is_for(given.intent)]
    present = {prompt.identifier for prompt in order} | preset.off
    order += [PresetPrompt(identifier, is_marker=True) for identifier in _APPENDED if identifier not in present]
    persona: PresetPrompt | None = None
    for prompt in order:
        if prompt.identifier in (HISTORY, EXAMPLES):
            frame.slots[prompt.identifier] = []
        elif prompt.identifier == MEMORY and prompt.is_marker:
            _put(frame, prompt, MEMORY, (given.memory.text, ()))
        elif prompt.identifier == PERSONA:
            persona, frame.slots[PERSONA] = prompt, []
        elif prompt.identifier in filled:
            _put(frame, prompt, _SOURCES[prompt.identifier], filled[prompt.identifier])
        elif not prompt.is_marker:
            _put(frame, prompt, *_written(prompt, cast, macros))
    if persona is not None:
        # SillyTavern replaces its macros when those of all prompts are replaced: what they set, it reads.
        is_here = cast.persona.place == "in_prompt"
        _put(frame, persona, _SOURCES[PERSONA], macros.expand(cast.persona.description.strip()) if is_here else ("", ()))
        if not frame.slots[PERSONA]:
            del frame.slots[PERSONA]
    return frame


def _filled(preset: PromptPreset, cast: Cast, lore: dict[str, str], macros: PromptMacros) -> dict[str, Expanded]:
    """What stands at the places that the cast and the lorebooks fill."""

    def framed(text: str, frame: str) -> Expanded:
        return macros.expand(frame) if text and frame else (text, ())

    def formed(text: str) -> Expanded:
        form, traces = macros.expand(preset.wi_format) if text else ("", ())
        return formatted(form, text), traces

    scenario = framed(cast.scenario, preset.scenario_format)
    personality = framed(cast.personality, preset.personality_format)
    return {
        "worldInfoBefore": formed(lore.get("before", "")),
        "worldInfoAfter": formed(lore.get("after", "")),
        "charDescription": (cast.description, ()),
        "charPersonality": personality,
        "scenario": scenario,
    }


def formatted(form: str, text: str) -> str:
    """A text where the form says ``{0}``; a form that says nothing leaves it as it is."""
    return form.replace("{0}", text) if text and form.strip() else text


def _put(frame: Frame, prompt: PresetPrompt, source: str, expanded: Expanded) -> None:
    """A prompt at its place."""
    text, traces = expanded
    name = prompt.identifier
    if prompt.is_in_chat:
        if text.strip():
            frame.injections.append(
                Injection(name, "preset", text, prompt.role, prompt.depth, prompt.order, traces, prompt.name)
            )
            frame.in_chat.append(name)
        return
    frame.slots[name] = [
        Draft(name, f"section:{name}", source, Message(prompt.role, (Text(text),)), macros=traces, title=prompt.name)
    ]


def _written(prompt: PresetPrompt, cast: Cast, macros: PromptMacros) -> tuple[str, Expanded]:
    """Where the text of a prompt is from, and the text: the preset's, or the card's that stands for it, in which
    ``{{original}}`` is the preset's."""
    own = macros.expand(prompt.content)
    card = {"main": cast.system_prompt, "jailbreak": cast.instructions}.get(prompt.identifier, "")
    if not card or prompt.forbids_overrides:
        return "preset", own
    return "character", macros.expand(card, {"original": own[0]})
