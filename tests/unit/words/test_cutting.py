"""Texts are cut into the words by which people look for them, in every script, and the same way everywhere."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.words.cutting import LONGEST, MOST_CHARACTERS, cut, normalised
from agentui.words.stems import language_of
from tests.unit.work import assert_doubling

TEXTS = st.text(max_size=120) | st.text("Ab cд的剑カのー학교에서é'1,٣\u0301\u093f ß", max_size=60)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Anna's 1,200 swords weren’t sold", "anna 1200 sword sell"),
        ("CAFÉ Zoë, cafe Zoe", "cafe zoe cafe zoe"),
        ("room 101 at 3.5 miles", "room 101 3 5 mile"),
        ("snake_case, e-mail", "snake case e mail"),
        ("Ёлка, ёлки и елок", "елк елк елк"),
        ("I'm sure he's won, don't you? It wasn't Don's well", "sure win don well"),
        ("колодец у колодца", "колодц колодц"),
        ("Аня обещала", "ан обещ"),
        ("他的剑在酒馆", "剑 酒 酒馆 馆"),
        ("第12章", "第 12 章"),
        ("東京タワーで待ってる", "東 東京 京 タワー タワ ワー 待 って てる"),
        ("ﾀﾜｰ ＡＢＣ", "タワー タワ ワー abc"),
        ("학교에서", "학교 교에 에서"),
        ("तलवार की चाबी", "तलवार क चाब"),
        ("دَخَلَ القَصر", "دخل قصر"),
        ("Где моё?", ""),
        ("the of and 的了", ""),
        ("👍 …!", ""),
    ],
)
def test_a_text_is_cut_into_its_words(text: str, words: str) -> None:
    assert cut(text) == words.split()


@pytest.mark.parametrize(
    ("fact", "question"),
    [
        ("She keeps the letters in a locked drawer.", "where was the letter kept?"),
        ("Mira bought three horses", "did you buy the horse?"),
        ("Старик спрятал карты под половицей", "где спрятана карта?"),
        ("L'épée de mon frère est restée dans les ruines de la ville", "les épées des frères"),
        ("Meine Schwester wohnt jetzt in den Bergen, aber sie ist nicht allein", "Wo wohnen deine Schwestern?"),
        ("她把钥匙藏在花瓶下面", "钥匙在哪里？"),
        ("그는 학교에서 칼을 잃어버렸다", "학교는 어디야?"),
    ],
)
def test_a_question_shares_its_words_with_what_was_said(fact: str, question: str) -> None:
    assert set(cut(fact)) & set(cut(question))


@given(TEXTS)
def test_words_hold_nothing_that_an_index_would_cut_at(text: str) -> None:
    for word in cut(text):
        assert 0 < len(word) <= 2 * LONGEST
        assert not re.search(r"[\s\x00-\x2f\x3a-\x60\x7b-\x7f]", word)


@given(TEXTS)
def test_a_text_is_normalised_once(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@given(st.text("abcdef ,.!'ñ剑的カ한д", max_size=60))
def test_letters_that_are_written_larger_are_the_same_words(text: str) -> None:
    assert Counter(cut(text.upper())) == Counter(cut(text))


@given(st.text("剑的了酒馆カタのд 12,한글", max_size=30), st.text("剑的了酒馆カタのд 12,한글", max_size=30))
def test_lines_are_cut_each_for_itself(first: str, second: str) -> None:
    assert cut(f"{first}\n{second}") == cut(first) + cut(second)


def shown(text: str) -> str:
    return language_of(text.split())


def test_a_language_shows_only_by_more_function_words_than_english_ones() -> None:
    assert shown("wo ist mein buch und wer hat es") == "german"
    assert shown("où est la maison de ma sœur") == "french"
    assert shown("he will die in the war") == "english"
    assert shown("where is the house of my sister") == "english"
    assert language_of([]) == "english"


@pytest.mark.parametrize(
    "piece",
    ["word and swords 12,000 ", "剑在酒馆", "а\u0301\u0323", "l'a'b'", "カタ", "학교에서는", "1,234", " '", "x", "ﷺ", "тест ё"],
)
def test_cutting_is_linear(piece: str) -> None:
    assert_doubling(lambda size: lambda: cut(piece * size), 64)


def test_of_a_text_a_million_characters_count() -> None:
    text = "a" * (MOST_CHARACTERS - 5) + " key dragon"
    assert cut(text) == ["a" * LONGEST, "key"]


def test_threads_cut_alike() -> None:
    texts = [
        f"the swords of {name} were stolen and hidden, обещали вернуться {name}" for name in ("Anna", "Boris", "Clara")
    ] * 40
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(cut, texts)) == [cut(text) for text in texts]
