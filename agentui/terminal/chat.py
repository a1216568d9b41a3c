"""The chat itself: read a line, do what it says, show what comes of it."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from prompt_toolkit import PromptSession

from agentui.sdk import StreamFailed, TavernClient, TavernError, TurnStream
from agentui.sdk.helpers import create_initial_respond_stream_state, map_api_error_to_ui_state, reduce_respond_stream
from agentui.terminal.commands import SAY, BadCommand, Command, parse
from agentui.terminal.conversation import Conversation, NothingYet, open_session
from agentui.terminal.screen import Screen

_PAUSE = 0.2
"""Seconds between two requests to stop a turn."""


def chat(url: str, *, token: str | None, session: str | None, character: Path | None, pipeline: str | None) -> int:
    """Chat until the user leaves; the exit code. Whatever goes wrong is told on the terminal."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    with TavernClient(url, get_headers=lambda: headers) as client:
        try:
            conversation = Conversation(client, open_session(client, session, character), pipeline)
            screen = Screen(conversation.character)
            screen.greet(url, conversation.session_id, conversation.messages())
        except (TavernError, ValueError, OSError) as error:
            sys.stderr.write(f"agentui: {_told(error)}\n")
            return 1
        Chat(conversation, screen).run()
    return 0


class Chat:
    """Goes between a conversation and the terminal."""

    def __init__(self, conversation: Conversation, screen: Screen) -> None:
        self._conversation = conversation
        self._screen = screen
        self._prompt: PromptSession[str] = PromptSession()

    def run(self) -> None:
        """Read and do, until ``/quit`` or the end of the input."""
        while True:
            try:
                command = parse(self._prompt.prompt(f"{self._conversation.branch}> "))
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            except BadCommand as error:
                self._screen.wrong(str(error))
                continue
            if command is None:
                continue
            if command.name == "quit":
                return
            self._do(command)

    def _do(self, command: Command) -> None:
        """Do one thing; what goes wrong is shown, and the chat goes on."""
        try:
            self._act(command)
        except KeyboardInterrupt:
            self._screen.note("Stopped.")
        except NothingYet as error:
            self._screen.note(str(error))
        except TavernError as error:
            self._screen.wrong(_told(error))

    def _act(self, command: Command) -> None:
        conversation, screen = self._conversation, self._screen
        match command.name:
            case "swipe" if command.argument:
                screen.message("assistant", conversation.show_version(int(command.argument)))
            case "swipe":
                self._hear(conversation.swipe())
            case "regenerate":
                self._hear(conversation.regenerate())
            case "edit":
                self._hear(conversation.edit(command.argument))
            case "branch":
                is_new = conversation.go_to(command.argument)
                screen.note(f"{'A new branch' if is_new else 'Branch'} {conversation.branch}.")
            case "branches":
                screen.branches(conversation.branches(), conversation.branch)
            case "vars":
                screen.variables(conversation.variables())
            case "why":
                screen.why(conversation.why())
            case "help":
                screen.help()
            case _:
                assert command.name == SAY
                self._hear(conversation.say(command.argument))

    def _hear(self, stream: TurnStream) -> None:
        """Show an answer while it comes. Ctrl+C has the server stop it; a second one leaves the stream."""
        screen, state = self._screen, create_initial_respond_stream_state()
        screen.answer()
        with stream, _interrupted_by(self._conversation.stop) as was_interrupted:
            try:
                for event in stream:
                    state = reduce_respond_stream(state, event)
                    if event["type"] == "chunk":
                        screen.words(event["payload"]["chunk"])
                    elif event["type"] == "tool" and event["payload"]["phase"] != "start":
                        screen.note(f"[{event['payload']['tool_name']}: {event['payload']['phase']}]")
            except StreamFailed:
                if not was_interrupted():
                    raise
        screen.end_line()
        if state.result is None:
            screen.note("Stopped.")
            return
        self._conversation.branch = state.result["branch_id"] or self._conversation.branch
        for warning in state.warnings:
            screen.note(f"{warning['tool_name']}: {warning['message']}")


@contextmanager
def _interrupted_by(stop: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
    """Meanwhile the first Ctrl+C calls ``stop`` in a thread until that has stopped something, for a turn that has hardly begun
    cannot be stopped yet; the second interrupts as ever. Gives whether one came."""
    asked: list[threading.Thread] = []
    is_over = threading.Event()

    def ask() -> None:
        try:
            while not is_over.is_set() and not stop():
                is_over.wait(_PAUSE)
        except TavernError:
            # What cannot be stopped goes on; the second Ctrl+C leaves it.
            return

    def hear(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        asked.append(threading.Thread(target=ask, daemon=True))
        asked[0].start()

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)
        is_over.set()
        for thread in asked:
            thread.join()


def _told(error: Exception) -> str:
    """What a person is told of an error."""
    shown = map_api_error_to_ui_state(error)
    if shown["kind"] == "authentication":
        return f"{shown['message']} Give the server's token: --token, or AGENTUI_TOKEN."
    return f"{shown['message']} It may be tried again." if shown["retryable"] else shown["message"]
