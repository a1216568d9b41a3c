"""Turns of a chat through loops and called pipelines: what they answer is what is committed."""

from tests.api.test_walks import asking_each, calling
from tests.conftest import call
from tests.turns.conftest import StartHouse
from tests.turns.talk import begin_talk, named
from tests.upstreams.server import Mock
from tests.upstreams.step import Step


async def test_what_a_loop_and_a_called_pipeline_answer_is_committed(start_house: StartHouse, mock: Mock) -> None:
    model = call("openai", mock.origin)
    house = await start_house({"walk-each": asking_each(mock), "walk-model": model, "walk-calls": calling("walk-model")})
    talk = await begin_talk(house)
    mock.play(lambda asked: Step(text="Yes."))
    status, answer = await talk.post(f"/p/walk-each/sessions/{talk.session}/respond", {"message": "a\nb"})
    assert status == 200, answer
    events = await talk.events(f"/p/walk-calls/sessions/{talk.session}/respond/stream", {"message": "c"})
    assert "".join(chunk["chunk"] for chunk in named(events, "chunk")) == "Yes."
    said = [("user", "a\nb"), ("assistant", "Yes.|Yes."), ("user", "c"), ("assistant", "Yes.")]
    assert await talk.timeline() == said
