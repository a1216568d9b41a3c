"""Provider keys: found, sealed, bound to origins, and never shown."""

import json
import os
import threading
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from agentui.errors import BadRequest, Forbidden, NodeFailed, NotFound, NotSaved
from agentui.secrets.encryption import read_or_make_key
from agentui.secrets.origins import KNOWN_ORIGINS, origin_of
from agentui.secrets.store import Secret, SecretName, SecretStore, check_origin

VALUE = "sk-live-0123456789abcdef"


class Hand:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_a_sealed_secret_comes_back_whole_in_a_new_process(tmp_path: Path) -> None:
    SecretStore(tmp_path, {}).set("OpenAI", f" {VALUE}\n", ["https://API.openai.com:443/v1"])
    secret = SecretStore(tmp_path, {}).get("openai")
    assert secret == Secret("OpenAI", VALUE, frozenset({"https://api.openai.com"}))


def test_neither_the_files_nor_reprs_nor_names_hold_the_value(tmp_path: Path) -> None:
    store = SecretStore(tmp_path, {"AGENTUI_SECRET_OTHER": VALUE})
    store.set("openai", VALUE, None)
    assert VALUE.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert VALUE not in repr((store.get("openai"), store.names(), vars(store), store.get("other")))


@pytest.mark.skipif(os.name == "nt", reason="file modes are POSIX")
def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    SecretStore(tmp_path / "data", {}).set("openai", VALUE, None)
    files = {file.name: file.stat().st_mode & 0o777 for file in (tmp_path / "data").iterdir()}
    assert files == {"secrets.json": 0o600, "secret.key": 0o600}


def test_the_environment_wins_and_brings_its_own_origins(tmp_path: Path) -> None:
    SecretStore(tmp_path, {}).set("openai", "sealed-value", ["https://sealed.example"])
    env = {
        "AGENTUI_SECRET_OPENAI": VALUE,
        "AGENTUI_SECRET_OPENAI_ORIGINS": " https://a.example , http://b.example:8080/ ",
        "AGENTUI_SECRET_FREE": VALUE,
        "AGENTUI_SECRET_MY_KEY": VALUE,
        "AGENTUI_SECRET_EMPTY": " ",
        "AGENTUI_SECRET_KEY": Fernet.generate_key().decode(),
        "PATH": "x",
    }
    store = SecretStore(tmp_path, env)
    assert store.get("OpenAI").value == VALUE
    assert store.get("OpenAI").origins == {"https://a.example", "http://b.example:8080"}
    assert store.get("free").origins is None
    assert store.get("my-key").value == store.get("my_key").value == VALUE
    assert [name.name for name in store.names()] == ["free", "my_key", "openai"]
    for absent in ("empty", "key", "openai_origins"):
        with pytest.raises(NotFound):
            store.get(absent)


def test_names_say_where_a_secret_comes_from_and_where_it_may_go(tmp_path: Path) -> None:
    store = SecretStore(tmp_path, {"AGENTUI_SECRET_A": VALUE})
    store.set("b", VALUE, ["https://b.example"])
    store.set("C", VALUE, None)
    assert store.names() == [
        SecretName("a", "environment", None),
        SecretName("b", "store", frozenset({"https://b.example"})),
        SecretName("C", "store", None),
    ]


def test_setting_again_replaces_whatever_the_case_of_the_name(tmp_path: Path) -> None:
    store = SecretStore(tmp_path, {})
    store.set("OpenAI", "old-value", None)
    store.set("openai", VALUE, None)
    assert store.get("OPENAI").value == VALUE and len(store.names()) == 1


def test_a_deleted_secret_is_gone_and_cannot_be_deleted_twice(tmp_path: Path) -> None:
    store = SecretStore(tmp_path, {})
    store.set("a", VALUE, None)
    store.set("b", VALUE, None)
    store.delete("A")
    with pytest.raises(NotFound):
        store.get("a")
    with pytest.raises(NotFound):
        store.delete("a")
    assert store.get("b").value == VALUE


def test_an_unknown_secret_says_how_to_set_it(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="AGENTUI_SECRET_MY_KEY"):
        SecretStore(tmp_path, {}).get("my-key")


@pytest.mark.parametrize("name", ["", "1a", "a b", "../a", "a" * 65, "ä", "a\n"])
def test_a_name_is_letters_digits_dashes_and_underscores(tmp_path: Path, name: str) -> None:
    store = SecretStore(tmp_path, {})
    for act in (lambda: store.get(name), lambda: store.set(name, VALUE, None), lambda: store.delete(name)):
        with pytest.raises(BadRequest):
            act()


@pytest.mark.parametrize("origin", ["", "api.example", "ftp://api.example", "https://", "https://[", "https://a:99999"])
def test_an_origin_is_a_scheme_and_a_host(tmp_path: Path, origin: str) -> None:
    with pytest.raises(BadRequest):
        SecretStore(tmp_path, {}).set("a", VALUE, [origin])


def test_an_empty_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        SecretStore(tmp_path, {}).set("a", " ", None)


# -- what goes wrong


def test_a_lost_key_breaks_sealed_secrets_only_and_says_so(tmp_path: Path) -> None:
    SecretStore(tmp_path, {}).set("a", VALUE, None)
    (tmp_path / "secret.key").unlink()
    store = SecretStore(tmp_path, {"AGENTUI_SECRET_B": VALUE})
    with pytest.raises(NodeFailed, match=r"secret\.key"):
        store.get("a")
    assert store.get("b").value == VALUE
    store.set("c", VALUE, None)
    assert store.get("c").value == VALUE
    with pytest.raises(NodeFailed, match="'a'"):
        store.get("a")


@pytest.mark.parametrize("entry", [None, 1, "x", {}, {"sealed": 1}, {"sealed": "not a token"}, {"sealed": "ä"}, {"name": 3}])
def test_a_damaged_entry_breaks_itself_only(tmp_path: Path, entry: object) -> None:
    SecretStore(tmp_path, {}).set("good", VALUE, None)
    file = tmp_path / "secrets.json"
    content = json.loads(file.read_text())
    content["secrets"]["bad"] = entry
    file.write_text(json.dumps(content))
    store = SecretStore(tmp_path, {})
    with pytest.raises(NodeFailed, match="'bad'"):
        store.get("bad")
    assert store.get("good").value == VALUE
    assert [name.name for name in store.names()] == ["bad", "good"]
    store.set("bad", VALUE, None)
    assert store.get("bad").value == VALUE


def test_an_entry_moved_to_another_name_does_not_open(tmp_path: Path) -> None:
    SecretStore(tmp_path, {}).set("a", VALUE, ["https://a.example"])
    file = tmp_path / "secrets.json"
    content = json.loads(file.read_text())
    content["secrets"] = {"b": content["secrets"]["a"]}
    file.write_text(json.dumps(content))
    with pytest.raises(NodeFailed):
        SecretStore(tmp_path, {}).get("b")


def test_origins_edited_in_the_file_open_nothing(tmp_path: Path) -> None:
    SecretStore(tmp_path, {}).set("a", VALUE, ["https://a.example"])
    file = tmp_path / "secrets.json"
    file.write_text(file.read_text().replace("https://a.example", "https://evil.example"))
    assert SecretStore(tmp_path, {}).get("a").origins == {"https://a.example"}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format":2,"secrets":{}}', b'{"format":1,"secrets":[]}', b"\xff"])
def test_a_damaged_file_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "secrets.json"
    file.write_bytes(content)
    store = SecretStore(tmp_path, {"AGENTUI_SECRET_B": VALUE})
    for act in (lambda: store.get("a"), lambda: store.set("a", VALUE, None), lambda: store.delete("a")):
        with pytest.raises(NodeFailed, match=r"secrets\.json"):
            act()
    assert file.read_bytes() == content
    assert store.get("b").value == VALUE and len(store.names()) == 1


def test_a_damaged_key_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text("not a key")
    with pytest.raises(NodeFailed, match=r"secret\.key"):
        SecretStore(tmp_path, {}).set("a", VALUE, None)
    assert (tmp_path / "secret.key").read_text() == "not a key"


def test_a_key_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(tmp_path / "gone")
    with pytest.raises(NotSaved, match=r"secret\.key could not be written"):
        SecretStore(tmp_path / "data", {}).set("a", VALUE, None)


def test_a_given_key_replaces_the_file_and_must_be_one(tmp_path: Path) -> None:
    key = Fernet.generate_key().decode()
    SecretStore(tmp_path, {}, key).set("a", VALUE, None)
    assert not (tmp_path / "secret.key").exists()
    assert SecretStore(tmp_path, {}, key).get("a").value == VALUE
    with pytest.raises(NodeFailed):
        SecretStore(tmp_path, {}, Fernet.generate_key().decode()).get("a")
    with pytest.raises(ValueError, match="44 characters"):
        SecretStore(tmp_path, {}, "hunter2")


def test_a_broken_origin_in_the_environment_breaks_its_own_secret_only(tmp_path: Path) -> None:
    env = {"AGENTUI_SECRET_A": VALUE, "AGENTUI_SECRET_A_ORIGINS": "nonsense", "AGENTUI_SECRET_B": VALUE}
    store = SecretStore(tmp_path, env)
    with pytest.raises(BadRequest):
        store.get("a")
    assert store.get("b").value == VALUE and len(store.names()) == 2


# -- reading again


def test_a_change_by_another_process_is_seen_a_second_later_and_not_before(tmp_path: Path) -> None:
    clock = Hand()
    store = SecretStore(tmp_path, {}, now=clock)
    with pytest.raises(NotFound):
        store.get("a")
    SecretStore(tmp_path, {}).set("a", VALUE, None)
    clock.time = 0.9
    with pytest.raises(NotFound):
        store.get("a")
    clock.time = 1.0
    assert store.get("a").value == VALUE


def test_a_known_secret_is_served_without_the_disk(tmp_path: Path) -> None:
    store = SecretStore(tmp_path, {}, now=Hand())
    store.set("a", VALUE, None)
    assert store.get("a").value == VALUE
    for file in tmp_path.iterdir():
        file.unlink()
    assert store.get("a").value == VALUE


def test_processes_that_begin_together_make_one_key(tmp_path: Path) -> None:
    keys: list[str] = []
    start = threading.Barrier(16)

    def begin() -> None:
        start.wait()
        keys.append(read_or_make_key(tmp_path / "secret.key"))

    threads = [threading.Thread(target=begin) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 16 and len(set(keys)) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["secret.key"]


# -- where a secret may go


@pytest.mark.parametrize(
    "url",
    ["https://api.openai.com/v1/chat", "https://API.OpenAI.com:443/x?y", "HTTPS://api.openai.com"],
)
def test_a_bound_secret_goes_to_its_origin_however_it_is_spelled(tmp_path: Path, url: str) -> None:
    check_origin(Secret("openai", VALUE, frozenset(KNOWN_ORIGINS["openai"])), url)
    check_origin(Secret("free", VALUE), "http://anywhere.example")


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/",
        "https://api.openai.com:8443/",
        "https://api.openai.com.evil.example/",
        "https://evil.example/https://api.openai.com",
        "https://api.openai.com@evil.example/",
    ],
)
def test_a_bound_secret_goes_nowhere_else(url: str) -> None:
    with pytest.raises(Forbidden, match="'openai'") as caught:
        check_origin(Secret("openai", VALUE, frozenset(KNOWN_ORIGINS["openai"])), url)
    assert VALUE not in str(caught.value)


def test_known_origins_are_origins() -> None:
    for origins in KNOWN_ORIGINS.values():
        assert [origin_of(origin) for origin in origins] == list(origins)


def test_a_key_is_there_for_one_thread_while_another_reads_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The editor writes and lists keys in threads, and runs look them up meanwhile."""
    SecretStore(tmp_path, {}).set("openai", VALUE, None)
    clock, found = Hand(), list[object]()
    store = SecretStore(tmp_path, {}, now=clock)
    assert store.get("openai").value == VALUE

    def look() -> None:
        try:
            found.append(store.get("openai").value)
        except NotFound as error:
            found.append(error)

    beside, read_bytes = threading.Thread(target=look), Path.read_bytes

    def read(path: Path) -> bytes:
        beside.start()
        beside.join(0.2)  # whoever waits for the file is not done by then, and whoever finds no key is
        return read_bytes(path)

    SecretStore(tmp_path, {}).set("other", VALUE, None)
    clock.time += 1
    monkeypatch.setattr(Path, "read_bytes", read)
    assert [known.name for known in store.names()] == ["openai", "other"]
    beside.join()
    assert found == [VALUE]
