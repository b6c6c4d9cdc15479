"""Words run together to one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.analysis.prose import prose, strip_markdown

ENOUGH = 400


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Pushed with:\n\n```sh\ngit push\n```\n\n- to main\n- to next",
            "Pushed with: to main; to next",
        ),
        ("Two ways\n1. one\n2. two\n\nThen more.", "Two ways: 1. one; 2. two. Then more."),
        ("# Done\n**All** of `x_y` is *set*.", "Done: All of x_y is set."),
        (
            "See [a](b(c).md), ![a plan](x.png) and <https://x.test/y>.",
            "See a, a plan and https://x.test/y.",
        ),
        ("before\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\nafter", "before. after"),
        ("a | b\n--|--\n1 | 2\nafter", "after"),
        ("The union a | b stays", "The union a | b stays"),
        ("<b>bold</b><br>and <details><summary>More</summary>x</details>", "bold and More x"),
        (
            "`Map<String>` and Vec<T>, git switch <branch>",
            "Map<String> and Vec<T>, git switch <branch>",
        ),
        (
            "<project>\n  <dependency>\n    <id>a</id>\n  </dependency>\n</project>\nmend it",
            "mend it",
        ),
        ("__init__ and snake_case and 2 * 3 * 4", "__init__ and snake_case and 2 * 3 * 4"),
        ("\x1b[31mred\x1b[0m \x1b]8;;http://x.test\x07link\x1b]8;;\x07", "red link"),
        ("★ Insight ─────────\nIt holds.\n──────────", "★ Insight It holds."),
        ("> quoted\n> on", "quoted on"),
        ("- [x] done\n- [ ] open", "done; open"),
        ("", ""),
    ],
)
def test_marks_go_and_words_stay(text: str, words: str) -> None:
    assert prose(text, ENOUGH) == words


@pytest.mark.parametrize(
    "output",
    [
        "$ npm test\nFAIL a.test.ts\n    at Object.<anonymous> (a.test.ts:3:4)",
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: no',
        "2026-11-19 10:00:01 INFO started\n2026-11-19 10:00:02 ERROR stopped",
        "error[E0308]: mismatched types\n  --> src/main.rs:3:4\n   |\n3  | let x = 1\n   | ^^^",
        "me@host:~/shop$ ls -l\ntotal 3\n-rw-r--r-- 1 me me 3 Jan 1 a.txt",
        "┌────┬───┐\n│ a  │ b │\n└────┴───┘",
        "❯ make\nmake: nothing\nmake: done\n❯ make test\nsrc/a.c:3:4: warning: x",
        "diff --git a/x b/x\nindex 1234567..89abcde\n--- a/x\n+++ b/x\n@@ -1 +1 @@",
        "npm ERR! code 1\nnpm ERR! path /x",
        '{\n  "name": "shop",\n  "private": true\n}',
    ],
)
def test_pasted_output_is_no_words_of_a_person(output: str) -> None:
    prompt = f"what is this?\n\n{output}\n\nplease mend it"
    line = prose(prompt, ENOUGH, with_placeholders=True)
    assert line == "what is this? [pasted output] please mend it"
    assert prose(output, ENOUGH, with_placeholders=True) == "[pasted output]"


@pytest.mark.parametrize(
    "prompt",
    [
        "TypeError: x is undefined, in the shop",
        "note: the till comes first",
        "ok go on with it\nand then the mails",
        "at noon we ship; at one we rest",
    ],
)
def test_one_line_that_looks_like_it_is_a_persons(prompt: str) -> None:
    assert "pasted" not in prose(prompt, ENOUGH, with_placeholders=True)


def test_a_list_stays_a_list_without_its_marks() -> None:
    question = "**Which** one?\n1. `a <b>`\n2. <b>two</b>, see [x](y)"
    assert strip_markdown(question) == "Which one?\n1. a <b>\n2. two, see x"


@given(st.text(alphabet=st.sampled_from("ab \n|-<>/`*_[]()#$:~0\x1b\x00"), max_size=300))
def test_whatever_is_written_becomes_one_line(text: str) -> None:
    for says in (False, True):
        words = prose(text, 80, with_placeholders=says)
        assert len(words) <= 80
        assert "\n" not in words
        assert "\x1b" not in words
    assert "\0" not in strip_markdown(text)
