"""The command line: serve · demo · chat · check · secret · account · openapi."""

import argparse
import asyncio
import getpass
import glob
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import SecretStr, ValidationError

from agentui import __version__
from agentui.errors import AgentUIError, InvalidPipeline, Problem
from agentui.files import write_atomically
from agentui.ids import SystemClock
from agentui.jsonio import Json, dumps_pretty
from agentui.serving.stopping import CommandError, run
from agentui.settings import Settings, misspelt_environment, secret_environment
from agentui.shipped import Shipped, shipped

if TYPE_CHECKING:
    from agentui.pipeline.plans.plan import Plan
    from agentui.secrets.store import SecretStore

T = TypeVar("T")

# Each command imports what it does: the server takes 100 MB, which the supervisor of workers would hold for nothing, and a
# second, for which somebody who lists keys would wait.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, or 1 after one sentence on stderr."""
    options = _parser().parse_args(arguments)
    try:
        command: Callable[[argparse.Namespace], int] = options.command
        code = command(options)
        sys.stdout.flush()
        return code
    except (CommandError, AgentUIError) as error:
        print(f"agentui: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Who read the output has enough of it (``| head``). Else Python would flush the rest at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


class _Parser(argparse.ArgumentParser):
    """Takes options by their whole names: ``--pipeline`` is not short for ``--pipelines``."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="agentui", description="An LLM proxy with a visual pipeline editor.")
    parser.add_argument("--version", action="version", version=f"agentui {__version__}")
    parser.set_defaults(command=partial(_help, parser))
    commands = parser.add_subparsers(metavar="COMMAND")
    server = commands.add_parser("serve", help="start the server")
    demo = commands.add_parser("demo", help="start the server with a built-in model that needs no key and no network")
    for command in (server, demo):
        _add_server_options(command)
    server.add_argument("--workers", type=int, metavar="N", help="how many processes serve (default 1)")
    server.set_defaults(command=_serve)
    demo.set_defaults(command=_demo)
    chat = commands.add_parser("chat", help="chat in the terminal with a server that is running")
    _add_chat_options(chat)
    check = commands.add_parser("check", help="compile pipeline files and print what is wrong with them")
    check.add_argument("files", nargs="+", metavar="FILE")
    check.set_defaults(command=_check)
    secret = commands.add_parser("secret", help="provider keys: set, list, delete")
    _add_secret_commands(secret)
    account = commands.add_parser("account", help="accounts, their keys and passwords, also while a server runs")
    _add_account_commands(account)
    openapi = commands.add_parser("openapi", help="print the OpenAPI document")
    openapi.set_defaults(command=_openapi)
    return parser


def _help(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Without a command, say which there are."""
    parser.print_help(sys.stderr)
    return 2


def _add_server_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (default 7860; 0 takes a free one)")
    parser.add_argument("--pipelines", type=Path, metavar="DIR", help="folder of pipeline files (default pipelines)")
    parser.add_argument("--presets", type=Path, metavar="DIR", help="folder of preset files (default presets)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for state (default: a per-user folder)")
    parser.add_argument("--insecure", action="store_true", default=None, help="listen beyond loopback without a token")


def _add_chat_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session", metavar="NAME", help="name or id of the session; a new name makes one (default: a new session)"
    )
    parser.add_argument("--character", type=Path, metavar="FILE", help="character card (PNG, JSON or CharX) of a new session")
    parser.add_argument("--pipeline", metavar="ID", help="pipeline that answers (default: the session's)")
    parser.add_argument("--url", metavar="URL", help="address of the server (default http://127.0.0.1:7860)")
    parser.add_argument("--token", help="the server's access token (default: AGENTUI_TOKEN)")
    parser.set_defaults(command=_chat, url="http://127.0.0.1:7860")


def _add_secret_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="ACTION")
    put = commands.add_parser("set", help="store a key (it is asked for, or read from standard input)")
    put.add_argument("name")
    put.add_argument(
        "--origin", action="append", default=[], metavar="URL", help="where the key may be sent; repeat for several"
    )
    put.set_defaults(command=_secret_set)
    show = commands.add_parser("list", help="names and origins, never the keys")
    show.set_defaults(command=_secret_list)
    drop = commands.add_parser("delete", help="forget a key")
    drop.add_argument("name")
    drop.set_defaults(command=_secret_delete)
    for command in (put, show, drop):
        command.add_argument("--data", type=Path, metavar="DIR", help="folder of the sealed store")


def _add_account_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="ACTION")
    show = commands.add_parser("list", help="id, role, status and name of each")
    make = commands.add_parser("create", help="make an account")
    make.add_argument("--name", help="its name (default: the id)")
    make.add_argument("--admin", action="store_true", help="make it an admin's")
    disable = commands.add_parser("disable", help="let an account in no more")
    enable = commands.add_parser("enable", help="let it in again")
    promote = commands.add_parser("make-admin", help="make an account an admin's")
    key = commands.add_parser("new-key", help="make a key for an account, and print it this once")
    key.add_argument("--name", help="what it is for")
    reset = commands.add_parser(
        "reset-password", help="give an account another password (it is asked for, or read from standard input)"
    )
    export = commands.add_parser("export", help="write all that is kept for an account to standard output, as lines of JSON")
    purge = commands.add_parser("purge", help="remove an account with all that it has; a running server does it")
    purge.add_argument("--delay", type=int, metavar="SECONDS", help="until then it can be cancelled (default: ten minutes)")
    purge.add_argument("--yes", action="store_true", help="do not ask")
    cancel = commands.add_parser("cancel-purge", help="take a purge back that has not begun")
    status = commands.add_parser("purge-status", help="how far a purge is")
    reset.add_argument("--only", action="store_true", help="take its passkeys and linked sign-ons away, too")
    steps: Mapping[argparse.ArgumentParser, Callable[[argparse.Namespace], int]] = {
        export: _account_export,
        purge: _account_purge,
        cancel: _account_cancel_purge,
        status: _account_purge_status,
        show: _account_list,
        make: _account_create,
        disable: partial(_account_change, {"status": "disabled"}),
        enable: partial(_account_change, {"status": "active"}),
        promote: partial(_account_change, {"role": "admin"}),
        key: _account_key,
        reset: _account_password,
    }
    for command, step in steps.items():
        if command is not show:
            command.add_argument("account", metavar="ID")
        command.add_argument("--data", type=Path, metavar="DIR", help="folder for state, where no database is named")
        command.set_defaults(command=step)


def _settings(options: argparse.Namespace) -> Settings:
    """Settings from the environment, with the options over them."""
    given: dict[str, Any] = {
        name: value
        for name in ("host", "port", "pipelines", "presets", "data", "insecure", "workers")
        if (value := getattr(options, name, None)) is not None
    }
    try:
        settings = Settings(**given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in first["loc"]).upper()
        text = first["msg"].removeprefix("Value error, ")
        raise CommandError(f"bad setting: {f'AGENTUI_{name}: ' if name else ''}{text}") from error
    if settings.secret_key is not None:
        from agentui.secrets.store import check_key

        _check_setting("SECRET_KEY", settings.secret_key, check_key)
    if settings.database_url is not None:
        from agentui.store.address import place_of

        _check_setting("DATABASE_URL", settings.database_url, place_of)
    if settings.upstream_proxy is not None:
        from agentui.upstream.proxies import check_setting

        _check_setting("UPSTREAM_PROXY", settings.upstream_proxy, check_setting)
    return settings


def _check_setting(name: str, value: SecretStr, check: Callable[[str], object]) -> None:
    """Refuse a setting that its user cannot read. The reason never repeats the value."""
    try:
        check(value.get_secret_value())
    except ValueError as error:
        raise CommandError(f"bad setting: AGENTUI_{name}: {error}") from error


def _serve(options: argparse.Namespace) -> int:
    settings = _settings(options)
    _tell_misspelt()
    _make_folders(settings)
    greet = partial(_say_hello, settings, demo=False)
    if settings.workers == 1:
        from agentui.serving.process import serve

        run(serve(settings, greet))
    else:
        from agentui.serving.supervisor import supervise

        run(supervise(settings, greet))
    return 0


def _demo(options: argparse.Namespace) -> int:
    settings = _settings(options)
    _tell_misspelt()
    # The demo's choices (which pipeline is active) are its own and do not disturb a real installation.
    _make_folder("data", settings.data)
    preset = settings.chat_preset if "chat_preset" in settings.model_fields_set else "demo"
    settings = settings.model_copy(update={"data": settings.data / "demo", "chat_preset": preset})
    _make_folders(settings)
    if not (settings.pipelines / "demo.json").exists():
        _bring_demo(settings.pipelines / "demo.json")
    run(_demo_until_stopped(settings))
    return 0


def _tell_misspelt() -> None:
    """Say which variables of the environment change nothing, though they look as if they did."""
    for name, setting in misspelt_environment().items():
        print(f"agentui: {name} is no setting and changes nothing; is {setting} meant?", file=sys.stderr)


def _chat(options: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("agentui chat needs a terminal; programs talk to the server with agentui.sdk.")
    try:
        from agentui.terminal.chat import chat
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("httpx", "prompt_toolkit", "rich"):
            raise
        raise CommandError("agentui chat needs more packages: pip install -e '.[chat]' in agentui's folder.") from error
    token = options.token or os.environ.get("AGENTUI_TOKEN")
    place = {"session": options.session, "character": options.character, "pipeline": options.pipeline}
    return chat(options.url, token=token, **place)


def _bring_demo(file: Path) -> None:
    """Write the demo's pipeline into a folder of the user's own."""
    config: Json = {"provider": "caller", "base_url": "demo", "model": '{{ model|default("demo-small") }}'}
    node: Json = {"id": "n1", "type": "ProviderCall", "title": "Ask the model", "config": config}
    write_atomically(file, dumps_pretty({"format": 1, "name": "Demo", "nodes": [node], "edges": [], "answer": "n1"}))


def _make_folders(settings: Settings) -> None:
    """Make the folders that are missing, with the gallery in them; refuse those that cannot be read or written.

    A folder that somebody emptied stays empty.
    """
    folders: Mapping[Shipped, Path] = {"pipelines": settings.pipelines, "presets": settings.presets}
    for name, folder in folders.items():
        is_new = not folder.exists()
        _make_folder(name, folder)
        if is_new:
            _bring_gallery(shipped(name), folder)
    _make_folder("data", settings.data)


def _bring_gallery(gallery: Path, folder: Path) -> None:
    """Copy the files that come with agentui. Raises CommandError when the disk does not take them."""
    for file in sorted(gallery.glob("*.json")):
        try:
            (folder / file.name).write_bytes(file.read_bytes())
        except OSError as error:
            raise CommandError(f"{folder / file.name} cannot be written: {error.strerror}.") from error


def _make_folder(name: str, folder: Path) -> None:
    """Make one folder, unless it is there. Raises CommandError when it cannot be used."""
    try:
        # What people said to models is nobody else's on this machine.
        folder.mkdir(parents=True, exist_ok=True, mode=0o700 if name == "data" else 0o777)
        next(folder.iterdir(), None)
    except OSError as error:
        reason = "there is a file of that name" if isinstance(error, FileExistsError) else error.strerror or error
        raise CommandError(f"the folder {folder} cannot be used ({reason}): choose another with --{name}.") from error


async def _demo_until_stopped(settings: Settings) -> None:
    from agentui.demo import start_demo
    from agentui.serving.process import serve

    demo = await start_demo()
    try:
        greet = partial(_say_hello, settings, demo=True)
        await serve(settings, greet, named_origins={"demo": demo.origin}, active="demo")
    finally:
        await demo.close()


def _say_hello(settings: Settings, port: int, *, demo: bool) -> None:
    """Print where the server is and what to try."""
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    key = "YOUR-TOKEN" if settings.token is not None else ("demo" if demo else "YOUR-KEY")
    model = "demo-small" if demo else "gpt-4o-mini"
    quoted = '{\\"model\\": \\"' + model + '\\", \\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"Hello!\\"}]}'
    print(
        f"""agentui {__version__} is running at {url}
{"This is the demo: its pipeline answers from a built-in model, with no key and no network." if demo else ""}
Open in a browser:    {url}/
Try it with curl (any shell, cmd.exe and PowerShell 7 included):

  curl {url}/v1/chat/completions -H "Authorization: Bearer {key}" -H "Content-Type: application/json" -d "{quoted}"

or with an SDK:

  from openai import OpenAI
  client = OpenAI(base_url="{url}/v1", api_key="{key}")
  reply = client.chat.completions.create(model="{model}", messages=[{{"role": "user", "content": "Hello!"}}])
  print(reply.choices[0].message.content)

  from anthropic import Anthropic
  client = Anthropic(base_url="{url}", api_key="{key}")
  reply = client.messages.create(model="{model}", max_tokens=200, messages=[{{"role": "user", "content": "Hello!"}}])
  print(reply.content[0].text)

  from google import genai
  client = genai.Client(api_key="{key}", http_options={{"base_url": "{url}"}})
  print(client.models.generate_content(model="{model}", contents="Hello!").text)

Stop with Ctrl+C.""",
        flush=True,
    )


def _check(options: argparse.Namespace) -> int:
    """Compile files and print every problem as ``file: severity: where: message [code]``."""
    from agentui.pipeline.node import load_catalog
    from agentui.pipeline.nodes import BUILTIN
    from agentui.pipeline.plans.calls import cycle_of

    catalog, complaints = load_catalog(BUILTIN)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    broken = 0
    files = [Path(match) for pattern in options.files for match in (sorted(glob.glob(pattern)) or [pattern])]
    checked = {file: _problems(file, catalog) for file in files}
    calls = {file.stem: plan.calls for file, (plan, _) in checked.items() if plan is not None}
    for file, (plan, problems) in checked.items():
        path = cycle_of(file.stem, plan.calls, lambda id: calls.get(id, frozenset())) if plan is not None else []
        if path:
            circle = " -> ".join(path)
            text = f"Pipelines call each other in a circle: {circle}."
            problems = (*problems, Problem("pipeline.cycle", text, facts={"path": circle}))
        for problem in problems:
            print(f"{file}: {problem.severity}: {problem} [{problem.code}]")
        broken += any(problem.severity == "error" for problem in problems)
    print(f"{len(files)} checked, {broken} with errors.")
    return 1 if broken else 0


def _problems(file: Path, catalog: Any) -> "tuple[Plan | None, Sequence[Problem]]":
    """The plan of one file, where it has one, and what is wrong with it."""
    from agentui.documents.document import parse_document
    from agentui.pipeline.plans.compile import compile_plan

    try:
        document = parse_document(file.read_bytes())
        if isinstance(document, Problem):
            return None, (document,)
        plan = compile_plan(file.stem, document, catalog)
        return plan, plan.warnings
    except InvalidPipeline as error:
        return None, error.problems
    except OSError as error:
        return None, (
            Problem("file.unreadable", f"The file cannot be read ({error.strerror}).", facts={"error": error.strerror}),
        )


def _openapi(options: argparse.Namespace) -> int:
    from agentui.api.ops.openapi import build_openapi

    print(dumps_pretty(build_openapi(_settings(options))).decode(), end="")
    return 0


def _on_accounts(options: argparse.Namespace, transaction: Callable[[Any], T]) -> T:
    """What a transaction on the accounts gives. A server that runs knows of it within a second."""
    from agentui.store.beside import run_once

    settings = _settings(options)
    _make_folder("data", settings.data)
    url = settings.database_url.get_secret_value() if settings.database_url is not None else None
    return asyncio.run(run_once(url, settings.data, settings.database_timeout, transaction))


def _account_list(options: argparse.Namespace) -> int:
    from agentui.accounts.stored import list_accounts

    for account in _on_accounts(options, list_accounts):
        print(f"{account.id}\t{account.role}\t{account.status}\t{account.name}")
    return 0


def _account_create(options: argparse.Namespace) -> int:
    from agentui.accounts.stored import create_account

    id, name = options.account, options.name or options.account
    if not all(0 < len(text) <= 120 for text in (id, name)):
        raise CommandError("the id and the name of an account have 1 to 120 characters.")
    now = SystemClock().now_ms()
    account = _on_accounts(options, lambda db: create_account(db, id, name, "admin" if options.admin else "user", now))
    print(f"Made the account {account.id}. 'agentui account new-key {account.id}' makes a key for it.")
    return 0


def _account_change(changes: Mapping[str, str], options: argparse.Namespace) -> int:
    from agentui.accounts.stored import change_account

    account = _on_accounts(options, lambda db: change_account(db, options.account, changes, SystemClock().now_ms()))
    print(f"{account.id} is {account.status}, {account.role}.")
    return 0


def _account_key(options: argparse.Namespace) -> int:
    from agentui.accounts.clients import create_key
    from agentui.accounts.key_hash import KeyHash, new_secret
    from agentui.accounts.records import default_client_id
    from agentui.accounts.stored import find_account

    secret = new_secret()
    hash = KeyHash(_secret_store(options).derive).of(secret)

    def make(db: Any) -> None:
        find_account(db, options.account)
        client = default_client_id(options.account)
        create_key(db, options.account, client, {"name": options.name}, secret, hash, SystemClock().now_ms())

    _on_accounts(options, make)
    print(secret)
    return 0


def _account_password(options: argparse.Namespace) -> int:
    from agentui.accounts.passwords import LONGEST, SHORTEST, hashed, keep_password

    is_asked = sys.stdin.isatty()
    password = getpass.getpass(f"Password for {options.account}: ") if is_asked else sys.stdin.readline().rstrip("\r\n")
    if not SHORTEST <= len(password) <= LONGEST:
        raise CommandError(f"a password has {SHORTEST} to {LONGEST} characters; nothing is changed.")
    hash = hashed(password)
    _on_accounts(options, lambda db: keep_password(db, options.account, hash, SystemClock().now_ms(), is_only=options.only))
    rest = " Its passkeys and linked sign-ons are gone." if options.only else ""
    print(f"{options.account} has another password, and is signed out everywhere.{rest}")
    return 0


def _account_export(options: argparse.Namespace) -> int:
    from agentui.accounts.exporting import exported
    from agentui.store.beside import run_once

    settings = _settings(options)
    url = settings.database_url.get_secret_value() if settings.database_url is not None else None

    async def read(transaction: Callable[..., Any], *args: Any) -> Any:
        return await run_once(url, settings.data, settings.database_timeout, lambda db: transaction(db, *args))

    async def write() -> None:
        # Each part opens the store anew, and a server that has the file waits for it.
        async for part in exported(read, options.account, SystemClock().now_ms(), at_once=2000):
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()

    _make_folder("data", settings.data)
    asyncio.run(write())
    return 0


def _account_purge(options: argparse.Namespace) -> int:
    from agentui.accounts.purging import MOST_DELAY, USUAL_DELAY, request_purge, rows_by_table

    delay = USUAL_DELAY if options.delay is None else options.delay
    if not 0 <= delay <= MOST_DELAY:
        raise CommandError(f"the delay is 0 to {MOST_DELAY} seconds; nothing is changed.")
    if not options.yes:
        counts = _on_accounts(options, lambda db: rows_by_table(db, options.account))
        print(f"{options.account} has {sum(counts.values())} rows in {len(counts)} tables.")
        print(f"'agentui account export {options.account} > FILE' keeps them.")
        if input(f"Type {options.account} to remove all of it: ").strip() != options.account:
            raise CommandError("nothing is removed.")
    purge = _on_accounts(options, lambda db: request_purge(db, options.account, SystemClock().now_ms(), delay))
    print(f"{purge.account_id} goes in {delay} s, with {purge.counted} rows, while a server runs.")
    return 0


def _account_cancel_purge(options: argparse.Namespace) -> int:
    from agentui.accounts.purging import cancel_purge

    _on_accounts(options, lambda db: cancel_purge(db, options.account, SystemClock().now_ms()))
    print(f"{options.account} stays.")
    return 0


def _account_purge_status(options: argparse.Namespace) -> int:
    from agentui.accounts.purging import find_purge

    purge = _on_accounts(options, lambda db: find_purge(db, options.account))
    print(f"{purge.account_id}\t{purge.status}\t{purge.removed} of {purge.counted} rows")
    return 0


def _secret_store(options: argparse.Namespace) -> "SecretStore":
    from agentui.secrets.store import SecretStore

    settings = _settings(options)
    _make_folder("data", settings.data)
    return SecretStore(
        settings.data, secret_environment(), settings.secret_key.get_secret_value() if settings.secret_key else None
    )


def _secret_set(options: argparse.Namespace) -> int:
    from agentui.secrets.origins import KNOWN_ORIGINS

    store = _secret_store(options)
    origins = options.origin or KNOWN_ORIGINS.get(options.name.lower(), ())
    if not origins:
        raise CommandError(f"say where {options.name!r} may be sent, e.g. --origin https://api.example.com.")
    value = getpass.getpass(f"Key for {options.name}: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not value.strip():
        raise CommandError("no key was given; nothing is stored.")
    store.set(options.name, value.strip(), origins)
    print(f"Stored {options.name}. It may be sent to {', '.join(sorted(origins))}. Use it as [[SECRET:{options.name}]].")
    return 0


def _secret_list(options: argparse.Namespace) -> int:
    for known in _secret_store(options).names():
        print(f"{known.name}\t{known.source}\t{', '.join(sorted(known.origins)) if known.origins else 'any origin'}")
    return 0


def _secret_delete(options: argparse.Namespace) -> int:
    _secret_store(options).delete(options.name)
    print(f"Forgot {options.name}.")
    return 0
