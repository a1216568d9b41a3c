"""A stored variable may have dots in its name; the whole name is tried before the path (seed 000)."""

from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.template import TextLanguage


def render(source: str, **scope: object) -> str:
    return TextLanguage().compile(source).render(Scope(**scope))  # type: ignore[arg-type]  # layers by their names


def test_a_flat_name_wins_over_the_path() -> None:
    stored = {"assets.gold": 1, "assets": {"gold": 2, "silver": 3}}
    assert render("{{ assets.gold }} {{ assets.silver }}", variables=stored) == "1 3"


def test_a_variable_of_the_run_hides_stored_ones_below_its_name() -> None:
    assert render("{{ assets.gold }}", run_vars={"assets": {"gold": 5}}, variables={"assets.gold": 1}) == "5"


def test_the_context_is_followed_where_nothing_is_stored() -> None:
    assert render("{{ chat.last_user }}", context={"chat": {"last_user": "hi"}}) == "hi"
    assert render("{{ chat.last_user }}", context={"chat": {"last_user": "hi"}}, variables={"chat.last_user": "x"}) == "x"
