"""What a text is about: its words with weights, matched although inflected or mistyped."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from claudekeeper.routing.stop_words import routing_words

# how much a word tells: the name of a file, any word, a word of every conversation about code (or
# a number)
NAME_WEIGHT, WORD_WEIGHT, COMMON_WEIGHT = 1.6, 1.0, 0.25
# how sure it is the same word: as it is, with another ending, mistyped
SAME_MATCH, INFLECTED_MATCH, MISTYPED_MATCH = 1.0, 0.8, 0.7
# letters that words of one root share
ROOT_LETTERS = 6
# a typing error in a word of so few letters makes another word of it
SHORT_WORD_LETTERS = 4
# a pair of signs that matches is likely a word; one that does not may be the end of one word and
# the beginning of the next
PAIR_WEIGHT = 0.75
# for a match of a word that much work has in common
WIDESPREAD_FACTOR = 0.4
# “the parser” is one that was spoken of, “a parser” is another one
DEFINITE_FACTOR, INDEFINITE_FACTOR = 1.3, 0.6
# so many words after an article belong to it, unless an empty word comes between
ARTICLE_REACH = 2
# long texts: their beginning says what they are about
MAX_TERMS = 600
MAX_CHARACTERS = 8_000

_PIECE = re.compile(r"[^\s,;:!?()\[\]{}<>\"“”„«»`、。，！？；：（）「」]+")
# from the first letter to the last; written so that a long row of signs takes no time
_WORD_CORE = re.compile(r"[\w@](?:.*\w)?")
_NAME_LIKE = re.compile(r"[\w)]\.[A-Za-z]\w{0,7}$|\w/\w|\w_\w|[a-z][A-Z]|@\w")
_NAME_PARTS = re.compile(r"[A-Z]?[a-zà-öø-ÿ]+|[A-Z]+(?![a-z])|\d+")
_IDEOGRAPHS = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]+")
_IDEOGRAPH_PAIR = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]{2}$")
_KANA = re.compile(r"[\u3040-\u309f]+")
_HANGUL = re.compile(r"[\uac00-\ud7af]+")


class WeightedTerm(msgspec.Struct, frozen=True):
    """A word of a text, with how much it tells."""

    word: str
    # how much it counts where it is missing
    weight: float
    # by its article: how likely it was spoken of before
    article_factor: float = 1.0
    # a part of a name: the name counts where it is missing, its parts do not
    is_name_part: bool = False

    @property
    def rare(self) -> bool:
        if self.weight == WORD_WEIGHT:
            return not _has_word(routing_words().widespread_words, self.word)
        return self.weight > WORD_WEIGHT

    @property
    def match_weight(self) -> float:
        """How much it counts where it occurs."""
        if _IDEOGRAPH_PAIR.match(self.word):
            return PAIR_WEIGHT
        is_widespread = self.weight == WORD_WEIGHT and not self.rare
        return self.weight * (WIDESPREAD_FACTOR if is_widespread else 1.0) * self.article_factor


def terms_of(text: str) -> list[WeightedTerm]:
    """The words that tell something, in order, each once."""
    terms: dict[str, WeightedTerm] = {}
    article, reach = 1.0, 0
    joined = routing_words().split_compounds.sub(
        lambda match: match[0].replace(" ", ""), text[:MAX_CHARACTERS]
    )
    for piece in _PIECE.findall(joined):
        if (core := _WORD_CORE.search(piece)) is not None:
            piece_terms = _terms_in(core[0])
            for term in piece_terms:
                weighted = msgspec.structs.replace(term, article_factor=article) if reach else term
                terms.setdefault(term.word, weighted)
            reach = reach - 1 if piece_terms and reach else 0
            if (factor := _article_factor(core[0].lower())) is not None:
                article, reach = factor, ARTICLE_REACH
        if len(terms) >= MAX_TERMS:
            break
    return list(terms.values())


def _article_factor(word: str) -> float | None:
    if word in routing_words().definite_articles:
        return DEFINITE_FACTOR
    return INDEFINITE_FACTOR if word in routing_words().indefinite_articles else None


def _terms_in(piece: str) -> list[WeightedTerm]:
    if _IDEOGRAPHS.search(piece) or _KANA.search(piece) or _HANGUL.search(piece):
        return _ideograph_terms(piece)
    if _NAME_LIKE.search(piece):
        return _name_terms(piece)
    words = re.split(r"[\W_]+", piece.lower().replace("’", "'").split("'s")[0])
    return [_weighted(word) for word in words if _is_meaningful(word)]


def _name_terms(piece: str) -> list[WeightedTerm]:
    """The terms of a path or an identifier: its last part as a name, and the words in it."""
    last = piece.rsplit("/", 1)[-1].lstrip("@")
    stem = last.rsplit(".", 1)[0] if "." in last else last
    words = [word.lower() for word in _NAME_PARTS.findall(piece.rsplit(".", 1)[0])]
    terms = [WeightedTerm(stem.lower(), NAME_WEIGHT)]
    parts = [_weighted(word) for word in words if _is_meaningful(word) and word != stem.lower()]
    return terms + [msgspec.structs.replace(each, is_name_part=True) for each in parts]


def _ideograph_terms(piece: str) -> list[WeightedTerm]:
    """The terms of text without spaces: pairs of signs; kana and endings are left out."""
    terms = []
    piece = routing_words().empty_chinese.sub(" ", piece)
    for run in _IDEOGRAPHS.findall(piece):
        terms += [
            WeightedTerm(run[start : start + 2], WORD_WEIGHT / 2)
            for start in range(max(1, len(run) - 1))
        ]
    # Korean has spaces, and hangs its endings on the words
    terms += [WeightedTerm(run[:2], WORD_WEIGHT) for run in _HANGUL.findall(piece) if len(run) > 1]
    rest = _HANGUL.sub(" ", _KANA.sub(" ", _IDEOGRAPHS.sub(" ", piece)))
    for word in re.split(r"[\W_]+", rest):
        if _is_meaningful(word.lower()):
            terms.append(_weighted(word.lower()))
    return terms


def _is_meaningful(word: str) -> bool:
    words = routing_words()
    return len(word) > 1 and word not in words.stop_words and word not in words.filler_words


def _weighted(word: str) -> WeightedTerm:
    is_common = _has_word(routing_words().common_words, word) or word.isdigit()
    return WeightedTerm(word, COMMON_WEIGHT if is_common else WORD_WEIGHT)


def _has_word(words: frozenset[str], word: str) -> bool:
    """Whether a set has a word, or its singular."""
    return word in words or word.removesuffix("s") in words


def sought_terms(command: str) -> list[SoughtTerm]:
    """The words of a command, to be looked for in what was said before."""
    match = routing_words().verb.match(command.strip())
    verb = match[1].lower() if match else None
    return [SoughtTerm.of(term, is_verb=term.word == verb) for term in terms_of(command)]


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
    def of(cls, term: WeightedTerm, *, is_verb: bool = False) -> SoughtTerm:
        """`is_verb`: it says what is to be done, as commands about anything do."""
        return cls(
            term.word,
            routing_words().abbreviations.get(term.word, term.word),
            missing_weight=0.0 if term.is_name_part else term.weight,
            match_weight=min(term.match_weight, COMMON_WEIGHT) if is_verb else term.match_weight,
            rare=term.rare and not is_verb,
            common=is_verb or term.weight <= COMMON_WEIGHT,
            root=_root(term.word),
            typo_keys=frozenset(_typo_keys(term.word)),
        )

    def overlaps(self, pairs: WordPairs) -> bool:
        """Of two pairs that share a sign, the one that is a word makes the other mean little."""
        if not _IDEOGRAPH_PAIR.match(self.word):
            return False
        return self.word[0] in pairs.second or self.word[1] in pairs.first


class WordPairs(msgspec.Struct, frozen=True):
    """The signs of the pairs that match, to see which others overlap them."""

    first: frozenset[str]
    second: frozenset[str]

    @classmethod
    def of(cls, terms: Iterable[SoughtTerm]) -> WordPairs:
        pairs = [term.word for term in terms if _IDEOGRAPH_PAIR.match(term.word)]
        return cls(frozenset(pair[0] for pair in pairs), frozenset(pair[1] for pair in pairs))


class Vocabulary(msgspec.Struct, frozen=True):
    """The words of a text, to look others up in."""

    words: frozenset[str]
    roots: frozenset[str]
    # each word with one letter left out: two words that differ by a typing error share one of them
    typo_keys: frozenset[str]

    @classmethod
    def of(cls, terms: Iterable[WeightedTerm]) -> Vocabulary:
        words = {term.word for term in terms}
        abbreviations = routing_words().abbreviations
        words |= {abbreviations[word] for word in words & abbreviations.keys()}
        return cls(
            words=frozenset(words),
            roots=frozenset(_root(word) for word in words),
            # a short word is no error in a longer one: “oauth” is not meant for “auth”
            typo_keys=frozenset(
                key for word in words if len(word) > SHORT_WORD_LETTERS for key in _typo_keys(word)
            ),
        )

    def match_strength(self, term: SoughtTerm) -> float:
        """How sure it is that this word is among them."""
        if term.word in self.words or term.expanded in self.words:
            return SAME_MATCH
        if term.root in self.roots:
            return INFLECTED_MATCH
        return 0.0 if term.typo_keys.isdisjoint(self.typo_keys) else MISTYPED_MATCH


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
    return [word, *(word[:index] + word[index + 1 :] for index in range(len(word)))]
