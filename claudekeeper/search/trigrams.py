"""The lexicon: every word of the index once, with an index of its trigrams.

The index of messages finds words and their beginnings. But `name` should find `filename` too: the
lexicon says which words contain it, and the index finds those. All words of gigabytes are a few
megabytes, so this costs little; a trigram index of all messages would cost as much as the index
of words.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata

# letters of a trigram; fewer are in every other word
SHORTEST_PIECE = 3
# after every word, so that a suffix can be searched
WORD_END = "\x03\x03"
# what is longer is no word but encoded data
LONGEST_WORD = 200

# a syllable is two or three letters
_SYLLABLES = re.compile("[\uac00-\ud7a3]+")

# `kept`: the word, where its letters differ from it. `lexicon_stale` has a row while the index has
# words that the lexicon does not have
TABLES = """
CREATE VIRTUAL TABLE lexicon USING fts5(
    word, kept UNINDEXED, tokenize='trigram case_sensitive 1', detail=none, columnsize=0
);
CREATE TABLE lexicon_stale (since INTEGER NOT NULL);
"""
TABLE_NAMES = ("lexicon", "lexicon_stale")

# words of some texts, with the tokenizer of the index
_CREATE_NEW_TEXTS = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.fresh USING fts5(
    said, content='', columnsize=0, detail=none, tokenize='unicode61 remove_diacritics 2'
)
"""


_INSERT_NEW_WORDS = """
INSERT INTO lexicon (word, kept)
SELECT letters_of(term) || ?, CASE WHEN letters_of(term) != term THEN term END
FROM temp.fresh_words AS new WHERE length(term) <= ?
AND NOT EXISTS (SELECT 1 FROM vocabulary WHERE term = new.term)
"""
_INSERT_ALL_WORDS = """
INSERT INTO lexicon (word, kept)
SELECT letters_of(term) || ?, CASE WHEN letters_of(term) != term THEN term END
FROM temp.all_words WHERE length(term) <= ?
"""


def letters_of(word: str) -> str:
    """The word in single letters, also where several of them are written as one syllable."""
    if word.isascii():
        return word
    return _SYLLABLES.sub(lambda match: unicodedata.normalize("NFD", match[0]), word)


def add_words(database: sqlite3.Connection, texts: list[str]) -> None:
    """Add the new words of these texts."""
    database.create_function("letters_of", 1, letters_of, deterministic=True)
    database.execute(_CREATE_NEW_TEXTS)
    database.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.fresh_words USING fts5vocab(temp, fresh, row)"
    )
    database.executemany("INSERT INTO temp.fresh (rowid, said) VALUES (?, ?)", enumerate(texts))
    database.execute(_INSERT_NEW_WORDS, (WORD_END, LONGEST_WORD))
    database.execute("INSERT INTO temp.fresh (fresh) VALUES ('delete-all')")


def mark_stale(database: sqlite3.Connection) -> None:
    """Much text comes: the lexicon is made anew at its end, which costs less."""
    database.execute("INSERT INTO lexicon_stale VALUES (unixepoch())")


def is_stale(database: sqlite3.Connection) -> bool:
    return database.execute("SELECT 1 FROM lexicon_stale LIMIT 1").fetchone() is not None


def rebuild(database: sqlite3.Connection) -> None:
    """Make the lexicon from all words of the index."""
    database.create_function("letters_of", 1, letters_of, deterministic=True)
    database.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.all_words USING fts5vocab(main, words, row)"
    )
    database.execute("BEGIN IMMEDIATE")
    try:
        database.execute("DELETE FROM lexicon")
        database.execute(_INSERT_ALL_WORDS, (WORD_END, LONGEST_WORD))
        database.execute("DELETE FROM lexicon_stale")
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def words_containing(database: sqlite3.Connection, piece: str, max_words: int) -> list[str] | None:
    """Every word that contains a piece; None where it is short, or where there are too many."""
    return (
        _find_words(database, piece, max_words)
        if len(letters_of(piece)) >= SHORTEST_PIECE
        else None
    )


def scan_words_containing(
    database: sqlite3.Connection, piece: str, max_words: int
) -> list[str] | None:
    """The same for a short piece, by scanning every word."""
    rows = database.execute(
        "SELECT coalesce(kept, word) FROM lexicon WHERE instr(coalesce(kept, word), ?) LIMIT ?",
        (piece, max_words + 1),
    )
    words = [word.removesuffix(WORD_END) for (word,) in rows]
    return words if len(words) <= max_words else None


def words_with_suffix(database: sqlite3.Connection, piece: str, max_words: int) -> list[str] | None:
    """Every word that ends so; None where there are more than `max_words`."""
    return _find_words(database, piece, max_words, WORD_END)


def _find_words(
    database: sqlite3.Connection, piece: str, max_words: int, end: str = ""
) -> list[str] | None:
    letters = letters_of(piece) + end
    threes = {letters[at : at + SHORTEST_PIECE] for at in range(len(letters) - SHORTEST_PIECE + 1)}
    match = " AND ".join(f'"{each}"' for each in sorted(threes))
    words: list[str] = []
    rows = database.execute("SELECT word, kept FROM lexicon WHERE lexicon MATCH ?", (match,))
    for word, original in rows:
        whole = original or word.removesuffix(WORD_END)
        if whole.endswith(piece) if end else piece in whole:
            words.append(whole)
            if len(words) > max_words:
                return None
    return words
