"""What a text is about: its words, weighed, and found again although inflected or mistyped."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from claudekeeper.routing.stop_words import (
    ABBREVIATIONS,
    COMMON_WORDS,
    FILLER_WORDS,
    SPLIT_COMPOUNDS,
    WIDESPREAD_WORDS,
    words_of,
)

# how much a word tells: the name of a file, any word, a word of every conversation about code (or
# a number)
NAME_WEIGHT, WORD_WEIGHT, COMMON_WEIGHT = 1.6, 1.0, 0.25
# how sure it is the same word: as it is, with another ending, with a slip of the finger
SAME_MATCH, INFLECTED_MATCH, MISTYPED_MATCH = 1.0, 0.8, 0.7
# letters that words of one root share
ROOT_LETTERS = 6
# a slip in a word of so few letters makes another word of it
SHORT_WORD_LETTERS = 4
# a pair of signs that is found is likely a word, one that is not may be the seam of two
PAIR_WEIGHT = 0.75
# what is left of a word that much work has in common, when it is found
WIDESPREAD_FACTOR = 0.4
# “the parser” is one that was spoken of, “a parser” is another one
DEFINITE_FACTOR, INDEFINITE_FACTOR = 1.3, 0.6
# so many words after an article belong to it, unless an empty word comes between
ARTICLE_REACH = 2
# long texts: their beginning says what they are about
MOST_TERMS = 600
MOST_CHARACTERS = 8_000

_PIECE = re.compile(r"[^\s,;:!?()\[\]{}<>\"“”„«»`、。，！？；：（）「」]+")
# from the first letter to the last; written so that a long row of signs takes no time
_WORD_CORE = re.compile(r"[\w@](?:.*\w)?")
_NAME_LIKE = re.compile(r"[\w)]\.[A-Za-z]\w{0,7}$|\w/\w|\w_\w|[a-z][A-Z]|@\w")
_NAME_PARTS = re.compile(r"[A-Z]?[a-zà-öø-ÿ]+|[A-Z]+(?![a-z])|\d+")
_IDEOGRAPHS = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]+")
_IDEOGRAPH_PAIR = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]{2}$")
_KANA = re.compile(r"[\u3040-\u309f]+")
_HANGUL = re.compile(r"[\uac00-\ud7af]+")
# “draw the …”: what is done to something. With “it”, what is done is all that is told
_VERB = re.compile(
    r"(?:please |bitte |can you |could you |let['’]?s |now |kannst du )*([^\W\d_]+)"
    r"(?: up| out| down| back)? (?:the|an?|all|any|every|each|our|my|some|new|more|der|die|das|den"
    r"|eine?[nmrs]?|alle|unsere?[nrs]?|meine?[nrs]?|le|la|les|l['’]"
    r"|une?|des|notre|nos|mon|tous|toutes|el|los|las|una?|unos|nuestr[oa]s?|mi|todos|todas|il|lo|gli"
    r"|os?|as?|uma?|het|een)\b",
    re.IGNORECASE,
)
# signs and words of Chinese that mean little wherever they stand
_EMPTY_WORDS = re.compile(
    "时候|怎么样?|怎样|什么|多少|如何|为什么|哪些|一下|可以|需要|帮我|[的了吗呢吧会是在和也就把给请我你它这那个一份加写]"
)


_DEFINITE_ARTICLES = words_of(
    """
    the this that these those its their your der die das den dem des diese dieser dieses diesen
    le la les l' cette ces ce du au aux el los las del al este esta ese esa il lo gli dei della
    os dos das het deze dit
    """
)
_INDEFINITE_ARTICLES = words_of(
    """
    a an another new more some any every ein eine einen einem einer neue neuen neues weitere
    un une des nouveau nouvelle una uno unos otro otra nuevo nueva um uma novo nova een nieuwe
    """
)


class WeightedTerm(msgspec.Struct, frozen=True):
    word: str
    # how much it says that it is missing elsewhere
    weight: float
    # how much its article says that it was spoken of before
    article_factor: float = 1.0
    # a part of a name: where that is missing, it says nothing more
    is_name_part: bool = False

    @property
    def rare(self) -> bool:
        if self.weight == WORD_WEIGHT:
            return not (
                self.word in WIDESPREAD_WORDS or self.word.removesuffix("s") in WIDESPREAD_WORDS
            )
        return self.weight > WORD_WEIGHT

    @property
    def match_weight(self) -> float:
        """How much it says that it is found elsewhere."""
        if _IDEOGRAPH_PAIR.match(self.word):
            return PAIR_WEIGHT
        much = self.weight * (
            WIDESPREAD_FACTOR if self.weight == WORD_WEIGHT and not self.rare else 1.0
        )
        return much * self.article_factor


def terms_of(text: str) -> list[WeightedTerm]:
    """The words that tell something, in order, each once."""
    terms: dict[str, WeightedTerm] = {}
    article, reach = 1.0, 0
    together = SPLIT_COMPOUNDS.sub(lambda found: found[0].replace(" ", ""), text[:MOST_CHARACTERS])
    for piece in _PIECE.findall(together):
        if (core := _WORD_CORE.search(piece)) is not None:
            found = list(_terms_in(core[0]))
            for term in found:
                marked = msgspec.structs.replace(term, article_factor=article) if reach else term
                terms.setdefault(term.word, marked)
            reach = reach - 1 if found and reach else 0
            if (said := _article_factor(core[0].lower())) is not None:
                article, reach = said, ARTICLE_REACH
        if len(terms) >= MOST_TERMS:
            break
    return list(terms.values())


def _article_factor(word: str) -> float | None:
    if word in _DEFINITE_ARTICLES:
        return DEFINITE_FACTOR
    return INDEFINITE_FACTOR if word in _INDEFINITE_ARTICLES else None


def _terms_in(piece: str) -> Iterable[WeightedTerm]:
    if _IDEOGRAPHS.search(piece) or _KANA.search(piece) or _HANGUL.search(piece):
        return _ideograph_terms(piece)
    if _NAME_LIKE.search(piece):
        return _name_terms(piece)
    words = re.split(r"[\W_]+", piece.lower().replace("’", "'").split("'s")[0])
    return [_weighted(word) for word in words if _is_meaningful(word)]


def _name_terms(piece: str) -> list[WeightedTerm]:
    """A path or an identifier: its last part is a name, what it is made of are words."""
    last = piece.rsplit("/", 1)[-1].lstrip("@")
    stem = last.rsplit(".", 1)[0] if "." in last else last
    words = [word.lower() for word in _NAME_PARTS.findall(piece.rsplit(".", 1)[0])]
    terms = [WeightedTerm(stem.lower(), NAME_WEIGHT)]
    parts = [_weighted(word) for word in words if _is_meaningful(word) and word != stem.lower()]
    return terms + [msgspec.structs.replace(each, is_name_part=True) for each in parts]


def _ideograph_terms(piece: str) -> list[WeightedTerm]:
    """Text without spaces: pairs of signs stand for words; kana and endings are left out."""
    terms = []
    piece = _EMPTY_WORDS.sub(" ", piece)
    for run in _IDEOGRAPHS.findall(piece):
        terms += [
            WeightedTerm(run[at : at + 2], WORD_WEIGHT / 2) for at in range(max(1, len(run) - 1))
        ]
    # Korean has spaces, and hangs its endings on the words
    terms += [WeightedTerm(run[:2], WORD_WEIGHT) for run in _HANGUL.findall(piece) if len(run) > 1]
    rest = _HANGUL.sub(" ", _KANA.sub(" ", _IDEOGRAPHS.sub(" ", piece)))
    for word in re.split(r"[\W_]+", rest):
        if _is_meaningful(word.lower()):
            terms.append(_weighted(word.lower()))
    return terms


def _is_meaningful(word: str) -> bool:
    return len(word) > 1 and word not in FILLER_WORDS


def _weighted(word: str) -> WeightedTerm:
    common = word in COMMON_WORDS or word.removesuffix("s") in COMMON_WORDS or word.isdigit()
    return WeightedTerm(word, COMMON_WEIGHT if common else WORD_WEIGHT)


def sought_terms(command: str) -> list[SoughtTerm]:
    """The words of a command, to be looked for in what was said before."""
    verb = _VERB.match(command.strip())
    return [
        SoughtTerm.of(term, asked=verb is not None and term.word == verb[1].lower())
        for term in terms_of(command)
    ]


class SoughtTerm(msgspec.Struct, frozen=True):
    """A word in all the shapes in which it is looked for."""

    word: str
    # the same in full
    expanded: str
    missing_weight: float
    match_weight: float
    rare: bool
    common: bool
    root: str
    typo_keys: frozenset[str]

    @classmethod
    def of(cls, term: WeightedTerm, *, asked: bool = False) -> SoughtTerm:
        """`asked`: it says what is to be done, as commands about anything do."""
        common = asked or term.weight <= COMMON_WEIGHT
        return cls(
            term.word,
            ABBREVIATIONS.get(term.word, term.word),
            missing_weight=0.0 if term.is_name_part else term.weight,
            match_weight=min(term.match_weight, COMMON_WEIGHT) if asked else term.match_weight,
            rare=term.rare and not asked,
            common=common,
            root=_root(term.word),
            typo_keys=frozenset(_typo_keys(term.word)),
        )

    def overlaps(self, found: WordPairs) -> bool:
        """Of two pairs that share a sign, the one that is a word makes the other mean little."""
        if not _IDEOGRAPH_PAIR.match(self.word):
            return False
        return self.word[0] in found.second or self.word[1] in found.first


class WordPairs(msgspec.Struct, frozen=True):
    """The signs of pairs that were found, to see which others overlap them."""

    first: frozenset[str]
    second: frozenset[str]

    @classmethod
    def of(cls, found: Iterable[SoughtTerm]) -> WordPairs:
        pairs = [each.word for each in found if _IDEOGRAPH_PAIR.match(each.word)]
        return cls(frozenset(pair[0] for pair in pairs), frozenset(pair[1] for pair in pairs))


class Vocabulary(msgspec.Struct, frozen=True):
    """The words of a text, to look others up in."""

    words: frozenset[str]
    roots: frozenset[str]
    # each word with one letter left out: two words that are a slip apart share one of them
    typo_keys: frozenset[str]

    @classmethod
    def of(cls, terms: Iterable[WeightedTerm]) -> Vocabulary:
        said = {term.word for term in terms}
        words = said | {ABBREVIATIONS[word] for word in said & ABBREVIATIONS.keys()}
        return cls(
            words=frozenset(words),
            roots=frozenset(_root(word) for word in words),
            # a short word is no slip of a longer one: “oauth” is not meant for “auth”
            typo_keys=frozenset(
                slip
                for word in words
                if len(word) > SHORT_WORD_LETTERS
                for slip in _typo_keys(word)
            ),
        )

    def match_strength(self, wanted: SoughtTerm) -> float:
        """How sure it is that this word is among them."""
        if wanted.word in self.words or wanted.expanded in self.words:
            return SAME_MATCH
        if wanted.root in self.roots:
            return INFLECTED_MATCH
        return 0.0 if wanted.typo_keys.isdisjoint(self.typo_keys) else MISTYPED_MATCH


def _root(word: str) -> str:
    if len(word) > ROOT_LETTERS:
        return word[:ROOT_LETTERS]
    if word.endswith("s") and len(word) > 3:
        return word[:-1]
    return word


def _typo_keys(word: str) -> list[str]:
    if len(word) < SHORT_WORD_LETTERS or not word.isalpha():
        return []
    if len(word) == SHORT_WORD_LETTERS:
        return [word]
    return [word, *(word[:at] + word[at + 1 :] for at in range(len(word)))]
