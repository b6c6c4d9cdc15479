"""Phrase files: word sets and patterns kept as TOML beside the code that uses them.

`[words]` are sets of words, grouped by language. `[patterns]` are regular expressions that ignore
case, `[exact_patterns]` do not. A list holds alternatives; in a text of several lines breaks and
indentation mean nothing. `[parts]` are pieces of patterns: `{name}` stands for one. `[values]`
are taken as they are.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

Phrases = TypeVar("Phrases")
Alternatives = str | list[str]

# a quantifier such as {0,80} has no letters
_PART_NAME = re.compile(r"\{([a-z][a-z_]*)\}")
_INDENTATION = re.compile(r"\A {2,}|\n *")


class PhraseFileError(Exception):
    """A phrase file that cannot be read; the message says which one, and why."""


class _PhraseFile(msgspec.Struct, forbid_unknown_fields=True):
    words: dict[str, dict[str, str]] = {}
    parts: dict[str, Alternatives] = {}
    patterns: dict[str, Alternatives] = {}
    exact_patterns: dict[str, Alternatives] = {}
    values: dict[str, Any] = {}


def read_phrases(path: Path, shape: type[Phrases]) -> Phrases:
    """The entries of a file, as the fields of a struct. Blocks."""
    try:
        file = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _PhraseFile)
        entries = dict(file.values)
        for name, words in file.words.items():
            entries[name] = frozenset(" ".join(words.values()).split())
        parts: dict[str, str] = {}
        for name, alternatives in file.parts.items():
            # made of those above it
            parts[name] = _expand(alternatives, parts)
        for name, alternatives in file.patterns.items():
            entries[name] = re.compile(_expand(alternatives, parts), re.IGNORECASE)
        for name, alternatives in file.exact_patterns.items():
            entries[name] = re.compile(_expand(alternatives, parts))
        return msgspec.convert(entries, shape)
    except KeyError as error:
        raise PhraseFileError(f"{path}: there is no part {error}") from error
    except (OSError, ValueError, re.error, msgspec.ValidationError) as error:
        raise PhraseFileError(f"{path}: {error}") from error


def _expand(alternatives: Alternatives, parts: dict[str, str]) -> str:
    listed = [alternatives] if isinstance(alternatives, str) else alternatives
    text = "|".join(_INDENTATION.sub("", each) for each in listed)
    return _PART_NAME.sub(lambda match: parts[match[1]], text)
