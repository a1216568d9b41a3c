"""Whatever is sent to a route of the memory: no 500, the envelope's shape, and nothing written by what was refused.

The requests are made of the OpenAPI document: every operation, each of its ids, parameters and fields, with values of other
types, beyond every limit, of things that do not exist, belong to somebody else, or are locked.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from sqlalchemy import exists, select
from yarl import URL

from agentui.chats.codes import CODES
from agentui.jsonio import Json, loads
from agentui.schemas.live import LiveForm
from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.tables import chat_jobs
from agentui.tools.errors import ToolError
from tests.api.chats.conftest import Reader
from tests.api.chats.forms import DOCUMENT, LIBRARY, operation_body, resolved, whole
from tests.api.chats.test_foreign import everything, give_away
from tests.api.editor_client import say
from tests.conftest import Server, servers
from tests.postgres import new_database

STATUSES = {code: known.status for code, known in CODES.items()} | {
    kind.code: kind.status for kind in ToolError.__subclasses__()
}
"""Of every code that a route of the memory may answer with."""

pytestmark = pytest.mark.asyncio(loop_scope="module")

NUL, HALF, LONG = "a\0b", "\ud800", "x" * 5000
KEPT_BADLY: tuple[Json, ...] = (NUL, HALF, LONG, 2**31, 2**63)
"""What a database refuses, unless somebody does before."""
WRONG: tuple[Json, ...] = (None, True, -1, 1e308, "", "x", [], [[]], {}, {"a": {"b": []}})
"""What forms refuse, whatever keeps their fields."""
KEPT_BADLY_IN_URLS = ("x", "9" * 30, "a%00b", "%F0%9F%98%80", LONG[:2000])
WRONG_IN_URLS = ("", "-1", "1.5", "true", "%ED%A0%80")
BODIES = (b"", b"{", b"\xff", b"[]", b"5", b"null", b'"x"', b'{"a": NaN}', b"[" * 5000, b'{"a": "' + b"x" * 2**20 + b'"}')


KINDS = ("session", "floor", "page", "message", "variable", "character", "user", "preset", "worldbook", "version")


@dataclass(frozen=True)
class Things:
    """One of each kind, by the names that fields and paths have for it."""

    session: str
    floor: str
    page: str
    message: str
    variable: str
    character: str
    user: str
    preset: str
    worldbook: str
    regex_profile: str
    version: str

    def named(self, name: str) -> str | None:
        """The thing that a field of this name wants; None for one that wants none of these."""
        for kind in KINDS:
            if name == f"{kind}_id" or name.endswith(f"_{kind}_id"):
                value: str = getattr(self, kind)
                return value
        return None

    def known(self, name: str, path: str) -> Json:
        """What a field of a body of this path should hold."""
        if name == "ids" and "/entries/" in path:
            return ["0"]
        if name == "ids" and path.startswith("/memories/"):
            return ["none"]
        if name == "ids":
            return [getattr(self, next(kind for kind in ("session", "page", "message", "user") if f"/{kind}s/" in path))]
        return LIBRARY.get(name, self.named(name))


@dataclass(frozen=True)
class Sent:
    """A request."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Kept:
    """Counts the transactions that a store has kept, or may have."""

    def __init__(self, store: Store, patched: pytest.MonkeyPatch) -> None:
        self.count = 0
        write, start_write = store.write, store.start_write

        async def counted(*args: Any, **kwargs: Any) -> Any:
            result = await write(*args, **kwargs)
            self.count += 1
            return result

        def started(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return start_write(*args, **kwargs)

        patched.setattr(store, "write", counted)
        patched.setattr(store, "start_write", started)


@dataclass
class Place:
    """A server with things of the caller's, open ones and locked ones, and with somebody else's."""

    reader: Reader
    mine: Things
    locked: Things
    theirs: Things
    kept: Kept

    async def send(self, sent: Sent) -> int:
        """Send it, check how it is answered, and give the status."""
        url = URL(self.reader.server.origin + sent.path, encoded=True)
        headers = {"content-type": "application/json", **sent.headers}
        data = None if sent.body is None else BytesIO(sent.body)
        async with self.reader.session.request(sent.method, url, data=data, headers=headers) as answer:
            raw = await answer.read()
        what = (sent.method, sent.path[:300], (sent.body or b"")[:300], raw[:500])
        assert answer.status < 500, what
        assert answer.headers["x-request-id"], what
        if answer.status >= 400:
            error = loads(raw)["error"]
            assert set(error) == {"code", "message", "details"}, what
            assert error["message"] and len(raw) < 20_000, what
            assert error["code"] == "wrong_content_type" or STATUSES[error["code"]] == answer.status, what
        return answer.status


async def things(reader: Reader, state: str) -> Things:
    """One of each kind, on a floor of its own that is committed or a draft."""
    session = await reader.session_id()
    floor = await reader.floor_id(session)
    page = await reader.make("/pages", floor_id=floor, page_no=1, page_kind="output")
    message = await reader.make("/messages", page_id=page["id"], seq=0, role="assistant", content="words")
    variable = await reader.put("/variables", {"scope": "page", "scope_id": page["id"], "key": "gold", "value": 1})
    library = await assets(reader, state)
    if state == "committed":
        said = await reader.chat_in(session)
        floor = said.headers["x-agentui-floor"]
        pages = (await reader.get(f"/pages?floor_id={floor}&page_kind=output")).body["data"]
        messages = (await reader.get(f"/messages?page_id={pages[0]['id']}")).body["data"]
        return Things(session, floor, pages[0]["id"], messages[0]["id"], variable.body["data"]["id"], **library)
    return Things(session, floor, page["id"], message["id"], variable.body["data"]["id"], **library)


async def assets(reader: Reader, state: str) -> dict[str, str]:
    """One asset of each kind; those beside something committed are deleted."""
    character = await reader.make("/characters", snapshot={"name": "Ada"})
    user = await reader.make("/users", snapshot={"name": f"{state} {character['id']}"})
    prompts = [{"identifier": name} for name in ("main", "words")]
    preset = await reader.make("/presets", name="Short", data={"prompts": prompts})
    worldbook = await reader.make("/worldbooks", name="Town", data={"entries": {"0": {"key": ["clock"]}}})
    regex = await reader.make("/regex-profiles", name="None", data=[])
    found = {"character": character, "user": user, "preset": preset, "worldbook": worldbook, "regex_profile": regex}
    if state == "committed":
        for kind, made in found.items():
            await reader.delete(f"/{kind.replace('_', '-')}s/{made['id']}")
    return {**{kind: made["id"] for kind, made in found.items()}, "version": preset["version_id"]}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["sqlite", "postgresql"])
async def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """One server an engine."""
    settings = {}
    if request.param == "postgresql":
        postgres, migrated = (request.getfixturevalue(name) for name in ("postgres", "migrated_database"))
        settings["database_url"] = new_database(postgres, migrated)
    async with servers(tmp_path_factory.mktemp("bad-input")) as start:
        yield await start({"default": say()}, keep_alive=600, **settings)  # it may be busy between two requests


@pytest_asyncio.fixture(loop_scope="module")
async def place(server: Server) -> AsyncIterator[Place]:
    """Things on that server; what earlier tests made there belongs to others, once the jobs among it are done."""
    async with ClientSession() as session:
        reader = Reader(server, session)
        theirs = await things(reader, "draft")
        store = server.state.store
        await done(store)
        await give_away(store, theirs.session)
        with pytest.MonkeyPatch.context() as patched:
            yield Place(reader, await things(reader, "draft"), await things(reader, "committed"), theirs, Kept(store, patched))


def leaves(schema: Json, depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Where the fields of a body are, objects before what is in them."""
    for name, inner in resolved(schema).get("properties", {}).items():
        yield (name,)
        if depth < 3:
            yield from ((name, *rest) for rest in leaves(inner, depth + 1))


def changed(body: Json, where: tuple[str, ...], value: Json) -> Json:
    """A body with another value somewhere; what lies on the way there is made."""
    name, *rest = where
    below = body.get(name)
    return {**body, name: changed(below if isinstance(below, dict) else {}, tuple(rest), value) if rest else value}


def written(body: Json) -> bytes:
    return json.dumps(body).encode()  # unlike orjson it writes half characters


OPERATIONS = sorted(
    (
        (method.upper(), path, operation)
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
        if "memory" in operation["tags"]
    ),
    key=lambda known: (known[0] == "DELETE", re.search("delete|reset|merge|status", known[1]) is not None, known[1]),
)
"""Every operation of the memory; those that remove things come last."""
PATHS = {path for _, path, _ in OPERATIONS}
LIVE_FIELDS = LiveForm.model_json_schema()["properties"].keys()


def is_read_elsewhere(path: str, schema: Json, field: str) -> bool:
    """
    Whether another operation reads this field of a body with the same function, which gets every wrong value there; here it
    gets one. A turn has an address below its pipeline's name, too (``PIPELINE_ROUTES`` are the same handlers), and one for a
    stream (which differs in how it answers); and all kinds of turns read the fields of ``LiveForm`` as ``respond`` does.
    """
    if path.removeprefix("/p/{pipeline}").removesuffix("/stream") in PATHS - {path}:
        return True
    fields = resolved(schema).get("properties", {}).keys()
    return field in LIVE_FIELDS and fields >= LIVE_FIELDS and path != "/sessions/{id}/respond"


def tried(place: Place, method: str, path: str, operation: Json, turn: int, *, forms: bool) -> Iterator[Sent]:
    """
    All that is tried on one operation: ids that do not exist, or belong to somebody else, or are locked, and what a database
    refuses. Where ``forms``, this is SQLite, which takes more than PostgreSQL does: each place gets half of that, and a part of
    what is refused before anything asks the database. Which part is by the operation's number ``turn``.
    """
    here = filled(path, place.mine)
    schema = operation_body(method, path)
    body = None if schema is None else whole(schema, lambda name: place.mine.known(name, path))
    plain = None if body is None else written(body)
    for owner in (place.theirs, place.locked):
        yield Sent(method, filled(path, owner), plain)
    in_urls = (*KEPT_BADLY_IN_URLS[turn % 2 :: 2], *WRONG_IN_URLS[turn % 2 :: 2]) if forms else KEPT_BADLY_IN_URLS
    for name in re.findall(r"{(\w+)}", path):
        for wrong in (*in_urls, quote(place.theirs.floor)):
            if wrong:
                yield Sent(method, filled(path.replace(f"{{{name}}}", wrong), place.mine), plain)
    if method != "DELETE":  # what is removed tells nothing any more
        for name in (parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"):
            for wrong in (*in_urls, place.theirs.named(name) or "x"):
                yield Sent(method, f"{here}?{name}={wrong}", plain)
    if forms and method != "GET":
        for key in ("", "x" * 300, "\xe4"):
            yield Sent(method, filled(path, place.theirs), plain, {"idempotency-key": key})
    if schema is None or body is None:
        return
    if forms:
        for raw in BODIES[turn % 3 :: 3]:
            yield Sent(method, here, raw)
        yield Sent(method, here, plain, {"content-type": "text/plain"})
    for number, where in enumerate(leaves(schema), turn):
        others = [owned for owner in (place.theirs, place.locked) if (owned := owner.named(where[-1])) is not None]
        values = (*KEPT_BADLY[number % 2 :: 2], *WRONG[number % 3 :: 3]) if forms else KEPT_BADLY
        wrongs = (values[number % len(values)],) if is_read_elsewhere(path, schema, where[0]) else values
        for value in (*wrongs, *others):
            yield Sent(method, here, written(changed(body, where, value)))
    if "ids" in body:
        for wrong in ([], ["x"] * 2, ["x"] * 101, [NUL], [place.theirs.page], [place.locked.page, place.locked.message], [5]):
            yield Sent(method, here, written({**body, "ids": wrong}))


def filled(path: str, owner: Things) -> str:
    """A path with the ids of its kinds."""
    kind = path.split("/")[1].removesuffix("s").replace("-", "_")
    id = getattr(owner, kind, "main")
    known = {"id": id, "branch": "main", "hash": "0" * 64, "version_id": owner.version}
    return re.sub(r"{(\w+)}", lambda name: known.get(name[1], name[0]), path)


async def done(store: Store) -> None:
    """Wait for the jobs that callers asked for."""
    under_way = select(exists().where(chat_jobs.c.status.in_(("pending", "leased", "running"))))
    async with asyncio.timeout(60):
        while await store.read(lambda db: db.execute(under_way).scalar_one()):  # noqa: ASYNC110  # nobody is told
            await asyncio.sleep(0.02)


async def kept(store: Store) -> dict[str, list[Any]]:
    """Every row of what callers write, once what was taken is done: background work goes on meanwhile, and keeps its own
    times. The operation log keeps what was denied, on purpose."""
    await done(store)
    rows = await everything(store)
    del rows["jobs"]
    rows["operation_logs"] = [row for row in rows["operation_logs"] if "denied" not in row]
    return rows


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", sorted({path.split("/")[1] for _, path, _ in OPERATIONS}))
async def test_no_request_breaks_a_route_or_writes_where_it_is_refused(place: Place, kind: str) -> None:
    store = place.reader.server.state.store
    forms = not isinstance(store, PostgresStore)
    for turn, (method, path, operation) in enumerate(OPERATIONS):
        if path.split("/")[1] != kind:
            continue
        are_refused, suspects = False, []
        for sent in tried(place, method, path, operation, turn, forms=forms):
            kept_before = place.kept.count
            if await place.send(sent) >= 400:
                are_refused = True
                if place.kept.count > kept_before:  # this request, or background work
                    suspects.append(sent)
        assert are_refused or not ("{" in path or "requestBody" in operation), (method, path)
        rows_before = await kept(store) if suspects else {}
        for sent in suspects:
            assert await place.send(sent) >= 400, (method, path)
        assert not suspects or await kept(store) == rows_before, (method, path)
