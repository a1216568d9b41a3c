"""Client data: who owns it, and items as an application wants them."""

import inspect
from collections import defaultdict
from collections.abc import Awaitable, Iterable, Mapping
from typing import Any, Protocol, TypedDict, TypeVar, overload
from urllib.parse import quote

from agentui.sdk.endpoints import Owner, owner_headers
from agentui.sdk.helpers.fields import text

Item = TypeVar("Item", bound=Mapping[str, object])


class CollectionItems(TypedDict):
    """A collection's items, in the order in which they came."""

    collection_id: str
    items: list[Mapping[str, object]]


class _Answer(Protocol):
    """An answer of the API that was read."""

    def json(self) -> Any: ...


class _Client(Protocol):
    """What ``TavernClient`` is here."""

    def request(self, method: str, path: str, *, params: Mapping[str, str], headers: Mapping[str, str]) -> _Answer: ...


class _AsyncClient(Protocol):
    """What ``AsyncTavernClient`` is here."""

    def request(
        self, method: str, path: str, *, params: Mapping[str, str], headers: Mapping[str, str]
    ) -> Awaitable[_Answer]: ...


def build_plugin_owner(owner_id: str) -> Owner:
    """A plugin, as calls take it for ``caller_owner``.

    >>> build_plugin_owner("chat-annotator")
    {'owner_type': 'plugin', 'owner_id': 'chat-annotator'}
    """
    return {"owner_type": "plugin", "owner_id": owner_id}


def build_application_owner(owner_id: str) -> Owner:
    """An application, as calls take it for ``caller_owner``."""
    return {"owner_type": "application", "owner_id": owner_id}


def group_items_by_collection(items: Iterable[Item]) -> dict[str, list[Item]]:
    """Items by the id of their collection, in the order in which they came."""
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[text(item.get("collection_id")) or ""].append(item)
    return dict(groups)


def organize_collection_items(items: Iterable[Mapping[str, object]]) -> list[CollectionItems]:
    """Items as sections, one for each collection."""
    grouped = group_items_by_collection(items)
    return [{"collection_id": collection, "items": found} for collection, found in grouped.items()]


def to_client_data_map(
    items: Iterable[Mapping[str, object]], collections: Iterable[Mapping[str, object]] = ()
) -> dict[str, dict[str, object]]:
    """The values of items by their collection and key; a collection that is not given goes by its id."""
    names = {text(each.get("id")): text(each.get("collection_name")) for each in collections}
    values: dict[str, dict[str, object]] = defaultdict(dict)
    for item in items:
        collection = text(item.get("collection_id")) or ""
        values[names.get(collection) or collection][text(item.get("item_key")) or ""] = item.get("value_json")
    return dict(values)


@overload
def resolve_item_by_path(
    client: _Client,
    domain_id: str,
    collection_name: str,
    item_key: str,
    *,
    account_id: str | None = None,
    caller_owner: Owner | None = None,
) -> dict[str, Any]: ...


@overload
def resolve_item_by_path(
    client: _AsyncClient,
    domain_id: str,
    collection_name: str,
    item_key: str,
    *,
    account_id: str | None = None,
    caller_owner: Owner | None = None,
) -> Awaitable[dict[str, Any]]: ...


def resolve_item_by_path(
    client: _Client | _AsyncClient,
    domain_id: str,
    collection_name: str,
    item_key: str,
    *,
    account_id: str | None = None,
    caller_owner: Owner | None = None,
) -> dict[str, Any] | Awaitable[dict[str, Any]]:
    """One item, by the name of its collection and its key (``GET /client-data/domains/{id}/items/by-key``).

    The client sends it; of an asynchronous one the answer is awaited. Raises what the client raises: NotFound where there is no
    such item, and where the server keeps no client data.
    """
    account = {} if account_id is None else {"x-account-id": account_id}
    answer = client.request(
        "GET",
        f"/client-data/domains/{quote(domain_id, safe='')}/items/by-key",
        params={"collection_name": collection_name, "item_key": item_key},
        headers={**account, **owner_headers(caller_owner)},
    )
    return _later(answer) if inspect.isawaitable(answer) else _item(answer)


def _item(answer: _Answer) -> dict[str, Any]:
    item: dict[str, Any] = answer.json()["data"]
    return item


async def _later(answer: Awaitable[_Answer]) -> dict[str, Any]:
    return _item(await answer)
