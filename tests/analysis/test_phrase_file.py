"""Phrase files: what they may say, and what is told of one that cannot be read."""

from __future__ import annotations

from pathlib import Path
from re import Pattern

import msgspec
import pytest

from claudekeeper.analysis.phrase_file import PhraseFileError, read_phrases


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    greetings: Pattern[str]
    stop_words: frozenset[str] = frozenset()
    limit: int = 0


GREETINGS = "[patterns]\ngreetings = ['hello', 'good day']\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "phrases.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_list_holds_alternatives_that_ignore_case(tmp_path: Path) -> None:
    phrases = read_phrases(written(tmp_path, GREETINGS), Phrases)
    assert phrases.greetings.pattern == "hello|good day"
    assert phrases.greetings.fullmatch("Good Day")


def test_an_exact_pattern_does_not_ignore_case(tmp_path: Path) -> None:
    phrases = read_phrases(written(tmp_path, f"[exact_{GREETINGS[1:]}"), Phrases)
    assert phrases.greetings.fullmatch("hello")
    assert not phrases.greetings.fullmatch("Hello")


def test_parts_are_made_of_the_parts_above_them(tmp_path: Path) -> None:
    parts = "[parts]\ntime = ['day', 'evening']\ngood = 'good (?:{time}){1,2}'\n"
    pattern = "[patterns]\ngreetings = '^(?:{good})$'\n"
    phrases = read_phrases(written(tmp_path, parts + pattern), Phrases)
    assert phrases.greetings.pattern == "^(?:good (?:day|evening){1,2})$"


@pytest.mark.parametrize("text", ["\n  hello\n  |hi there", "  hello\n  |hi there"])
def test_line_breaks_and_indentation_mean_nothing(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, f"[patterns]\ngreetings = '''{text}'''\n")
    assert read_phrases(path, Phrases).greetings.pattern == "hello|hi there"


def test_words_are_one_set_over_all_languages(tmp_path: Path) -> None:
    words = "[words.stop_words]\nenglish = '''\na the\nof'''\ngerman = 'der of'\n"
    phrases = read_phrases(written(tmp_path, GREETINGS + words), Phrases)
    assert phrases.stop_words == {"a", "the", "of", "der"}


def test_values_are_taken_as_they_are(tmp_path: Path) -> None:
    phrases = read_phrases(written(tmp_path, f"{GREETINGS}[values]\nlimit = 3\n"), Phrases)
    assert phrases.limit == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[patterns", "Expected ']'"),
        ("[patterns]\n", "missing required field `greetings`"),
        (f"{GREETINGS}farewells = 'bye'\n", "unknown field `farewells`"),
        (f"{GREETINGS}[other]\n", "unknown field `other`"),
        (f"{GREETINGS}[values]\nlimit = 'many'\n", "Expected `int`, got `str`"),
        ("[patterns]\ngreetings = '{good}'\n", "there is no part 'good'"),
        ("[patterns]\ngreetings = '(hello'\n", "missing )"),
    ],
)
def test_an_error_names_the_file_and_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(PhraseFileError) as caught:
        read_phrases(path, Phrases)
    assert str(caught.value).startswith(f"{path}: ")
    assert reason in str(caught.value)


def test_an_error_names_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PhraseFileError, match="No such file"):
        read_phrases(tmp_path / "none.toml", Phrases)
