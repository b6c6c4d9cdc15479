"""Every word of the index of words once, to be found by any three letters of it.

The index finds words and their beginnings. Who looks for `name` means `filename` too: which words
have it inside is asked here, and the index then finds those. All words of gigabytes are a few
megabytes, so this costs little, where an index of all letters of all messages would cost as much
as that of the words.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata

# letters that stand together and are kept; fewer are in every other word
SHORTEST_PIECE = 3
# behind every word, so that its end is found by a single letter
WORD_END = "\x03\x03"
# what is longer is no word but data in letters
LONGEST_WORD = 200

# a syllable is two or three letters
_SYLLABLES = re.compile("[\uac00-\ud7a3]+")

# `kept`: the word, where its letters are others. `lexicon_stale` has a row while words were taken
# in that the lexicon does not have
TABLES = """
CREATE VIRTUAL TABLE lexicon USING fts5(
    word, kept UNINDEXED, tokenize='trigram case_sensitive 1', detail=none, columnsize=0
);
CREATE TABLE lexicon_stale (since INTEGER NOT NULL);
"""
TABLE_NAMES = ("lexicon", "lexicon_stale")

# words of some texts, parted as the index itself parts them
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
    """The word in letters, also where several of them are written as one syllable."""
    if word.isascii():
        return word
    return _SYLLABLES.sub(lambda match: unicodedata.normalize("NFD", match[0]), word)


def add_words(database: sqlite3.Connection, texts: list[str]) -> None:
    """The new words of these texts, which the index itself does not have yet."""
    database.create_function("letters_of", 1, letters_of, deterministic=True)
    database.execute(_CREATE_NEW_TEXTS)
    database.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.fresh_words USING fts5vocab(temp, fresh, row)"
    )
    database.executemany("INSERT INTO temp.fresh (rowid, said) VALUES (?, ?)", enumerate(texts))
    database.execute(_INSERT_NEW_WORDS, (WORD_END, LONGEST_WORD))
    database.execute("INSERT INTO temp.fresh (fresh) VALUES ('delete-all')")


def mark_stale(database: sqlite3.Connection) -> None:
    """So much is taken in that all words are gathered at the end, which costs less."""
    database.execute("INSERT INTO lexicon_stale VALUES (unixepoch())")


def is_stale(database: sqlite3.Connection) -> bool:
    return database.execute("SELECT 1 FROM lexicon_stale LIMIT 1").fetchone() is not None


def rebuild(database: sqlite3.Connection) -> None:
    """Gather the words of the whole index."""
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


def words_containing(database: sqlite3.Connection, piece: str, most: int) -> list[str] | None:
    """Every word that has this inside; None where there are more than `most`, or it is short."""
    return _find_words(database, piece, most) if len(letters_of(piece)) >= SHORTEST_PIECE else None


def scan_words_containing(
    database: sqlite3.Connection, piece: str, max_words: int
) -> list[str] | None:
    """The same for what is short, which takes a look at every word."""
    rows = database.execute(
        "SELECT coalesce(kept, word) FROM lexicon WHERE instr(coalesce(kept, word), ?) LIMIT ?",
        (piece, max_words + 1),
    )
    words = [word.removesuffix(WORD_END) for (word,) in rows]
    return words if len(words) <= max_words else None


def words_with_suffix(database: sqlite3.Connection, piece: str, most: int) -> list[str] | None:
    """Every word that ends so; None where there are more than `most`."""
    return _find_words(database, piece, most, WORD_END)


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
