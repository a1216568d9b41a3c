"""Stems: what inflected words have in common, by Snowball's algorithms.

Which algorithm is told by the script. Of a text in Latin letters its function words tell the language; its words are cut as
English ones *and* by that language, so that a short question, which shows no language, still finds them.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from agentui.words.stopwords import BY_LANGUAGE

if TYPE_CHECKING:
    import Stemmer

LATIN: Final = "english"
"""The language that is taken for every text in Latin letters."""
BY_SCRIPT: Final[Mapping[str, str]] = {
    "latin": LATIN,
    "cyrillic": "russian",
    "greek": "greek",
    "arabic": "arabic",
    "armenian": "armenian",
    "devanagari": "hindi",
    "tamil": "tamil",
}
_LATIN_LANGUAGES: Final = tuple(name for name in BY_LANGUAGE if name not in (LATIN, "russian"))
_ENOUGH: Final = 2
"""Function words that have to be there before a text counts as another language than English."""
_LOOKED_AT: Final = 2000
"""Words of a text that tell its language."""

_FORMS: Final = """
    arise arose arisen | bear bore borne born | beat beaten | become became | begin began begun | bend bent | bind bound
    bite bit bitten | bleed bled | blow blew blown | break broke broken | breed bred | bring brought | build built
    burn burnt | buy bought | catch caught | choose chose chosen | cling clung | come came | creep crept | deal dealt
    dig dug | draw drew drawn | dream dreamt | drink drank drunk | drive drove driven | dwell dwelt | eat ate eaten
    fall fell fallen | feed fed | feel felt | fight fought | find found | flee fled | fly flew flown
    forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen | get got gotten
    give gave given | go went gone | grow grew grown | hang hung | hear heard | hide hid hidden | hold held | keep kept
    kneel knelt | know knew known | lead led | leave left | lend lent | lie lay lain | lose lost | make made | mean meant
    meet met | pay paid | ride rode ridden | ring rang rung | rise rose risen | run ran | say said | see saw seen
    seek sought | sell sold | send sent | shake shook shaken | shine shone | shoot shot | show shown | sing sang sung
    sink sank sunk | sit sat | sleep slept | slide slid | speak spoke spoken | spend spent | spin spun | stand stood
    steal stole stolen | stick stuck | sting stung | strike struck stricken | swear swore sworn | sweep swept
    swim swam swum | swing swung | take took taken | teach taught | tear tore torn | tell told | think thought
    throw threw thrown | understand understood | wake woke woken | wear wore worn | weave wove woven | weep wept | win won
    write wrote written | child children | man men | woman women | person people | foot feet | tooth teeth | mouse mice
    goose geese | wolf wolves | knife knives | life lives | wife wives | half halves | leaf leaves | thief thieves
    good better best | bad worse worst
"""
_IRREGULAR: Final[Mapping[str, str]] = {
    form: base
    for base, *forms in (line.split() for line in _FORMS.replace("\n", "|").split("|") if line.strip())
    for form in forms
}
"""Forms of English that no suffix tells from their word."""


def language_of(words: Iterable[str]) -> str:
    """The language of words in Latin letters, by their function words; English where they show no other."""
    looked_at = [word for word, _ in zip(words, range(_LOOKED_AT), strict=False)]
    counts = Counter(looked_at)
    shown = {name: sum(counts[word] for word in BY_LANGUAGE[name] & counts.keys()) for name in (LATIN, *_LATIN_LANGUAGES)}
    best = max(_LATIN_LANGUAGES, key=lambda name: shown[name])
    return best if shown[best] >= _ENOUGH and shown[best] > shown[LATIN] else LATIN


@lru_cache(maxsize=32_768)
def stem(language: str, word: str) -> str:
    """The stem of a lower-case word by Snowball's algorithm for the language."""
    if language == LATIN:
        word = _IRREGULAR.get(word, word)
    stemmed: str = _stemmer(language).stemWord(word) or word
    return _without_fleeting_vowel(stemmed) if language == "russian" else stemmed


def _without_fleeting_vowel(stemmed: str) -> str:
    """A Russian stem without the vowel that most of its forms lack: колодец and колодца, козодой and козодоя. A stem whose
    vowel stays loses it in all of its forms alike."""
    if len(stemmed) > 4 and stemmed[-1] in _VOWELS:
        return stemmed[:-1]
    is_fleeting = len(stemmed) > 3 and stemmed[-1] in "кцнл" and stemmed[-2] in "ое" and stemmed[-3] not in _VOWELS
    return stemmed[:-2] + stemmed[-1] if is_fleeting else stemmed


_VOWELS: Final = "аеиоуыэюя"


class _Stemmers(threading.local):
    """Stemmers of one thread: Snowball's keep the word on which they work, so that two threads must not share one."""

    def __init__(self) -> None:
        self.by_language: dict[str, Stemmer.Stemmer] = {}


_STEMMERS = _Stemmers()


def _stemmer(language: str) -> "Stemmer.Stemmer":
    found = _STEMMERS.by_language.get(language)
    if found is None:
        import Stemmer  # a megabyte that a server without memories never needs

        # Ours is the cache: Snowball's own would keep ten thousand words for each thread and language.
        found = _STEMMERS.by_language[language] = Stemmer.Stemmer(language, 0)
    return found
