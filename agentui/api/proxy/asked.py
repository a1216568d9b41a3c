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
    """The models that a request names: its own; those that stand in for it (``models``, as OpenRouter has it); and those of the
    requests of a batch."""
    if incoming.model:
        yield incoming.model
    body = incoming.json
    if not isinstance(body, dict):
        return
    further = body.get("models")
    if isinstance(further, list):
        yield from (name for name in further if isinstance(name, str))
    requests = body.get("requests")
    if incoming.path == _MESSAGE_BATCHES and isinstance(requests, list):
        for each in requests:
            params = each.get("params") if isinstance(each, dict) else None
            if isinstance(params, dict) and isinstance(params.get("model"), str):
                yield params["model"]


def _hides_its_model(incoming: Incoming) -> bool:
    """Whether a model is asked that nobody here can know: one that stands in a form, or in a file of a batch, or the vendor's
    own choice. What reads, cancels or uploads asks none; of a chat without a model the pipeline knows which it is."""
    wire = incoming.wire
    is_passed_on = wire is not None and wire.operation == "forward" and incoming.method == "POST"
    has_body = bool(incoming.body) or incoming.upload is not None
    return is_passed_on and has_body and incoming.path != _FILES
