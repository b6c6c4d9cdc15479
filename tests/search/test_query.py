"""What is looked for, and what is shown of a find."""

from __future__ import annotations

import pytest

from claudekeeper.search.query import EmptyQueryError, QueryTerm, fold, parse
from claudekeeper.search.snippets import SNIPPET_LENGTH, find_matches, make_snippet, score


def terms(text: str) -> list[tuple[str, str]]:
    return [(term.kind, term.text) for term in parse(text).terms]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retry loop", [("word", "retry"), ("word", "loop")]),
        ('"retry loop" fails', [("literal", "retry loop"), ("word", "fails")]),
        ("src/auth_test.py", [("literal", "src/auth_test.py")]),
        ("parse_whole()", [("literal", "parse_whole")]),
        ("auth*", [("word", "auth")]),
        ('"not closed', [("literal", "not closed")]),
        ("again again", [("word", "again")]),
        ("why?", [("word", "why")]),
    ],
)
def test_words_phrases_names(text: str, expected: list[tuple[str, str]]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("What did we decide about authentication?", ["authentication"]),
        ("which database did we choose", ["database"]),
        ("decisions on the cache key", ["cache", "key"]),
        ("Why was the retry loop settled?", ["retry", "loop"]),
    ],
)
def test_questions_about_decisions(text: str, about: list[str]) -> None:
    query = parse(text)
    assert query.decisions_first
    assert [term.text for term in query.terms] == about


@pytest.mark.parametrize("text", ["decide", "what did we decide", "the chosen one", "how to parse"])
def test_other_words_are_no_such_question(text: str) -> None:
    assert not parse(text).decisions_first


@pytest.mark.parametrize("text", ["", "  ", '""', "!?", '"…"'])
def test_there_has_to_be_a_word(text: str) -> None:
    with pytest.raises(EmptyQueryError):
        parse(text)


def marked_snippet(text: str, *looked_for: QueryTerm) -> str:
    finds = find_matches(text, looked_for)
    assert finds is not None
    return "".join(f"[{p.text}]" if p.match else p.text for p in make_snippet(text, finds))


def test_what_matches_is_marked_as_it_is_written() -> None:
    assert (
        marked_snippet("The Heron, the HERON", QueryTerm("word", "heron"))
        == "The [Heron], the [HERON]"
    )
    assert marked_snippet("año nuevo", QueryTerm("word", "ano")) == "[año] nuevo"
    assert marked_snippet("an\u0303o nuevo", QueryTerm("word", "año")) == "[an\u0303o] nuevo"
    assert marked_snippet("grey\n\theron", QueryTerm("literal", "grey heron")) == "[grey heron]"


def test_a_word_is_found_inside_of_others_too() -> None:
    assert marked_snippet("a superheron", QueryTerm("word", "heron")) == "a super[heron]"
    assert marked_snippet("super_herons", QueryTerm("word", "heron")) == "super_[heron]s"


def test_short_words_and_those_that_every_message_has_are_meant_whole() -> None:
    assert find_matches("sauna", [QueryTerm("word", "au")]) is None
    assert find_matches("bathe", [QueryTerm("word", "the")]) is None
    assert marked_snippet("and the au pair", QueryTerm("word", "the"), QueryTerm("word", "au"))


def test_quotes_are_taken_at_their_word() -> None:
    assert find_matches("src auth test", [QueryTerm("literal", "src/auth")]) is None
    assert find_matches("grey and heron", [QueryTerm("literal", "grey heron")]) is None


def test_of_a_long_text_the_piece_with_most_terms_is_shown() -> None:
    text = "heron " + "x " * 400 + "a pond with a heron " + "y " * 400
    piece = marked_snippet(text, QueryTerm("word", "heron"), QueryTerm("word", "pond"))
    assert "[pond] with a [heron]" in piece
    assert piece.startswith("…")
    assert piece.endswith("…")
    assert len(piece) < SNIPPET_LENGTH + 160


def test_folding_keeps_every_letter_in_its_place() -> None:
    assert fold("GRÖSSE İ ß Ⅷ") == ("grosse i ß ⅷ", None)
    assert fold("데이터 Ё й") == ("데이터 е и", None)


def test_where_a_word_begins_it_counts_for_more() -> None:
    for better, worse in (
        ("a test of it", "the latest of it"),
        ("refreshTestCache", "refreshtestcache"),
        ("an HTTPTest", "an HTTPTESTS"),
        ("foo_test", "footest"),
    ):
        looked_for = [QueryTerm("word", "test")]
        scores = [
            score(text, find_matches(text, looked_for) or [], "reply", decides=False)
            for text in (better, worse)
        ]
        assert scores[0] > scores[1], better
