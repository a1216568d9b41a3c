"""A Guard behind a model's call: nothing of what the model says reaches the caller before it is checked."""

from tests.api.callers import DIALECTS, text_of
from tests.turns.house import House, Json, chain, target


async def test_the_guard_speaks_in_the_models_place_in_every_dialect(house: House) -> None:
    def guarded(action: str) -> Json:
        rule = {"pattern": ".+", "kind": "regex", "flags": "s", "action": action, "replacement": "Changed.", "message": "No."}
        node = {"id": "guard", "type": "Guard", "config": {"text": "[[OUT1]]", "rules": [rule]}}
        return chain({**target("openai", house.mock.origin), "id": "n1"}, node)

    pipelines = {"block": guarded("block"), "rewrite": guarded("rewrite")}
    for name, document in pipelines.items():
        house.server.put(name, document)
    said = text_of("openai", (await house.ask()).json)
    for dialect in DIALECTS:
        for pipeline, expected in (("block", "No."), ("rewrite", "Changed.")):
            whole = await house.ask(dialect=dialect, pipeline=pipeline)
            assert (whole.status, text_of(dialect, whole.json)) == (200, expected)
            streamed = await house.ask(dialect=dialect, pipeline=pipeline, stream=True)
            assert streamed.status == 200
            assert expected in streamed.body.decode() and said not in streamed.body.decode()
