"""How the memory's API is spoken: reading bodies and queries, and answering in ``{"data": ...}``.

What does not fit is 400 ``validation_error`` with ``details`` of ``[{path, message, code}]``; a body that is too large is 413
``payload_too_large``. Fields that nobody knows are dropped; numbers and words are taken for each other where that is clear.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, ParamSpec, Self, TypeVar

from aiohttp import web
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from agentui.api.proxy.repeats import claim_for
from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Listed, Paging
from agentui.errors import ApiError, BadRequest, BodyTooLarge
from agentui.http.route import Route, answer, read_json
from agentui.http.state import STATE
from agentui.ids import SystemClock
from agentui.jsonio import Json, loads
from agentui.store.base import Store
from agentui.store.tables import DEFAULT_ACCOUNT
from agentui.turns.repeats import HEADER, REPLAYED, Saved, pack

if TYPE_CHECKING:
    from agentui.store.base import Transaction

MAX_BODY = 1024 * 1024
"""The largest body, in bytes."""

MAX_INTEGER = 2**31 - 1

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound="Form")


class Form(BaseModel):
    """A body or a query."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, frozen=True)

    @property
    def given(self) -> dict[str, Json]:
        """The fields that the caller named, null ones too."""
        return self.model_dump(exclude_unset=True)


class Patch(Form):
    """What to change of something: at least one field."""

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one field to change")
        return self


def _without_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("a text may not hold a NUL character")
    return value


def _only_words(value: object) -> object:
    if value not in ("true", "false"):
        raise ValueError("must be true or false")
    return value == "true"


def _all_different(values: list[str]) -> list[str]:
    if len(set(values)) != len(values):
        raise ValueError("the same id stands twice")
    return values


NO_NUL = AfterValidator(_without_nul)
"""Stands behind the limits of a length: those of an annotation that ends with it would be told as limits of a list."""

Line = Annotated[str, NO_NUL]
Id = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
Ids = Annotated[list[Id], Field(min_length=1, max_length=100), AfterValidator(_all_different)]
BranchId = Annotated[str, Field(min_length=1, max_length=100), NO_NUL]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
QueryBool = Annotated[bool, BeforeValidator(_only_words, json_schema_input_type=Literal["true", "false"])]


class IdBatch(Form):
    """What a batch is about."""

    ids: Ids


class ListQuery(Form):
    """Which part of a list; each list adds ``sort_by``."""

    limit: int = Field(50, ge=1, le=100, description="Most items in the answer, at most 100.")
    offset: int = Field(0, ge=0, le=10**12, description="How many items to pass over.")
    sort_order: Literal["asc", "desc"] = Field("desc", description="asc or desc.")

    @property
    def paging(self) -> Paging:
        """The part of the list; lists without a choice of ``sort_by`` have their own."""
        return Paging(self.limit, self.offset, getattr(self, "sort_by", ""), self.sort_order)


class LongListQuery(ListQuery):
    """Which part of a list that may give more at once."""

    limit: int = Field(50, ge=1, le=200, description="Most items in the answer, at most 200.")


@dataclass(frozen=True, slots=True)
class Data(Generic[T]):
    """An answer."""

    data: T


@dataclass(frozen=True, slots=True)
class ListMeta:
    """Which part of a list this is."""

    total: int
    limit: int
    offset: int
    has_more: bool
    sort_by: str
    sort_order: Literal["asc", "desc"]


@dataclass(frozen=True, slots=True)
class ListData(Generic[T]):
    """An answer that is a part of a list."""

    data: T
    meta: ListMeta


@dataclass(frozen=True, slots=True)
class Deleted:
    """What is gone."""

    id: str
    deleted: Literal[True] = True


@dataclass(frozen=True, slots=True)
class DeleteMeta:
    """How a batch went."""

    total: int
    deleted: int
    not_found: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class DeleteResults:
    """What became of every item of a batch."""

    results: list[BatchResult]
    meta: DeleteMeta


def delete_results(results: list[BatchResult]) -> DeleteResults:
    """The results of a removal, counted."""
    actions = [result.action for result in results]
    meta = DeleteMeta(len(actions), actions.count("deleted"), actions.count("not_found"), actions.count("conflict"))
    return DeleteResults(results, meta)


def deleted_answer(results: list[BatchResult]) -> web.Response:
    """The answer to a removal of many."""
    return data_answer(delete_results(results))


def list_answer(listed: Listed[Any], paging: Paging, data: Json = None) -> web.Response:
    """A part of a list with its meta; ``data`` stands for the items where they are wrapped."""
    meta = ListMeta(
        total=listed.total,
        limit=paging.limit,
        offset=paging.offset,
        has_more=paging.offset + len(listed.items) < listed.total,
        sort_by=paging.sort_by,
        sort_order=paging.sort_order,
    )
    return answer(ListData(listed.items if data is None else data, meta))


def data_answer(value: Json, *, status: int = 200) -> web.Response:
    """A value in ``{"data": ...}``."""
    return answer(Data(value), status=status)


def made_answer(value: Json) -> web.Response:
    """A value that was made just now."""
    return data_answer(value, status=201)


async def write(
    request: web.Request,
    show: Callable[[T], web.Response],
    transaction: "Transaction[P, T]",
    *args: P.args,
    **kwargs: P.kwargs,
) -> web.Response:
    """Run a transaction that writes and answer with what ``show`` makes of its result.

    Where the request has an Idempotency-Key the answer is kept in the same transaction, and the same request again gets it
    again and writes nothing. Raises what the transaction raises, which keeps nothing, and ApiError as ``TurnDesk.once`` does.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return show(await store_of(request).write(transaction, *args, **kwargs))
    asked = claim_for(request, key, request.get(BODY, b""))
    desk = await request.app[STATE].desk.get()
    shown: list[web.Response] = []

    def keep(result: T) -> Saved:
        shown[:] = [show(result)]  # a transaction may be run again
        return _saved(shown[0])

    saved, is_old = await desk.once(asked, keep, transaction, *args, **kwargs)
    if not is_old:
        return shown[0]
    return web.Response(status=saved.status, body=saved.body(), headers={**saved.headers, REPLAYED: "true"})


def _saved(response: web.Response) -> Saved:
    body = response.body
    assert isinstance(body, bytes)
    headers = {name.lower(): value for name, value in response.headers.items() if name.lower() != "content-length"}
    return Saved(response.status, headers, pack(body))


BODY: web.RequestKey[bytes] = web.RequestKey("body", bytes)
"""The body as it came, once it was read."""


def store_of(request: web.Request) -> Store:
    """The memory."""
    return request.app[STATE].store


def account_of(request: web.Request) -> str:
    """Whose memory is asked for."""
    return DEFAULT_ACCOUNT


def now_ms() -> int:
    """Milliseconds since 1970."""
    return SystemClock().now_ms()


def path_id(request: web.Request, name: str = "id") -> str:
    """An id out of the path. Raises 400 for one that no id can be."""
    return validate(_PathId, {"id": request.match_info[name]}).id


class _PathId(Form):
    id: Id


async def read_form(request: web.Request, form: type[F], *, optional: bool = False) -> F:
    """The body as a form; where it is ``optional``, none is an empty one. Raises 400 and 413."""
    return validate(form, await read_document(request, optional=optional))


async def read_document(request: web.Request, *, optional: bool = False, parse: Callable[[bytes], Json] = loads) -> Json:
    """The body's JSON, which must be an object; ``parse`` reads it. Raises 400 and 413."""
    if optional and not request.can_read_body:
        return {}

    def noted(raw: bytes) -> Json:
        request[BODY] = raw
        return parse(raw)

    try:
        document = await read_json(request, MAX_BODY, noted)
    except BodyTooLarge as error:
        raise ApiError(error.message, status=413, code="payload_too_large", limit=MAX_BODY) from error
    except BadRequest as error:
        raise invalid(error.message, [{"path": "", "message": error.message, "code": "json"}]) from error
    if not isinstance(document, dict):
        raise invalid("The body must be an object.", [{"path": "", "message": "must be object", "code": "type"}])
    return document


def read_query(request: web.Request, form: type[F]) -> F:
    """The query as a form. Raises 400."""
    return validate(form, dict(request.query))


def validate(form: type[F], document: Json) -> F:
    """A form out of JSON. Raises 400 ``validation_error`` that names every fault."""
    try:
        return form.model_validate(document)
    except ValidationError as error:
        problems = [
            {
                "path": "".join(f"/{part}" for part in fault["loc"]),
                "message": fault["msg"].removeprefix("Value error, "),
                "code": _KEYWORDS.get(fault["type"], "custom" if fault["type"] == "value_error" else "type"),
            }
            for fault in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        raise invalid(f"{problems[0]['path'] or 'The body'}: {problems[0]['message']}.", problems) from error


def invalid(message: str, problems: Sequence[Mapping[str, Json]]) -> ApiError:
    """The error of a body or a query that does not fit."""
    return ApiError(message, status=400, code="validation_error", problems=problems)


_KEYWORDS: Mapping[str, str] = {
    "missing": "required",
    "string_too_short": "minLength",
    "string_too_long": "maxLength",
    "greater_than_equal": "minimum",
    "less_than_equal": "maximum",
    "literal_error": "enum",
    "too_short": "minItems",
    "too_long": "maxItems",
}
"""JSON Schema's words for what can be wrong; whatever is not among them is of the wrong type."""


def described(form: type[Form]) -> dict[str, str]:
    """The parameters of a query with their descriptions, for OpenAPI."""
    return {name: field.description or "" for name, field in form.model_fields.items()}


def route(method: str, path: str, handler: Any, answer: Any, *errors: int, writes: bool | None = None, **fields: Any) -> Route:
    """A route of the memory: it may always answer 400, and below an id 404. One that ``writes`` (unless it is said, all but GET
    do) takes an Idempotency-Key."""
    found = {404} if "{" in path else set()
    if method != "GET" if writes is None else writes:
        found |= {409, 410, 422}
        fields["headers"] = {"Idempotency-Key": "A key of your own: the same request with it is done once, and answered alike."}
    return Route(method, path, handler, answer=answer, errors=tuple(sorted({400, *found, *errors})), tag="memory", **fields)
