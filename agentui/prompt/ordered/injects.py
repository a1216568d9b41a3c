"""What the slash command ``/inject`` put into a chat: texts around the main prompt, within the chat, or for lorebooks alone."""

from collections.abc import Mapping

from agentui.assets.chat_settings import ScriptInject, injects_in
from agentui.jsonio import Json
from agentui.prompt.drafts import text_draft
from agentui.prompt.macros import PromptMacros
from agentui.prompt.ordered.frame import Frame
from agentui.prompt.ordered.injections import Injection


def injects_of(metadata: Mapping[str, Json]) -> list[ScriptInject]:
    """The injections of a turn. One with a filter, which is a script that nobody runs here, is left out."""
    return [inject for inject in injects_in(metadata) if not inject.has_filter]


def place_injects(metadata: Mapping[str, Json], frame: Frame, macros: PromptMacros) -> None:
    """Put them into the frame. Around the main prompt each stands outside of those before it; within the chat they stand
    behind all that is there at their depth, by their names."""
    injects = injects_of(metadata)
    for inject in injects:
        if inject.place not in ("before_main", "after_main") or "main" not in frame.slots:
            continue
        draft = text_draft(f"inject:{inject.id}", "inject", inject.role, macros.expand(inject.value)[0])
        main = frame.slots["main"]
        main.insert(0 if inject.place == "before_main" else len(main), draft)
    for inject in sorted(injects, key=lambda inject: inject.id):
        if inject.place == "in_chat":
            text = macros.expand(inject.value)[0]
            frame.injections.append(Injection(f"inject:{inject.id}", "inject", text, inject.role, inject.depth))
