"""What a text is about: its words, weighed, and found again although inflected or mistyped."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from claudekeeper.features.wording import APART, COMMON, FILLERS, SHORT_FOR, WIDESPREAD, words_of

# how much a word tells: the name of a file, any word, a word of every conversation about code (or
# a number)
NAME, WORD, COMMON_WORD = 1.6, 1.0, 0.25
# how sure it is the same word: as it is, with another ending, with a slip of the finger
SAME, INFLECTED, MISTYPED = 1.0, 0.8, 0.7
# letters that words of one root share
ROOT = 6
# a slip in a word of so few letters makes another word of it
SHORT = 4
# a pair of signs that is found is likely a word, one that is not may be the seam of two
PAIR = 0.75
# what is left of a word that much work has in common, when it is found
WIDELY_SAID = 0.4
# “the parser” is one that was spoken of, “a parser” is another one
DEFINITE, INDEFINITE = 1.3, 0.6
# so many words after an article belong to it, unless an empty word comes between
PHRASE = 2
# long texts: their beginning says what they are about
MOST_TERMS = 600
MOST_CHARACTERS = 8_000

_PIECE = re.compile(r"[^\s,;:!?()\[\]{}<>\"“”„«»`、。，！？；：（）「」]+")
# from the first letter to the last; written so that a long row of signs takes no time
_CORE = re.compile(r"[\w@](?:.*\w)?")
_NAME = re.compile(r"[\w)]\.[A-Za-z]\w{0,7}$|\w/\w|\w_\w|[a-z][A-Z]|@\w")
_PARTS = re.compile(r"[A-Z]?[a-zà-öø-ÿ]+|[A-Z]+(?![a-z])|\d+")
_IDEOGRAPHS = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]+")
_PAIR = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]{2}$")
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
_EMPTY = re.compile(
    "时候|怎么样?|怎样|什么|多少|如何|为什么|哪些|一下|可以|需要|帮我|[的了吗呢吧会是在和也就把给请我你它这那个一份加写]"
)


_DEFINITE = words_of(
    """
    the this that these those its their your der die das den dem des diese dieser dieses diesen
    le la les l' cette ces ce du au aux el los las del al este esta ese esa il lo gli dei della
    os dos das het deze dit
    """
)
_INDEFINITE = words_of(
    """
    a an another new more some any every ein eine einen einem einer neue neuen neues weitere
    un une des nouveau nouvelle una uno unos otro otra nuevo nueva um uma novo nova een nieuwe
    """
)


class Term(msgspec.Struct, frozen=True):
    word: str
    # how much it says that it is missing elsewhere
    weight: float
    # how much its article says that it was spoken of before
    article: float = 1.0
    # a part of a name: where that is missing, it says nothing more
    part: bool = False

    @property
    def rare(self) -> bool:
        if self.weight == WORD:
            return not (self.word in WIDESPREAD or self.word.removesuffix("s") in WIDESPREAD)
        return self.weight > WORD

    @property
    def shared(self) -> float:
        """How much it says that it is found elsewhere."""
        if _PAIR.match(self.word):
            return PAIR
        much = self.weight * (WIDELY_SAID if self.weight == WORD and not self.rare else 1.0)
        return much * self.article


def terms_of(text: str) -> list[Term]:
    """The words that tell something, in order, each once."""
    terms: dict[str, Term] = {}
    article, reach = 1.0, 0
    together = APART.sub(lambda found: found[0].replace(" ", ""), text[:MOST_CHARACTERS])
    for piece in _PIECE.findall(together):
        if (core := _CORE.search(piece)) is not None:
            found = list(_terms_in(core[0]))
            for term in found:
                marked = msgspec.structs.replace(term, article=article) if reach else term
                terms.setdefault(term.word, marked)
            reach = reach - 1 if found and reach else 0
            if (said := _article(core[0].lower())) is not None:
                article, reach = said, PHRASE
        if len(terms) >= MOST_TERMS:
            break
    return list(terms.values())


def _article(word: str) -> float | None:
    if word in _DEFINITE:
        return DEFINITE
    return INDEFINITE if word in _INDEFINITE else None


def _terms_in(piece: str) -> Iterable[Term]:
    if _IDEOGRAPHS.search(piece) or _KANA.search(piece) or _HANGUL.search(piece):
        return _pairs(piece)
    if _NAME.search(piece):
        return _parts(piece)
    words = re.split(r"[\W_]+", piece.lower().replace("’", "'").split("'s")[0])
    return [_weighed(word) for word in words if _tells(word)]


def _parts(piece: str) -> list[Term]:
    """A path or an identifier: its last part is a name, what it is made of are words."""
    last = piece.rsplit("/", 1)[-1].lstrip("@")
    stem = last.rsplit(".", 1)[0] if "." in last else last
    words = [word.lower() for word in _PARTS.findall(piece.rsplit(".", 1)[0])]
    terms = [Term(stem.lower(), NAME)]
    parts = [_weighed(word) for word in words if _tells(word) and word != stem.lower()]
    return terms + [msgspec.structs.replace(each, part=True) for each in parts]


def _pairs(piece: str) -> list[Term]:
    """Text without spaces: pairs of signs stand for words; kana and endings are left out."""
    terms = []
    piece = _EMPTY.sub(" ", piece)
    for run in _IDEOGRAPHS.findall(piece):
        terms += [Term(run[at : at + 2], WORD / 2) for at in range(max(1, len(run) - 1))]
    # Korean has spaces, and hangs its endings on the words
    terms += [Term(run[:2], WORD) for run in _HANGUL.findall(piece) if len(run) > 1]
    rest = _HANGUL.sub(" ", _KANA.sub(" ", _IDEOGRAPHS.sub(" ", piece)))
    for word in re.split(r"[\W_]+", rest):
        if _tells(word.lower()):
            terms.append(_weighed(word.lower()))
    return terms


def _tells(word: str) -> bool:
    return len(word) > 1 and word not in FILLERS


def _weighed(word: str) -> Term:
    common = word in COMMON or word.removesuffix("s") in COMMON or word.isdigit()
    return Term(word, COMMON_WORD if common else WORD)


def wanted(command: str) -> list[Wanted]:
    """The words of a command, to be looked for in what was said before."""
    verb = _VERB.match(command.strip())
    return [
        Wanted.of(term, asked=verb is not None and term.word == verb[1].lower())
        for term in terms_of(command)
    ]


class Wanted(msgspec.Struct, frozen=True):
    """A word in all the shapes in which it is looked for."""

    word: str
    # the same in full
    whole: str
    missing: float
    shared: float
    rare: bool
    common: bool
    root: str
    slips: frozenset[str]

    @classmethod
    def of(cls, term: Term, *, asked: bool = False) -> Wanted:
        """`asked`: it says what is to be done, as commands about anything do."""
        common = asked or term.weight <= COMMON_WORD
        return cls(
            term.word,
            SHORT_FOR.get(term.word, term.word),
            missing=0.0 if term.part else term.weight,
            shared=min(term.shared, COMMON_WORD) if asked else term.shared,
            rare=term.rare and not asked,
            common=common,
            root=_root(term.word),
            slips=frozenset(_slips(term.word)),
        )

    def overlaps(self, found: Pairs) -> bool:
        """Of two pairs that share a sign, the one that is a word makes the other mean little."""
        if not _PAIR.match(self.word):
            return False
        return self.word[0] in found.second or self.word[1] in found.first


class Pairs(msgspec.Struct, frozen=True):
    """The signs of pairs that were found, to see which others overlap them."""

    first: frozenset[str]
    second: frozenset[str]

    @classmethod
    def of(cls, found: Iterable[Wanted]) -> Pairs:
        pairs = [each.word for each in found if _PAIR.match(each.word)]
        return cls(frozenset(pair[0] for pair in pairs), frozenset(pair[1] for pair in pairs))


class Vocabulary(msgspec.Struct, frozen=True):
    """The words of a text, to look others up in."""

    words: frozenset[str]
    roots: frozenset[str]
    # each word with one letter left out: two words that are a slip apart share one of them
    slips: frozenset[str]

    @classmethod
    def of(cls, terms: Iterable[Term]) -> Vocabulary:
        said = {term.word for term in terms}
        words = said | {SHORT_FOR[word] for word in said & SHORT_FOR.keys()}
        return cls(
            words=frozenset(words),
            roots=frozenset(_root(word) for word in words),
            # a short word is no slip of a longer one: “oauth” is not meant for “auth”
            slips=frozenset(slip for word in words if len(word) > SHORT for slip in _slips(word)),
        )

    def finds(self, wanted: Wanted) -> float:
        """How sure it is that this word is among them."""
        if wanted.word in self.words or wanted.whole in self.words:
            return SAME
        if wanted.root in self.roots:
            return INFLECTED
        return 0.0 if wanted.slips.isdisjoint(self.slips) else MISTYPED


def _root(word: str) -> str:
    if len(word) > ROOT:
        return word[:ROOT]
    if word.endswith("s") and len(word) > 3:
        return word[:-1]
    return word


def _slips(word: str) -> list[str]:
    if len(word) < SHORT or not word.isalpha():
        return []
    if len(word) == SHORT:
        return [word]
    return [word, *(word[:at] + word[at + 1 :] for at in range(len(word)))]
