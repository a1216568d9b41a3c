"""Characters and personas: whatever stands in a file, a reading of it is made, and what is well formed is read as it is."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.character import Character, DepthPrompt
from agentui.assets.persona import Persona
from agentui.assets.values import flag, role, whole
from agentui.jsonio import Json
from tests.unit.assets.values import ANYTHING

FIELDS = [*sorted(Character.__dataclass_fields__), "character_book"]
CARDS = st.dictionaries(st.sampled_from(FIELDS), ANYTHING)


@given(CARDS)
def test_a_character_is_made_of_whatever_a_card_holds(content: Mapping[str, Json]) -> None:
    made = Character.of(content)
    assert all(said.strip() for said in made.greetings)


@given(st.dictionaries(st.sampled_from(["name", "description", "position", "depth", "role"]), ANYTHING))
def test_a_persona_is_made_of_whatever_is_kept(content: Mapping[str, Json]) -> None:
    made = Persona.of(content)
    assert made.depth >= 0 and made.role in ("system", "user", "assistant")


def test_a_card_is_read() -> None:
    made = Character.of(
        {
            "name": "Mira",
            "nickname": "Captain",
            "first_mes": "Ahoy.\r\nWelcome.",
            "alternate_greetings": ["Oh.", "", None, "You?"],
            "extensions": {"depth_prompt": {"prompt": "Stay calm.", "depth": "3", "role": 2}},
            "character_book": {"entries": []},
        }
    )
    assert made.spoken_name == "Captain"
    assert made.greetings == ("Ahoy.\nWelcome.", "Oh.", "You?")
    assert made.depth_prompt == DepthPrompt("Stay calm.", 3, "assistant")
    assert made.book == {"entries": []}


def test_a_persona_stands_where_sillytaverns_number_says() -> None:
    places = [Persona.of({"position": number}).place for number in (0, 1, 2, 3, 4, 9, 77, "at_depth", None)]
    assert places == [
        "in_prompt",
        "in_prompt",
        "note_top",
        "note_bottom",
        "at_depth",
        "none",
        "in_prompt",
        "at_depth",
        "in_prompt",
    ]


def test_values_are_taken_for_what_they_should_be() -> None:
    assert [whole(value, 7) for value in (3, "4", 5.9, True, None, "x", "1e400", "nan", [])] == [3, 4, 5, 7, 7, 7, 7, 7, 7]
    assert [flag(value, True) for value in (0, 1, "false", "TRUE", None, "x")] == [False, True, False, True, True, True]
    assert [role(value) for value in (0, 1, 2, 3, -1, "User", None)] == [
        "system",
        "user",
        "assistant",
        "system",
        "system",
        "user",
        "system",
    ]
