"""The coding agents: how each is started against agentui, and with which of its tools its model works.

The environment variables and files that stand here are those that docs/coding-agents.md tells people to set.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.upstreams.step import Call

NAMES = ("claude-code", "codex", "codex-gpt", "gemini-cli")
"""``codex-gpt`` is Codex with one of the models that it knows: it then declares one tool, which runs JavaScript."""
DIALECTS = {"claude-code": "claude", "codex": "openai_responses", "codex-gpt": "openai_responses", "gemini-cli": "gemini"}
MODELS = {
    "claude-code": "claude-sonnet-4-5",
    "codex": "some-model",
    "codex-gpt": "gpt-6.1-sol",
    "gemini-cli": "gemini-3-pro-preview",
}
"""What the agents ask for; the pipelines name a model of their own."""
_COMMANDS = {"claude-code": "claude", "codex": "codex", "codex-gpt": "codex", "gemini-cli": "gemini"}


@dataclass(frozen=True)
class Program:
    """One agent and its folders. ``base`` is where agentui is, without a version: ``http://127.0.0.1:7860/p/<pipeline>``."""

    name: str
    packages: Path
    home: Path
    work: Path
    base: str
    key: str

    @property
    def _file(self) -> Path:
        """The command."""
        return self.packages / "node_modules" / ".bin" / _COMMANDS[self.name]

    @property
    def has_images(self) -> bool:
        """Whether its tools show pictures to the model."""
        return self.name != "codex-gpt"

    def set_up(self) -> None:
        """Write the agent's configuration."""
        match self.name:
            case "codex" | "codex-gpt":
                folder = self.home / ".codex"
                text = CODEX_CONFIG.replace("some-model", MODELS[self.name]).replace("http://127.0.0.1:7860", self.base)
                assert tomllib.loads(text)["model_providers"]["agentui"]["base_url"] == f"{self.base}/v1"
                folder.mkdir(parents=True)
                (folder / "config.toml").write_text(text, encoding="utf-8")
            case "gemini-cli":
                folder = self.home / ".gemini"
                folder.mkdir(parents=True)
                (folder / "settings.json").write_text(json.dumps(GEMINI_SETTINGS), encoding="utf-8")

    def environment(self) -> Mapping[str, str]:
        """The variables that the agent reads."""
        match self.name:
            case "claude-code":
                # It refuses to skip permissions as root, but not in a sandbox, which a namespace is.
                return {
                    **CLAUDE_ENVIRONMENT,
                    "ANTHROPIC_BASE_URL": self.base,
                    "ANTHROPIC_AUTH_TOKEN": self.key,
                    "IS_SANDBOX": "1",
                }
            case "gemini-cli":
                return {**GEMINI_ENVIRONMENT, "GOOGLE_GEMINI_BASE_URL": self.base, "GEMINI_API_KEY": self.key}
        return {"AGENTUI_KEY": self.key}

    def command(self, prompt: str, *, again: bool = False) -> Sequence[str]:
        """The command line of one run without a terminal; ``again`` goes on with the last conversation."""
        match self.name:
            case "claude-code":
                flags = ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
                return [str(self._file), "-p", prompt, *flags, *(["--continue"] if again else [])]
            case "gemini-cli":
                flags = ["--model", MODELS[self.name], "--yolo", "--output-format", "stream-json"]
                return [str(self._file), "--prompt", prompt, *flags, *(["--resume", "latest"] if again else [])]
        flags = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        return [str(self._file), "exec", *(["resume", "--last"] if again else []), *flags, prompt]

    # --- the agent's tools, as its model calls them ------------------------------------------------------------------

    def shell(self, command: str) -> Call:
        """Run a command."""
        match self.name:
            case "claude-code":
                return _call("Bash", command=command, description="Run a command")
            case "codex":
                return _call("exec_command", cmd=command, max_output_tokens=60_000)
            case "codex-gpt":
                script = f"const done = await tools.exec_command({json.dumps({'cmd': command})});\ntext(done);"
                return _call("exec", input=f'// @exec: {{"max_output_tokens": 60000}}\n{script}')
        return _call("run_shell_command", command=command)

    def read(self, file: str) -> Call:
        """Read a file of the work folder."""
        match self.name:
            case "claude-code":
                return _call("Read", file_path=str(self.work / file))
            case "gemini-cli":
                return _call("read_file", file_path=file)
        return self.shell(f"cat {file}")

    def look(self, file: str) -> Call:
        """Look at a picture of the work folder."""
        return _call("view_image", path=str(self.work / file)) if self.name == "codex" else self.read(file)

    def edit(self, file: str, old: str, new: str) -> Call:
        """Replace a line of a file."""
        match self.name:
            case "claude-code":
                return _call("Edit", file_path=str(self.work / file), old_string=old, new_string=new)
            case "gemini-cli":
                return _call("replace", file_path=file, old_string=old, new_string=new, instruction="Correct the sum.")
        patch = f"*** Begin Patch\n*** Update File: {file}\n@@\n-{old}\n+{new}\n*** End Patch\n"
        if self.name == "codex-gpt":
            return _call("exec", input=f"text(await tools.apply_patch({json.dumps(patch)}));")
        return self.shell(f"apply_patch <<'EOF'\n{patch}EOF")


def _call(name: str, **arguments: object) -> Call:
    return Call(name, json.dumps(arguments))


CLAUDE_ENVIRONMENT = {
    "ANTHROPIC_MODEL": "claude-sonnet-4-5",
    "ANTHROPIC_DEFAULT_OPUS_MODEL": "claude-sonnet-4-5",
    "ANTHROPIC_DEFAULT_SONNET_MODEL": "claude-sonnet-4-5",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL": "claude-haiku-4-5",
    "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "32000",
    "API_TIMEOUT_MS": "600000",
}

CODEX_CONFIG = """\
model = "some-model"
model_provider = "agentui"
model_context_window = 200000
model_reasoning_effort = "medium"
model_reasoning_summary = "auto"
web_search = "disabled"
check_for_update_on_startup = false

[model_providers.agentui]
name = "agentui"
base_url = "http://127.0.0.1:7860/v1"
env_key = "AGENTUI_KEY"
wire_api = "responses"
stream_idle_timeout_ms = 600000

[analytics]
enabled = false

[otel]
exporter = "none"
"""

GEMINI_ENVIRONMENT = {"GEMINI_TELEMETRY_ENABLED": "false"}
GEMINI_SETTINGS = {
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
}
