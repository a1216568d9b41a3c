"""Who takes part: the texts of the character and the persona, with their macros replaced once for the whole prompt."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from agentui.assets.character import Character, DepthPrompt
from agentui.assets.persona import Persona
from agentui.jsonio import Json
from agentui.prompt.macros import PromptMacros, text_member
from agentui.prompt.prepared import PromptInput


@dataclass(frozen=True, slots=True)
class Cast:
    """Texts that are ready to be sent, empty where there is none. ``instructions`` are what the card wants behind the chat."""

    character: Character
    persona: Persona
    char: str
    user: str
    description: str
    personality: str
    scenario: str
    examples: str
    system_prompt: str
    instructions: str
    depth_prompt: DepthPrompt | None
    persona_text: str

    @classmethod
    def of(cls, given: PromptInput, macros: PromptMacros) -> Self:
        """The cast of a turn: its assets, else the session's snapshots. The session's metadata may have a system text, a
        scenario and examples of its own. All that comes later reads these texts by their macros (``{{description}}``)."""
        session, metadata = given.session, given.session.metadata
        character = given.assets.character or _character(session.character_snapshot or {})
        persona = given.assets.persona or _persona(session.user_snapshot or {})

        depth = character.depth_prompt
        system_prompt = text_member(metadata, "system_prompt", "systemPrompt") or character.system_prompt.strip()
        instructions = character.post_history_instructions.strip()
        told = {
            "description": character.description,
            "personality": character.personality,
            "persona": persona.description,
            "scenario": text_member(metadata, "scenario") or character.scenario,
            "mesExamples": text_member(metadata, "mes_example") or character.mes_example,
            "charPrompt": system_prompt,
            "charInstruction": instructions,
            "charDepthPrompt": depth.prompt if depth is not None else "",
            "charAuthorsNote": character.creator_notes,
        }
        macros.tell_raw({name: text.strip() for name, text in told.items()})
        macros.tell({"charVersion": character.character_version})
        texts = macros.scope.values
        description, personality, persona_text = texts["description"], texts["personality"], texts["persona"]
        scenario, examples, depth_text = texts["scenario"], texts["mesExamples"], texts["charDepthPrompt"]
        macros.tell({"mesExamplesRaw": examples})
        return cls(
            character=character,
            persona=persona,
            char=macros.scope.values["char"],
            user=macros.scope.values["user"],
            description=description,
            personality=personality,
            scenario=scenario,
            examples=examples,
            system_prompt=system_prompt,
            instructions=instructions,
            depth_prompt=None if depth is None else DepthPrompt(depth_text, depth.depth, depth.role),
            persona_text=persona_text,
        )


def _character(snapshot: Mapping[str, Json]) -> Character:
    """The character of a session that is bound to none: a snapshot has a card's members, some by names of its own."""
    first = text_member(snapshot, "greeting", "first_mes", "first_message")
    examples = text_member(snapshot, "mes_example", "message_example")
    made = Character.of({**snapshot, "first_mes": first, "mes_example": examples})
    depth = DepthPrompt.of({"prompt": text_member(snapshot, "depth_prompt")})
    return made if made.depth_prompt is not None else replace(made, depth_prompt=depth)


def _persona(snapshot: Mapping[str, Json]) -> Persona:
    """The persona of a session that is bound to none."""
    return Persona.of({**snapshot, "description": text_member(snapshot, "persona", "description")})
