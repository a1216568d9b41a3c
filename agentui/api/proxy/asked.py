"""What a caller names, a pipeline and models, held against what its key may be used for.

The restriction is of what a caller may name. What a pipeline does with it is the pipeline's: which models it asks by itself,
and which other pipelines it calls.
"""

from collections.abc import Iterator

from agentui.accounts.restrictions import check_models, check_pipeline, unread_model
from agentui.pipeline.incoming import Incoming
from agentui.principal import Principal

_FILES = "/v1/files"
"""What is uploaded names no model."""
_IN_PATH = "/models/"
"""What stands before a model that a path names."""
_MESSAGE_BATCHES = "/v1/messages/batches"
"""Claude's batches name a model in each of their requests."""


def check_asked(principal: Principal, pipeline: str, incoming: Incoming, *, is_named: bool) -> None:
    """Raise 403 ``client_api_key_restricted`` where the caller's key may not use this pipeline, or a model that the request
    names. ``is_named`` is whether the request chose the pipeline."""
    restrictions = principal.restrictions
    if restrictions is None:
        return
    check_pipeline(principal, pipeline, is_named=is_named)
    if restrictions.models is None:
        return
    named = list(_models(incoming))
    check_models(principal, named)
    if not named and _hides_its_model(incoming):
        raise unread_model(principal)


def _models(incoming: Incoming) -> Iterator[str]:
    """The models that a request names: its own; those that stand in for it (``models``, as OpenRouter has it); those of the
    requests of a batch; and those that a body names beside its path."""
    if incoming.model:
        yield incoming.model
    body = incoming.json
    if not isinstance(body, dict):
        return
    further = body.get("models")
    if isinstance(further, list):
        yield from (name for name in further if isinstance(name, str))
    requests = body.get("requests")
    named = list(requests) if isinstance(requests, list) else []
    if incoming.path == _MESSAGE_BATCHES:
        named = [each.get("params") for each in named if isinstance(each, dict)]
    elif _IN_PATH in incoming.path:
        # What passes through goes out as it is, and a server may go by these.
        named += [body, body.get("generateContentRequest")]
    for each in named:
        if isinstance(each, dict) and isinstance(each.get("model"), str):
            yield each["model"].removeprefix("models/")


def _hides_its_model(incoming: Incoming) -> bool:
    """Whether a model is asked that nobody here can know: one that stands in a form, or in a file of a batch, or the vendor's
    own choice. What reads, cancels or uploads asks none; of a chat without a model the pipeline knows which it is."""
    wire = incoming.wire
    is_passed_on = wire is not None and wire.operation == "forward" and incoming.method == "POST"
    has_body = bool(incoming.body) or incoming.upload is not None
    return is_passed_on and has_body and incoming.path != _FILES
