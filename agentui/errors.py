"""Everything that agentui says went wrong.

    AgentUIError
    ├── BadRequest                400  the caller's request cannot be served as it is
    │   ├── UnsupportedFeature    400  the chosen provider has no way to say what was asked
    │   │   └── UnsupportedState  400  the request leans on something that is kept elsewhere
    │   ├── BodyTooLarge          413
    │   ├── RequestLoop           400  it came round through too many servers of agentui
    │   └── WrongContentType      415
    ├── Unauthorized              401  the server wants its own token
    ├── Forbidden                 403  a foreign page or origin
    ├── NotFound                  404
    ├── MethodNotAllowed          405
    ├── SlowBody                  408  the request's body did not arrive in time
    ├── Conflict                  409
    ├── PreconditionFailed        412  somebody saved in between; carries the current document
    ├── WrongHost                 421  the Host header is none of ours
    ├── PreconditionRequired      428
    ├── RateLimited               429  too much from one address; carries retry_after
    ├── BudgetExceeded            429  a budget has not enough left for a call; says which, and when it frees
    ├── PriceUnknown              429  a budget of money, and nobody knows what the model costs
    ├── InvalidPipeline           422  problems in a pipeline, each with node, field, line and column
    │   └── TemplateProblem       422  one template that does not compile or render
    ├── NodeFailed                422  a node could not do its work (not the upstream's fault)
    ├── Returned                  as the pipeline says: it answers with an error
    ├── NoAnswer                  422  the way that the run took leads to no node that answers
    ├── Busy                      503  at capacity; carries retry_after
    ├── StoreReadOnly             503  the memory's file is damaged and open for reading only
    ├── StoreInUse                503  another process has the data folder
    ├── StoreNotShared            503  several workers without a database have no memory
    ├── ServerStopping            503  the server stops and waits no longer
    ├── Unsupported               501
    ├── NotSaved                  507  a file could not be written
    ├── StoreFull                 507  the memory's disk is full
    ├── StoreFailed               503  the memory's disk does not read or write
    ├── ApiError                  as the code says: the memory's API (codes in agentui/chats/codes.py)
    └── UpstreamError             502  the model's side
        ├── UpstreamRefused       as the upstream said: it answered with an error
        ├── UpstreamUnreachable   502  no connection: refused, DNS, TLS
        ├── UpstreamProxyFailed   502  the proxy on the way there: refused, unreachable, slow
        ├── UpstreamTimeout       504
        ├── UpstreamInvalid       502  it answered, but not in its own language
        ├── UpstreamTruncated     502  the answer broke off
        ├── UpstreamUnavailable   503  the circuit breaker is open
        └── AllTargetsFailed      502  every target of a node failed

A message says what happened, to what, and what to do; it never holds a key, a body or a trace.
``status`` is the HTTP status, ``code`` a stable word for programs (listed in docs/errors.md).
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from agentui.jsonio import Json


class AgentUIError(Exception):
    """The root. ``details`` are facts as JSON; ``retry_after`` is in seconds."""

    status: int = 500
    code: str = "internal_error"
    is_permanent: bool = False
    """Whether the same request fails again until somebody changes the configuration: clients are told not to retry."""

    def __init__(self, message: str, *, retry_after: float | None = None, **details: Json) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        self.details: dict[str, Json] = details

    @property
    def param(self) -> str | None:
        """The request's field at fault, where one is."""
        param = self.details.get("param")
        return param if isinstance(param, str) else None


class BadRequest(AgentUIError):
    """The request cannot be served as it is; ``param`` in details names the field."""

    status = 400
    code = "bad_request"


class UnsupportedFeature(BadRequest):
    """The chosen provider's dialect cannot express something that changes the meaning."""

    code = "unsupported_feature"


class UnsupportedState(UnsupportedFeature):
    """The request leans on something that is kept elsewhere; sent whole, it can be served."""


class BodyTooLarge(BadRequest):
    """More bytes than the configured cap."""

    status = 413
    code = "body_too_large"


class RequestLoop(BadRequest):
    """The request went through too many servers of agentui; one of them probably calls itself."""

    code = "request_loop"
    is_permanent = True


class WrongContentType(BadRequest):
    """A body that is not application/json."""

    status = 415
    code = "wrong_content_type"


class Unauthorized(AgentUIError):
    """The server's own access token is missing or wrong."""

    status = 401
    code = "unauthorized"


class Forbidden(AgentUIError):
    """A page of another origin asks."""

    status = 403
    code = "forbidden"


class NotFound(AgentUIError):
    """No such route, pipeline, preset, model or run."""

    status = 404
    code = "not_found"


class MethodNotAllowed(AgentUIError):
    """The path exists, the method does not."""

    status = 405
    code = "method_not_allowed"


class SlowBody(AgentUIError):
    """The request's body did not arrive within the limit."""

    status = 408
    code = "slow_body"


class Conflict(AgentUIError):
    """The thing is in a state that does not allow this."""

    status = 409
    code = "conflict"


class PreconditionFailed(AgentUIError):
    """The document changed since it was read; details carry ``current`` and ``etag``."""

    status = 412
    code = "precondition_failed"


class WrongHost(AgentUIError):
    """The Host header names none of this server's names (DNS rebinding)."""

    status = 421
    code = "wrong_host"


class PreconditionRequired(AgentUIError):
    """A save without If-Match."""

    status = 428
    code = "precondition_required"


class RateLimited(AgentUIError):
    """More requests, or more wrong tokens, than one address may send; try again after ``retry_after`` seconds."""

    status = 429
    code = "rate_limited"


NO_FACTS: Mapping[str, Json] = {}
"""Of a problem whose message names nothing."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a pipeline, and where. Line and column count from 1, within the field's own text.

    ``facts`` are what the message names, by what each is: ids of nodes, ports, limits. Whoever says the problem in another
    language fills its sentence from them (the page's ``server.problem.*``). The fact ``reason`` is a word of ours for which of
    several things is meant, where one code stands for several.
    """

    code: str
    message: str
    severity: Literal["error", "warning"] = "error"
    node: str | None = None
    field: str | None = None
    line: int | None = None
    column: int | None = None
    facts: Mapping[str, Json] = dataclasses.field(default_factory=lambda: NO_FACTS, hash=False)

    def as_json(self) -> dict[str, Json]:
        """The problem as a JSON object with every field present."""
        return asdict(self)

    def __str__(self) -> str:
        where = " ".join(
            part
            for part in (
                f"node {self.node}" if self.node else "",
                f"field {self.field}" if self.field else "",
                f"line {self.line}" if self.line else "",
                f"column {self.column}" if self.column else "",
            )
            if part
        )
        return f"{where}: {self.message}" if where else self.message


@dataclass(frozen=True, slots=True)
class LimitLeft:
    """What is left of a limit for a minute: of ``limit`` requests or tokens so many ``remaining``, until ``reset`` (in
    milliseconds since 1970), which is ``wait`` seconds from now."""

    unit: Literal["requests", "tokens"]
    limit: int
    remaining: int
    reset: int
    wait: float


class BudgetExceeded(AgentUIError):
    """A budget has less left than a call may take. ``level``, ``subject``, ``unit`` and ``period`` in details say
    which, ``left`` and ``asked`` how much, ``frees_at`` when
    it has more, in milliseconds since 1970 (None: at no certain time). ``limits`` are what the caller has left of limits for a
    minute, which each dialect's clients find in the headers."""

    status = 429
    code = "budget_exceeded"

    def __init__(
        self, message: str, *, retry_after: float | None = None, limits: Sequence[LimitLeft] = (), **details: Json
    ) -> None:
        super().__init__(message, retry_after=retry_after, **details)
        self.limits = limits
        # Clients try again a few times within seconds.
        self.is_permanent = retry_after is None or retry_after > 60


class PriceUnknown(AgentUIError):
    """A caller with a budget of money asks for a model whose price is not known."""

    status = 429
    code = "price_unknown"
    is_permanent = True


class InvalidPipeline(AgentUIError):
    """A pipeline that does not compile; ``problems`` says why."""

    status = 422
    code = "invalid_pipeline"
    is_permanent = True

    def __init__(self, message: str, problems: tuple[Problem, ...] = (), **details: Json) -> None:
        super().__init__(message, problems=[problem.as_json() for problem in problems], **details)
        self.problems = problems


class TemplateProblem(InvalidPipeline):
    """One template that does not compile, or whose rendering broke a rule."""

    code = "template_error"

    def __init__(self, problem: Problem, **details: Json) -> None:
        super().__init__(str(problem), (problem,), **details)
        self.problem = problem


class NodeFailed(AgentUIError):
    """A node could not do its work; details name ``node`` and ``type``."""

    status = 422
    code = "node_failed"
    is_permanent = True


class NoAnswer(AgentUIError):
    """A run ended and no node that could answer was reached; details name the ``node`` and its ``port`` where it went wrong."""

    status = 422
    code = "no_answer"
    is_permanent = True


class Returned(AgentUIError):
    """A pipeline answers with an error, whose message and status its node Return says."""

    status = 400
    code = "returned"

    def __init__(self, message: str, *, status: int, **details: Json) -> None:
        super().__init__(message, **details)
        self.status = status


class Unsupported(AgentUIError):
    """Known, but not offered here."""

    status = 501
    code = "not_supported"
    is_permanent = True


class NotSaved(AgentUIError):
    """A file could not be written (disk full, no permission); what was there before is still there."""

    status = 507
    code = "not_saved"


class ApiError(AgentUIError):
    """An error of the memory's API. Its code is its own, one of ``agentui.chats.codes.CODES``, which also names the status.

    ``problems`` are a form's faults, each ``{"path", "message", "code"}``; where there are any, they are the answer's details.
    """

    def __init__(
        self, message: str, *, status: int, code: str, problems: Sequence[Mapping[str, Json]] = (), **details: Json
    ) -> None:
        super().__init__(message, **details)
        self.status = status
        self.code = code
        self.problems: list[Mapping[str, Json]] = list(problems)


@dataclass(frozen=True, slots=True)
class Code:
    """What a code of ``ApiError`` stands for."""

    status: int
    meaning: str


class Busy(AgentUIError):
    """More work than the configured capacity; try again after ``retry_after`` seconds."""

    status = 503
    code = "busy"


class StoreReadOnly(AgentUIError):
    """The memory can be read, but not written: its file is damaged, or a newer agentui wrote it."""

    status = 503
    code = "store_read_only"


class StoreInUse(AgentUIError):
    """Another process has this data folder; details carry its ``pid`` where it is known."""

    status = 503
    code = "store_in_use"


class StoreNotShared(AgentUIError):
    """The server has several workers and no database that they could share: it serves pipelines, and no chats."""

    status = 503
    code = "store_not_shared"
    is_permanent = True


class ServerStopping(AgentUIError):
    """The server stops, and this request took longer than it waits (``AGENTUI_STOP_TIMEOUT``)."""

    status = 503
    code = "server_stopping"


class StoreFull(AgentUIError):
    """The disk of the memory is full (or over quota); nothing that was acknowledged is lost."""

    status = 507
    code = "store_full"


class StoreFailed(AgentUIError):
    """The disk of the memory does not read or write what it should; nothing that was acknowledged is lost. Later it may."""

    status = 503
    code = "store_failed"


class UpstreamError(AgentUIError):
    """The model's side failed; details name ``host`` and, in a pipeline, ``node``."""

    status = 502
    code = "upstream_error"


ErrorKind = Literal[
    "invalid_request",
    "context_overflow",
    "authentication",
    "billing",
    "permission",
    "not_found",
    "too_large",
    "rate_limit",
    "quota",
    "overloaded",
    "timeout",
    "server",
]
"""What an upstream's error means, whatever its dialect calls it. A conversation that is longer than the model takes is
``context_overflow``, not ``too_large``, which is too many bytes."""  # fmt: skip


class UpstreamRefused(UpstreamError):
    """The upstream answered with an error of its own: its status, its message, and what it means.

    ``body`` is the upstream's JSON as it came; the same dialect shows it to the caller untouched (after redaction).
    ``headers`` are the few that travel: retry-after, x-should-retry, request ids, rate limits.
    """

    code = "upstream_refused"

    def __init__(
        self,
        message: str,
        *,
        status: int,
        kind: ErrorKind,
        vendor: str,
        vendor_code: str | None = None,
        param: str | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
        retry_after: float | None = None,
        **details: Json,
    ) -> None:
        super().__init__(message, retry_after=retry_after, **details)
        self.status = status
        self.kind: ErrorKind = kind
        self.vendor = vendor
        self.vendor_code = vendor_code
        self.upstream_param = param
        self.body = body
        self.headers: Mapping[str, str] = headers or {}


class UpstreamUnreachable(UpstreamError):
    """No connection: refused, unknown name, bad certificate, or an address that policy forbids."""

    code = "upstream_unreachable"


class UpstreamProxyFailed(UpstreamError):
    """The proxy on the way to the upstream did not do its part; details name it as ``proxy``, where it has an address."""

    code = "upstream_proxy_failed"


class UpstreamTimeout(UpstreamError):
    """Too long without a connection, an answer, or the next byte."""

    status = 504
    code = "upstream_timeout"


class UpstreamInvalid(UpstreamError):
    """An answer that is not in the upstream's language: HTML, broken JSON, a redirect, too large."""

    code = "upstream_invalid"


class UpstreamTruncated(UpstreamError):
    """The answer broke off before its end marker."""

    code = "upstream_truncated"


class UpstreamUnavailable(UpstreamError):
    """The circuit breaker of this origin is open; try again after ``retry_after`` seconds."""

    status = 503
    code = "upstream_unavailable"


class AllTargetsFailed(UpstreamError):
    """Every target of a node failed, or is left alone after failures; ``targets`` in details tells of each."""

    code = "all_targets_failed"


def kind_of_status(status: int) -> ErrorKind:
    """What an HTTP error status means when nothing else is known."""
    kinds: dict[int, ErrorKind] = {
        401: "authentication",
        402: "billing",
        403: "permission",
        404: "not_found",
        408: "timeout",
        413: "too_large",
        429: "rate_limit",
        503: "overloaded",
        504: "timeout",
        529: "overloaded",
    }
    return kinds.get(status, "invalid_request" if status < 500 else "server")
