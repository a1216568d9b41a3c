"""Settings: what is given wins over the environment, which wins over the defaults."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from agentui.settings import Settings, misspelt_environment


def test_the_environment_is_read_and_what_is_given_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTUI_PORT", "8123")
    monkeypatch.setenv("AGENTUI_PIPELINES", "/somewhere")
    monkeypatch.setenv("PORT", "1")
    assert (Settings().port, Settings().pipelines) == (8123, Path("/somewhere"))
    assert Settings(port=0).port == 0
    monkeypatch.delenv("AGENTUI_PORT")
    assert Settings().port == 7860


def test_a_variable_may_be_written_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("agentui_log_format", "json")
    assert Settings().log_format == "json"


def test_texts_of_the_environment_become_values(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {
        "ALLOW_PRIVATE": "false",
        "CORS_ORIGINS": "https://a.example, https://b.example,",
        "STOP_TIMEOUT": "1.5",
        "TOKEN": "long-enough-token",
    }
    for name, value in told.items():
        monkeypatch.setenv(f"AGENTUI_{name}", value)
    settings = Settings()
    assert (settings.allow_private, settings.stop_timeout) == (False, 1.5)
    assert settings.cors_origins == ("https://a.example", "https://b.example")
    assert settings.token is not None and settings.token.get_secret_value() == "long-enough-token"
    assert "long-enough" not in repr(settings)


@pytest.mark.parametrize("value", ["", "65536", "eighty"])
def test_a_wrong_value_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("AGENTUI_PORT", value)
    with pytest.raises(ValidationError) as caught:
        Settings()
    assert [error["loc"] for error in caught.value.errors()] == [("port",)]


def test_variables_that_are_no_setting_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTUI_SECRET_OPENAI", "sk-something-0123456789")
    assert "sk-something" not in repr(Settings())


def test_a_variable_that_is_nearly_a_setting_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AGENTUI_TOEKN", "AGENTUI_PIPELINE", "AGENTUI_KEY", "AGENTUI_SECRET_HOST", "AGENTUI_HOST", "agentui_port"):
        monkeypatch.setenv(name, "1")
    assert misspelt_environment() == {"AGENTUI_TOEKN": "AGENTUI_TOKEN", "AGENTUI_PIPELINE": "AGENTUI_PIPELINES"}
