"""Every word of the index of words once, to be found by any three letters of it.

The index finds words and their beginnings. Who looks for `name` means `filename` too: which words
have it inside is asked here, and the index then finds those. All words of gigabytes are a few
megabytes, so this costs little, where an index of all letters of all messages would cost as much
as that of the words.
"""

from __future__ import annotations

import sqlite3

# letters that stand together and are kept; fewer are in every other word
LEAST = 3
# behind every word, so that its end is found by a single letter
END = "\x03\x03"
# what is longer is no word but data in letters
LONGEST = 200

# `lexicon_stale` has a row while words were taken in that the lexicon does not have
TABLES = """
CREATE VIRTUAL TABLE lexicon USING fts5(
    word, tokenize='trigram case_sensitive 1', detail=none, columnsize=0
);
CREATE TABLE lexicon_stale (since INTEGER NOT NULL);
"""
NAMES = ("lexicon", "lexicon_stale")

# words of some texts, parted as the index itself parts them
_FRESH = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.fresh USING fts5(
    said, content='', columnsize=0, detail=none, tokenize='unicode61 remove_diacritics 2'
)
"""


def take_in(database: sqlite3.Connection, texts: list[str]) -> None:
    """The new words of these texts, which the index itself does not have yet."""
    database.execute(_FRESH)
    database.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.fresh_words USING fts5vocab(temp, fresh, row)"
    )
    database.executemany("INSERT INTO temp.fresh (rowid, said) VALUES (?, ?)", enumerate(texts))
    database.execute(
        "INSERT INTO lexicon (word) SELECT term || ? FROM temp.fresh_words AS new"
        " WHERE length(term) <= ?"
        " AND NOT EXISTS (SELECT 1 FROM vocabulary WHERE term = new.term)",
        (END, LONGEST),
    )
    database.execute("INSERT INTO temp.fresh (fresh) VALUES ('delete-all')")


def put_off(database: sqlite3.Connection) -> None:
    """So much is taken in that all words are gathered at the end, which costs less."""
    database.execute("INSERT INTO lexicon_stale VALUES (unixepoch())")


def is_stale(database: sqlite3.Connection) -> bool:
    return database.execute("SELECT 1 FROM lexicon_stale LIMIT 1").fetchone() is not None


def make_anew(database: sqlite3.Connection) -> None:
    """Gather the words of the whole index."""
    database.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.all_words USING fts5vocab(main, words, row)"
    )
    database.execute("BEGIN IMMEDIATE")
    try:
        database.execute("DELETE FROM lexicon")
        database.execute(
            "INSERT INTO lexicon (word) SELECT term || ? FROM temp.all_words"
            " WHERE length(term) <= ?",
            (END, LONGEST),
        )
        database.execute("DELETE FROM lexicon_stale")
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def words_with(database: sqlite3.Connection, piece: str, most: int) -> list[str] | None:
    """Every word that has this inside; None where there are more than `most`, or it is short."""
    return _words(database, piece, most) if len(piece) >= LEAST else None


def words_ending(database: sqlite3.Connection, piece: str, most: int) -> list[str] | None:
    """Every word that ends so; None where there are more than `most`."""
    return _words(database, piece + END, most)


def _words(database: sqlite3.Connection, piece: str, most: int) -> list[str] | None:
    letters = {piece[at : at + LEAST] for at in range(len(piece) - LEAST + 1)}
    match = " AND ".join(f'"{each}"' for each in sorted(letters))
    found: list[str] = []
    for (word,) in database.execute("SELECT word FROM lexicon WHERE lexicon MATCH ?", (match,)):
        if piece in word:
            found.append(word.removesuffix(END))
            if len(found) > most:
                return None
    return found
