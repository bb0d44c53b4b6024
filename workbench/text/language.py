"""The language of a text, by its script and its most frequent words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import islice

import regex

from workbench.base.i18n import N_

MAX_LETTERS = 50_000  # that are read
MIN_SHARE = 0.08  # of the words that are frequent words of a language
MIN_RATIO = 1.5  # of that share to the one of the next language
MIN_KANA_SHARE = 0.05  # of the letters of a Japanese text
MULTILINGUAL = frozenset(("multilingual", "multi", "mul"))  # of models for many languages

LATIN, HAN, KANA = "Latin", "Han", "Kana"
_SCRIPTS: Mapping[str, str] = {
    LATIN: r"\p{Latin}",
    "Cyrillic": r"\p{Cyrillic}",
    "Greek": r"\p{Greek}",
    "Arabic": r"\p{Arabic}",
    "Hebrew": r"\p{Hebrew}",
    "Devanagari": r"\p{Devanagari}",
    HAN: r"\p{Han}",
    KANA: r"[\p{Hiragana}\p{Katakana}]",
    "Hangul": r"\p{Hangul}",
    "Thai": r"\p{Thai}",
}
_PATTERN = regex.compile("|".join(f"(?P<{name}>{given}+)" for name, given in _SCRIPTS.items()))
_LANGUAGE_OF_SCRIPT = {
    "Greek": "el",
    "Hebrew": "he",
    HAN: "zh",
    KANA: "ja",
    "Hangul": "ko",
    "Thai": "th",
}

# Names of the languages that are recognized, or that models of the catalogue are for.
NAMES: Mapping[str, str] = {
    "en": N_("English"), "de": N_("German"), "fr": N_("French"), "es": N_("Spanish"),
    "it": N_("Italian"), "pt": N_("Portuguese"), "nl": N_("Dutch"), "sv": N_("Swedish"),
    "pl": N_("Polish"), "tr": N_("Turkish"), "ru": N_("Russian"), "uk": N_("Ukrainian"),
    "ar": N_("Arabic"), "fa": N_("Persian"), "hi": N_("Hindi"), "el": N_("Greek"),
    "he": N_("Hebrew"), "zh": N_("Chinese"), "ja": N_("Japanese"), "ko": N_("Korean"),
    "th": N_("Thai"),
}  # fmt: skip
# The most frequent words of languages that share a script.
_FREQUENT: Mapping[str, Mapping[str, frozenset[str]]] = {
    script: {language: frozenset(words.split()) for language, words in given.items()}
    for script, given in {
        LATIN: {
            "en": "the of and to in is was that for it on with as at by this are from or not you",
            "de": "der die und das den ist von zu mit nicht ein eine auf dem sich im auch es für",
            "fr": "le la les des et est que une dans pour qui pas sur du plus par au avec ce il",
            "es": "de la que el en los se del las por un con no una su para es al lo como más",
            "it": "di che la il un è per una in non sono con del si da le dei gli ha anche alla",
            "pt": "de que não do da em um uma os para com se na por mais dos como ao das foi à",
            "nl": "de het een van en dat is niet op te zijn met voor er aan ook die bij hij",
            "sv": "och att det som en på är av för med den till inte om ett har jag var de",
            "pl": "w i na z się do nie że jest to o po jak od przez za dla ale czy są",
            "tr": "ve bir bu da de için ile çok ne gibi daha olan olarak o var mi en kadar",
        },
        "Cyrillic": {
            "ru": "и в не на что с он как это по но из я то был его так она же от мы бы",
            "uk": "і в не на що з як це до та є він його але від про вони був у також за",
        },
        "Arabic": {
            "ar": "في من على أن إلى هذا عن لا ما هو التي الذي مع كان هذه و كل بعد قد",
            "fa": "و در به از که این را با است برای آن یک تا بر خود می شد او هم کرد",
        },
        "Devanagari": {"hi": "के में की है और से को का पर यह है कि ने एक हैं भी नहीं लिए"},
    }.items()
}
_SCRIPT_OF = {
    **{language: script for script, given in _FREQUENT.items() for language in given},
    **{language: script for script, language in _LANGUAGE_OF_SCRIPT.items()},
}


def language_of(texts: Iterable[str]) -> tuple[str, str]:
    """(script, language) of most letters, a key of `NAMES`; "" for what is not recognized."""
    scripts, letters, words = Counter[str](), 0, Counter[str]()
    for text in texts:
        for match in _PATTERN.finditer(text):
            scripts[match.lastgroup or ""] += match.end() - match.start()
        words.update(regex.findall(r"[\p{L}\p{M}]+", text.casefold()))
        letters += len(text)
        if letters > MAX_LETTERS:
            break
    if not scripts:
        return "", ""
    if scripts[KANA] and scripts[KANA] >= MIN_KANA_SHARE * (scripts[KANA] + scripts[HAN]):
        scripts[KANA] += scripts.pop(HAN, 0)
    script = scripts.most_common(1)[0][0]
    return script, _LANGUAGE_OF_SCRIPT.get(script) or _by_words(words, _FREQUENT.get(script, {}))


def _by_words(words: Counter[str], known: Mapping[str, frozenset[str]]) -> str:
    total = sum(words.values())
    shares = Counter(
        {name: sum(words[word] for word in frequent) / total for name, frequent in known.items()}
    )
    ranked = list(islice(shares.most_common(), 2))
    if not ranked or ranked[0][1] < MIN_SHARE:
        return ""
    if len(ranked) > 1 and ranked[0][1] < MIN_RATIO * ranked[1][1]:
        return ""
    return ranked[0][0]


def matches(languages: Collection[str], script: str, language: str) -> bool:
    """Whether a model for some languages may fit a text; true where nothing is known."""
    known = {text.casefold().partition("-")[0] for text in languages}
    if not known or known & MULTILINGUAL or not script:
        return True
    if language:
        return language in known
    scripts = {_SCRIPT_OF.get(text, script) for text in known}
    return script in scripts
