"""The chat itself: read a line, do what it says, show what comes of it."""

import sys
from pathlib import Path

from prompt_toolkit import PromptSession

from agentui.sdk import TavernClient, TavernError, TurnStream
from agentui.sdk.helpers import create_initial_respond_stream_state, map_api_error_to_ui_state, reduce_respond_stream
from agentui.terminal.commands import SAY, BadCommand, Command, parse
from agentui.terminal.conversation import Conversation, NothingYet, open_session
from agentui.terminal.screen import Screen


def chat(url: str, *, token: str | None, session: str | None, character: Path | None, pipeline: str | None) -> int:
    """Chat until the user leaves; the exit code. Whatever goes wrong is told on the terminal."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    try:
        with TavernClient(url, get_headers=lambda: headers) as client:
            conversation = Conversation(client, open_session(client, session, character), pipeline)
            screen = Screen(conversation.character)
            screen.greet(url, conversation.session_id, conversation.messages())
            Chat(conversation, screen).run()
    except (TavernError, ValueError, OSError) as error:
        sys.stderr.write(f"agentui: {_told(error)}\n")
        return 1
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
                self._show_answer(conversation.swipe())
            case "regenerate":
                self._show_answer(conversation.regenerate())
            case "edit":
                self._show_answer(conversation.edit(command.argument))
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
                self._show_answer(conversation.say(command.argument))

    def _show_answer(self, stream: TurnStream) -> None:
        """Show an answer while it comes. Ctrl+C leaves the stream, which stops this turn and no other."""
        screen, state = self._screen, create_initial_respond_stream_state()
        try:
            with stream:
                for event in stream:
                    state = reduce_respond_stream(state, event)
                    if event["type"] == "start":
                        screen.answer()
                    elif event["type"] == "chunk":
                        screen.words(event["payload"]["chunk"])
                    elif event["type"] == "tool" and event["payload"]["phase"] != "start":
                        screen.note(f"[{event['payload']['tool_name']}: {event['payload']['phase']}]")
        except KeyboardInterrupt:
            if state.floor_id is not None and state.branch_id is not None:
                self._conversation.wait_for_end(state.floor_id, state.branch_id)
            raise
        screen.end_line()
        if state.result is not None:
            self._conversation.branch = state.result["branch_id"] or self._conversation.branch
        for warning in state.warnings:
            screen.note(f"{warning['tool_name']}: {warning['message']}")


def _told(error: Exception) -> str:
    """What a person is told of an error."""
    shown = map_api_error_to_ui_state(error)
    if shown["kind"] == "authentication":
        return f"{shown['message']} Give the server's token: --token, or AGENTUI_TOKEN."
    may_pass = shown["retryable"] and isinstance(error, TavernError)
    return f"{shown['message'].rstrip('.')}. It may be tried again." if may_pass else shown["message"]
