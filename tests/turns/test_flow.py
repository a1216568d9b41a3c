"""Turns of a chat through pipelines that decide: the branch that answers is what is committed."""

from tests.api.test_flow import pipelines
from tests.turns.conftest import StartHouse
from tests.turns.talk import begin_talk, named
from tests.upstreams.server import Mock
from tests.upstreams.step import Step


async def test_the_branch_that_answers_is_committed_and_a_refusal_is_not(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house({f"flow-{id}": each for id, each in pipelines(mock).items()})
    talk = await begin_talk(house)
    mock.play(lambda asked: Step(text="A." if asked.path.endswith("/messages") else "B."))
    said = []
    for path, message in (("flow-default", "some code"), ("flow-joined", "Hello"), ("flow-guard", "why")):
        status, answer = await talk.post(f"/p/{path}/sessions/{talk.session}/respond", {"message": message})
        assert status == 200, answer
        said += [("user", message), ("assistant", answer["data"]["generated_text"])]
    assert said[1::2] == [("assistant", "A."), ("assistant", "B."), ("assistant", "Refused politely.")]
    assert await talk.timeline() == said
    events = await talk.events(f"/p/flow-default/sessions/{talk.session}/respond/stream", {"message": "more code"})
    assert "".join(chunk["chunk"] for chunk in named(events, "chunk")) == "A."
    said += [("user", "more code"), ("assistant", "A.")]
    assert (await talk.refused(f"/p/flow-error/sessions/{talk.session}/respond", {"message": "no"}))[1] == "returned"
    assert (await talk.refused(f"/p/flow-half/sessions/{talk.session}/respond", {"message": "no"}))[1] == "no_answer"
    assert await talk.timeline() == said
