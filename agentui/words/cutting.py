"""Cutting a text into the words by which it is found.

    "Anna's 1,200 swords"  ->  anna 1200 sword
    "他的剑在酒馆"          ->  剑 酒 酒馆 馆
    "학교에서"              ->  학교 교에 에서

Lower case, NFKC, stems by script and language; Han as pairs and single characters, Kana and the scripts of South-East Asia,
which have no spaces either, as pairs; of Hangul the word without its particle, and pairs of syllables, for its nouns are
compounds. Function words are left out; numbers and names stay. The same text gives the same words everywhere: nothing depends
on the machine, and no word holds a space or an ASCII punctuation mark.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from agentui.words.stems import BY_SCRIPT, LATIN, language_of, stem
from agentui.words.stopwords import BY_LANGUAGE, CHARACTERS, ENGLISH, RUSSIAN

MOST_CHARACTERS: Final = 1_000_000
"""Of a text, from its beginning: what stands behind is not cut."""
LONGEST: Final = 64
"""Characters of a word that count; encoded files have "words" of any length."""

_HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff"
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff\u1ab0-\u1aff\u1dc0-\u1dff"
)
"""What stands within words though Python counts it as no letter: accents, points, and the vowel signs of India."""
_RUN: Final = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<katakana>[{_KATAKANA}]+)|(?P<hiragana>[{_HIRAGANA}]+)|(?P<hangul>[{_HANGUL}]+)"
    rf"|(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<word>(?:[^\W_{_HAN}{_HIRAGANA}{_KATAKANA}{_HANGUL}{_UNSPACED}]|[{_MARKS}])+"
    rf"(?:'(?:[^\W\d_{_HAN}{_HIRAGANA}{_KATAKANA}{_HANGUL}{_UNSPACED}]|[{_MARKS}])+)*)"
)
_GROUPED: Final = re.compile(r"(?<![\d,.'])\d{1,3}(?:[,'\u00a0\u2009\u202f]\d{3})+(?![\d,'])")
"""A number with marks between its thousands. A space is none of them: "room 12 300 guests"."""
_PIECE: Final = re.compile(r".{1,255}(?:\s|\Z)|.{1,256}", re.DOTALL)
_APOSTROPHES: Final = str.maketrans("’ʼ＇`´", "'''''")
_LETTERS: Final = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
_POINTS: Final = re.compile("[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0640]")
"""The points of Hebrew and Arabic, which most writers leave out, and Arabic's lengthening stroke."""
_PARTICLE: Final = re.compile(
    "(?:에서는|에게서|으로는|이라는|이었어|였어|까지는|한테는|에서|에게|께서|한테|으로|이랑|부터|까지|처럼|보다|마다|조차|밖에|라는|이야|이다|인가|하고|은|는|이|가"
    "|을|를|에|의|와|과|도|로|만|랑|야)\\Z"
)
"""What stands behind Korean nouns."""


def cut(text: str) -> list[str]:
    """The words of a text, in its order, as often as they stand there. The work is linear in the text."""
    runs = [(match.lastgroup or "", match[0]) for match in _RUN.finditer(normalised(text[:MOST_CHARACTERS]))]
    latin = _pieces_in_latin(runs)
    language = language_of(latin)
    found: list[str] = []
    for kind, run in runs:
        found += _words_of_word(run, language) if kind == "word" else _CUT[kind](run)
    return found


def normalised(text: str) -> str:
    """A text in NFKC and lower case, with one kind of apostrophe and without marks between thousands."""
    if not text.isascii():
        # In pieces: to order the marks that stand on one letter takes their number squared, and a text may be nothing else.
        text = "".join(unicodedata.normalize("NFKC", piece) for piece in _PIECE.findall(text.translate(_APOSTROPHES)))
    text = text.lower().replace("ё", "е").translate(_APOSTROPHES)
    return _GROUPED.sub(lambda number: re.sub(r"\D", "", number[0]), text)


def _pieces_in_latin(runs: list[tuple[str, str]]) -> Iterator[str]:
    """The words that tell the language of a text in Latin letters."""
    for kind, run in runs:
        if kind == "word" and _script_of(run) == "latin":
            yield from run.split("'")


def _words_of_word(run: str, language: str) -> Iterator[str]:
    """What a word of an alphabet comes to: a stem, or two where the language is not English; nothing for a function word."""
    for piece in _without_clitics(run):
        word = piece[:LONGEST]
        script = _script_of(word)
        if script == "latin":
            yield from _latin(word, language)
        elif script == "cyrillic":
            if word not in RUSSIAN:
                yield stem("russian", word)
        else:
            bare = _POINTS.sub("", word)
            if bare:
                yield _stored(stem(BY_SCRIPT[script], bare) if script in BY_SCRIPT else bare)


def _without_clitics(run: str) -> Iterator[str]:
    """The parts of a word between its apostrophes that are words: not the s of "Anna's", the l of "l'épée", nor "don't"."""
    if "'" not in run:
        yield run
        return
    pieces = run.split("'")
    if run.endswith("n't") or ENGLISH.issuperset(pieces):
        return
    yield from [piece for piece in pieces if len(piece) > 2] or ["".join(pieces)]


def _latin(word: str, language: str) -> Iterator[str]:
    folded = word if word.isascii() else _folded(word)
    if language == LATIN:
        if word not in ENGLISH and folded:
            yield stem(LATIN, folded)
    elif word not in BY_LANGUAGE[language]:
        first, second = stem(LATIN, folded), _folded(stem(language, word))
        yield first
        if second != first:
            yield second


def _folded(word: str) -> str:
    """A word without the accents of its Latin letters, as those write it who have no such keys."""
    bare = unicodedata.normalize("NFD", word.translate(_LETTERS))
    return "".join(letter for letter in bare if not unicodedata.combining(letter)) or word


def _stored(word: str) -> str:
    return word[:LONGEST]


def _han(run: str) -> Iterator[str]:
    before = ""
    for character in run:
        is_grammar = character in CHARACTERS
        if before and not (is_grammar or before in CHARACTERS):
            yield before + character
        if not is_grammar:
            yield character
        before = character


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


def _hiragana(run: str) -> Iterator[str]:
    """Pairs; alone a character is a particle."""
    if len(run) > 1:
        yield from _pairs(run)


def _katakana(run: str) -> Iterator[str]:
    """The run as it is, which is a name or a loan, and its pairs."""
    if 2 < len(run) <= LONGEST:
        yield run
    yield from _pairs(run)


def _hangul(run: str) -> Iterator[str]:
    noun = _PARTICLE.sub("", run[:LONGEST]) or run[:LONGEST]
    yield noun
    if len(run) > 2:
        yield from (pair for pair in _pairs(run) if pair != noun)


_CUT: Final[Mapping[str, Callable[[str], Iterator[str]]]] = {
    "han": _han,
    "hiragana": _hiragana,
    "katakana": _katakana,
    "hangul": _hangul,
    "unspaced": _pairs,
}


def _script_of(word: str) -> str:
    """The script of a word by its first letter; "latin" for one of digits alone."""
    for letter in word:
        if letter.isascii():
            if letter.isalpha():
                return "latin"
            continue
        number = ord(letter)
        for name, first, last in _SCRIPTS:
            if first <= number <= last:
                return name
        if letter.isalpha():
            return "other"
    return "latin"


_SCRIPTS: Final = (
    ("latin", 0x00AA, 0x024F),
    ("cyrillic", 0x0400, 0x052F),
    ("greek", 0x0370, 0x03FF),
    ("arabic", 0x0600, 0x077F),
    ("armenian", 0x0530, 0x058F),
    ("devanagari", 0x0900, 0x097F),
    ("tamil", 0x0B80, 0x0BFF),
    ("latin", 0x1E00, 0x1EFF),
    ("greek", 0x1F00, 0x1FFF),
)
"""Which letters each script has: its name, and the first and the last of a block."""
