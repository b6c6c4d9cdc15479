"""Whether a reply ends with a question: as a person would read it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.analysis.question_detection import MAX_CHARACTERS, find_question


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Done.\n\nWant me to apply the first one?", "Want me to apply the first one?"),
        ("Which do you want? My recommendation is **A**.", "Which do you want?"),
        ("All in place. **Shall I commit it?** 🚀", "Shall I commit it?"),
        ("It depends.\n\n¿Quieres que siga?", "¿Quieres que siga?"),
        ("続けますか？", "続けますか？"),
        # a question keeps its other half, and none that was answered or that nobody asked
        ("Which region? And who pays?", "Which region? And who pays?"),
        ("Delete it? It costs a lot. Or keep it?", "Delete it? Or keep it?"),
        ("Why? It had expired. Should I refresh it?", "Should I refresh it?"),
        ("You might ask: is it slow? Should I measure it?", "Should I measure it?"),
        ("Is it slow? No. Should I speed it up?", "Should I speed it up?"),
        (
            "Could you run it? Then paste what it says.",
            "Could you run it? Then paste what it says.",
        ),
        ("Any questions? Shall I begin?", "Shall I begin?"),
        (
            "Would you like me to:\n1. Mark it as complete\n2. Something else",
            "Would you like me to:\n1. Mark it as complete\n2. Something else",
        ),
        ("Two things:\n\n- Which port?\n- Which host?", "- Which port?\n- Which host?"),
        (
            "Should I use Postgres or SQLite?\n\nOnce I know, I will go on.",
            "Should I use Postgres or SQLite?",
        ),
        (
            "I found three.\n\nLet me know which one you prefer.",
            "Let me know which one you prefer.",
        ),
        ("Please confirm that I may delete it.", "Please confirm that I may delete it."),
        (
            "How much do the bays rely on that text vs. the holder being visible?",
            "How much do the bays rely on that text vs. the holder being visible?",
        ),
        ("Shall I use `a ? b : c`, or not?", "Shall I use `a ? b : c`, or not?"),
        (
            "Nothing blocks it. Your call whether to mend the two first or merge now.",
            "Your call whether to mend the two first or merge now.",
        ),
        (
            "How shall we go on?\n\n**1. Keep going** – "
            + "long " * 40
            + "\n\n**2. Stop** – at once.",
            "How shall we go on?\n1. Keep going – " + "long " * 39 + "long\n2. Stop – at once.",
        ),
        ("Soll ich das tun?\n\nSag einfach Bescheid.", "Soll ich das tun?"),
        ("提交了。要我继续吗？ 我建议先测试。", "要我继续吗？"),
        (
            "Review it and let me know if anything is wrong before I start.",
            "Review it and let me know if anything is wrong before I start.",
        ),
        ("Please run it and share what it says.", "Please run it and share what it says."),
        ("Waiting on your call regarding the race.", "Waiting on your call regarding the race."),
        ("Please share the log of the failed run.", "Please share the log of the failed run."),
        (
            "Is it:\n- The matching?\n- Something else?\n\nTell me what you want instead.",
            "- The matching?\n- Something else?\nTell me what you want instead.",
        ),
        (
            "## Open decisions\n\n1. Stay on it, or move? It is cheaper.\n2. The font.\n\nYes.",
            "1. Stay on it, or move? It is cheaper.",
        ),
        ("May I rename `legacy_id`, or not?", "May I rename `legacy_id`, or not?"),
        # meant, though more is said: what becomes of the answer, and in other languages
        ("Is it a copy? If not, I need a dump.", "Is it a copy?"),
        ("Posso começar? É a menor das tarefas.", "Posso começar?"),
        ("どちらにしますか。\n\n1. 今\n2. 後で", "どちらにしますか。\n1. 今\n2. 後で"),
        # broken for its width
        (
            (
                "These changes are not committed. Want me to run both of them again, or\n"
                "leave it to you?"
            ),
            "Want me to run both of them again, or leave it to you?",
        ),
        # wanted without a question mark
        ("I'll hold off until you confirm.", "I'll hold off until you confirm."),
        ("Confirm and I'll send them.", "Confirm and I'll send them."),
        (
            "Restart it and tell me whether it works. I'll wait for your word.",
            "Restart it and tell me whether it works. I'll wait for your word.",
        ),
        (
            "I need two things from you:\n\n1. the name\n2. the region",
            "I need two things from you:\n1. the name\n2. the region",
        ),
        (
            (
                "1. Which of them? It matters.\n2. The name.\n3. When? Soon is fine.\n\n"
                "Answer those, then I can plan."
            ),
            "1. Which of them? It matters.\n3. When? Soon is fine.\nAnswer those, then I can plan.",
        ),
        (
            "Let me know if the names are acceptable, or if you want others.",
            "Let me know if the names are acceptable, or if you want others.",
        ),
        (
            "Shall I use it?\n\nSources:\n"
            + "\n".join(f"- [Page {n}](https://example.org/{'long/' * 20})" for n in range(4)),
            "Shall I use it?",
        ),
    ],
)
def test_a_question_at_the_end_is_one(text: str, question: str) -> None:
    assert find_question(text) == question


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Done.",
        "Why did it fail? The cache was stale. I have cleared it, and the tests pass.",
        "## What changed?\n\nOnly the name.",
        "The query is `SELECT ?`",
        "See https://example.org/?q=1",
        "```\nreally?\n```",
        "It is fixed now.\n\n> do you want this?",
        "Pushed. Is there anything else I can help you with?",
        "Hello! How can I help you today?",
        "Let me know if you have any questions.",
        "Hello! What would you like to work on today?",
        "**Q: Does it scale?**\nYes.\n\n**Q: Is it fast?**\nYes.",
        "Why does it fail on your machine? Because it ignores case. Mended.",
        "You asked “can it be done without a lock?” Yes, it can.",
        'The button reads "Ready to go now?" in both places.',
        "You might ask: is it not slow? It is quick.",
        "If you want it as a PDF, just say the word and I'll make one.",
        "Users pick one of the themes, and the server replies with it.",
        "Let me know if the tone should be warmer.",
        "Ya está. ¿Algo más?",
        "It is up to you whether to mend that here.\n\nVerdict: ship it.",
        "The questions:\n\n- **Does it work?** Yes.\n- **Is it quick?** It is.",
        "Should it be one? I asked myself so.\n\n" + "So this is how it went. " * 30,
    ],
)
def test_other_endings_are_none(text: str) -> None:
    assert find_question(text) is None


@given(st.text(alphabet="ab?.:\n -#*`>1", max_size=400))
def test_any_text_is_read(text: str) -> None:
    question = find_question(text)
    assert question is None or 0 < len(question) <= MAX_CHARACTERS
