"""What a client sends, as the past of a turn."""

from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import Message, Role, Text, ToolCall, ToolResult, text_message
from agentui.prompt.history import HistoryEntry
from agentui.turns.history import NO_PAST, Past
from agentui.turns.thin.conversation import talk_of

GREETING = HistoryEntry("f0", 0, "m0", "p0", "assistant", "Hello.", source="greeting")
GREETED = Past(entries=(GREETING,))


def said(*pairs: tuple[Role, str]) -> list[Message]:
    """Messages of one text each."""
    return [text_message(role, text) for role, text in pairs]


def test_system_texts_stand_around_and_within_the_history() -> None:
    messages = said(
        ("system", "a"), ("system", "b"), ("user", "1"), ("system", "c"), ("assistant", "2"), ("user", "3"), ("system", "d")
    )
    talk = talk_of(messages, 1, NO_PAST, continues=False)
    assert [(each.text, each.place) for each in talk.extra] == [("a\n\nb", "head"), ("d", "tail")]
    assert [(each.role, each.text, each.floor_no) for each in talk.entries] == [
        ("user", "1", 0),
        ("system", "c", 0),
        ("assistant", "2", 0),
    ]
    assert talk.message is not None and talk.message.text == "3"
    assert not talk.is_cut


def test_a_lone_question_has_the_chats_past() -> None:
    talk = talk_of(said(("user", "3")), 1, GREETED, continues=False)
    assert talk.entries == (GREETING,)


def test_a_greeting_that_the_client_does_not_show_comes_first() -> None:
    history = said(("user", "1"), ("assistant", "2"), ("user", "3"))
    talk = talk_of(history, 2, GREETED, continues=False)
    assert [each.text for each in talk.entries] == ["Hello.", "1", "2"]
    shown = talk_of([*said(("assistant", "Hello.")), *history], 2, GREETED, continues=False)
    assert [(each.text, each.floor_no) for each in shown.entries] == [("Hello.", 0), ("1", 1), ("2", 1)]
    cut = talk_of(history, 7, GREETED, continues=False)
    assert ([each.floor_no for each in cut.entries], cut.is_cut) == ([6, 6], True)


def test_what_tools_gave_belongs_to_the_floor_that_called_them() -> None:
    call = Message("assistant", (ToolCall("1", "look", "{}"),))
    gave = Message("tool", (ToolResult("1", (Text("A cave."),)),))
    messages = [*said(("user", "1")), call, gave, *said(("assistant", "2"), ("user", "3")), call, gave]
    talk = talk_of(messages, 1, NO_PAST, continues=False)
    assert [each.floor_no for each in talk.entries] == [0, 0, 0, 0, 1, 1]
    assert talk.message is not None and talk.message.parts == gave.parts


def test_an_answer_that_is_continued_is_no_part_of_the_past() -> None:
    talk = talk_of(said(("user", "1"), ("assistant", "Once")), 0, NO_PAST, continues=True)
    assert (talk.words, talk.entries) == ("Once", ())
    assert talk.message is not None and talk.message.text == "1"


roles = st.sampled_from(["system", "user", "assistant"])


@given(st.lists(st.tuples(roles, st.text(min_size=1, max_size=4))), st.integers(0, 30), st.booleans())
def test_nothing_that_is_sent_is_lost_and_floors_only_rise(
    pairs: list[tuple[Role, str]], floor_no: int, continues: bool
) -> None:
    talk = talk_of(said(*pairs), floor_no, NO_PAST, continues=continues)
    texts = [each.text for each in talk.entries] + ([talk.message.text] if talk.message else []) + [talk.words]
    head, tail = ([each.text for each in talk.extra if each.place == place] for place in ("head", "tail"))
    assert "".join(text for _, text in pairs) == "".join([*head, *texts, *tail]).replace("\n\n", "")
    numbers = [each.floor_no for each in talk.entries]
    assert numbers == sorted(numbers)
    assert all(0 <= number <= floor_no for number in numbers)
