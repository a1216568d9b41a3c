"""What a model says that a turn taught, before the turn is committed (TavernHeadless' contract, 3.5: the mode sync)."""

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from agentui.errors import AgentUIError
from agentui.memories.hosts import Host, branch_scope_id
from agentui.memories.reading import Spot
from agentui.memories.sights import Sights
from agentui.memories.writing.deciding import decide
from agentui.memories.writing.material import FloorText, Material, PageText, read_known, shortened
from agentui.memories.writing.modes import TurnMemories
from agentui.memories.writing.prompts import INGEST, ingest_question
from agentui.pipeline.walk.group import drop_frames
from agentui.principal import Principal
from agentui.store.base import Store
from agentui.threads import apart
from agentui.turns.live.memory_model import Caller, MemoryAnswer, MemoryModel, MemoryQuestion
from agentui.turns.request import ChatFacts, TurnPlace

MOST_TOKENS: Final = 1000
TEMPERATURE: Final = 0.3
NOTHING: Final = MemoryAnswer("", 0, 0)

log = logging.getLogger("agentui.memories")


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Asks before commits. ``sights`` say what is known already."""

    store: Store
    sights: Sights
    model: MemoryModel

    async def consolidated(
        self,
        wanted: TurnMemories,
        place: TurnPlace,
        chat: ChatFacts,
        principal: Principal,
        caller: Caller,
        question: str,
        answer: str,
    ) -> tuple[TurnMemories, MemoryAnswer]:
        """What the turn writes, with what a model proposed and what that took. A call that fails costs the turn nothing but
        that: its own summaries are stored."""
        floor = place.floor
        said = ((floor.input_page_id, "user", question), (floor.output_page_id, "assistant", answer))
        texts = [PageText(id, role, shortened(text)) for id, role, text in said if text.strip()]
        host = Host("branch", branch_scope_id(place.session_id, place.branch_id), place.session_id)
        try:
            spot = Spot(place.session_id, place.branch_id, floor.parent_floor_id)
            sight = await self.sights.at(place.account, spot)
            known = await self.store.read(read_known, place.account, place.session_id, sight, [text.text for text in texts])
            told = FloorText(floor.floor_id, floor.floor_no, floor.output_page_id, texts, wanted.summaries)
            material = Material(host, (told,), known)
            asked = MemoryQuestion(INGEST, ingest_question(material), MOST_TOKENS, TEMPERATURE)
            made = await self.model.ask(principal, chat, asked, caller)
            decision = await apart(4 * (len(made.text) + told.length), partial(decide, material, made.text))
        except AgentUIError as error:
            drop_frames(error)
            log.warning("What a turn taught could not be asked for: %s", error.message)
            return wanted, NOTHING
        return replace(wanted, decision=decision, sight=sight), made
