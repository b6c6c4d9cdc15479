"""What the list says about a session, folded line by line."""

from __future__ import annotations

import pytest

from claudekeeper.analysis.prices import cost_of
from claudekeeper.analysis.reply_usage import identity
from claudekeeper.analysis.summary import Summary, SummaryFold
from claudekeeper.transcripts.entries import EntryUsage, parse_line, usage_of
from tests.support.transcript_writer import TranscriptWriter


def folded(transcript: TranscriptWriter) -> Summary:
    fold = SummaryFold()
    for line in transcript.lines:
        for entry in parse_line(line)[0]:
            fold.add(entry)
    return fold.finish(0, b"")[0]


def test_titles_come_in_claude_codes_order() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("first words")
    leaf = transcript.reply()
    assert folded(transcript).title == "first words"
    # what was asked later says how it went on, not what it is
    transcript.prompt("commit")
    transcript.raw_entry(type="last-prompt", lastPrompt="commit")
    assert folded(transcript).title == "first words"
    assert folded(transcript).last_prompt == "commit"
    transcript.raw_entry(type="summary", summary="By summary", leafUuid=leaf)
    assert folded(transcript).title == "By summary"
    transcript.raw_entry(type="ai-title", aiTitle="By Claude")
    assert folded(transcript).title == "By Claude"
    transcript.raw_entry(type="custom-title", customTitle="By hand")
    transcript.prompt("more")
    transcript.raw_entry(type="ai-title", aiTitle="By Claude again")
    assert folded(transcript).title == "By hand"
    transcript.raw_entry(type="agent-name", agentName="As an agent")
    transcript.raw_entry(type="custom-title", customTitle="By hand again")
    assert folded(transcript).title == "As an agent"


def test_a_summary_of_another_session_titles_nothing() -> None:
    transcript = TranscriptWriter()
    transcript.raw_entry(type="summary", summary="Somebody else's", leafUuid="elsewhere")
    transcript.prompt("mine")
    assert folded(transcript).title == "mine"


def test_a_summary_at_the_head_can_title_a_leaf_further_down() -> None:
    transcript = TranscriptWriter()
    leaf = "00000000-0000-4000-8000-00000000aaaa"
    transcript.raw_entry(type="summary", summary="Mine", leafUuid=leaf)
    transcript.prompt("words", uuid=leaf)
    assert folded(transcript).title == "Mine"


def test_the_first_directory_names_the_session_and_the_last_branch_counts() -> None:
    transcript = TranscriptWriter(workdir="/code/one")
    transcript.prompt("a")
    transcript.workdir = "/code/two"
    transcript.raw_entry(
        parentUuid=None, type="user", uuid="x", gitBranch="feature", cwd="/code/two"
    )
    summary = folded(transcript)
    assert summary.workdir == "/code/one"
    assert summary.git_branch == "feature"


def test_messages_are_counted_once_and_hidden_lines_not_at_all() -> None:
    transcript = TranscriptWriter()
    first = transcript.prompt("one")
    transcript.prompt("one, again", uuid=first, parent=None)
    transcript.reply()
    transcript.prompt("meta", isMeta=True)
    transcript.prompt("side", isSidechain=True)
    transcript.entry("system", subtype="turn_duration")
    assert folded(transcript).messages == 2


def test_a_reply_of_several_lines_is_paid_once_by_its_last_line() -> None:
    transcript = TranscriptWriter()
    early, late = (
        {"input_tokens": 10, "output_tokens": 1},
        {"input_tokens": 10, "output_tokens": 90},
    )
    transcript.reply(message_id="m1", usage=early)
    transcript.reply(message_id="m1", usage=late)
    transcript.reply(message_id="m2", usage=late)
    tokens = folded(transcript).tokens
    assert tokens is not None
    assert (tokens.input, tokens.output) == (20, 180)


def test_a_replayed_reply_is_not_paid_again() -> None:
    transcript = TranscriptWriter()
    for number in range(40):
        transcript.reply(message_id=f"m{number}")
    once = folded(transcript)
    for number in range(40):
        transcript.reply(message_id=f"m{number}")
    again = folded(transcript)
    assert again.tokens == once.tokens
    assert again.computed_cost == pytest.approx(once.computed_cost)


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("claude-opus-4-5-20251101", 0.045),
        ("claude-sonnet-4-5-20250929", 0.027),
        ("claude-haiku-4-5-20251001", 0.009),
        ("claude-3-5-haiku-20241022", 0.0072),
        ("claude-opus-5-5", 0.030),
        ("claude-sonnet-5", 0.018),
        ("claude-fable-5", 0.09),
        ("claude-opus-4-20250514", 0.135),
        ("a-model-of-tomorrow", 0.0),
    ],
)
def test_prices_are_those_that_claude_code_reckons_with(model: str, dollars: float) -> None:
    usage = EntryUsage(1000, 500, 30_000, 2000)
    assert cost_of(model, usage) == pytest.approx(dollars)


def test_a_strange_speed_costs_no_counts() -> None:
    usage = usage_of(b'{"input_tokens": 3, "speed": {"of": "light"}}')
    assert usage is not None
    assert usage.input_tokens == 3


def test_what_answers_faster_costs_more() -> None:
    standard = EntryUsage(1000, 500, 30_000, 2000)
    fast = EntryUsage(1000, 500, 30_000, 2000, speed="fast")
    for model, times in (("claude-opus-4-8", 2), ("claude-opus-4-6", 6), ("claude-haiku-4-5", 1)):
        assert cost_of(model, fast) == pytest.approx(times * cost_of(model, standard))


def test_what_claude_code_reported_counts_if_it_is_more() -> None:
    transcript = TranscriptWriter()
    transcript.reply()
    transcript.raw_entry(type="cost-state", totalCostUSD=7.5)
    assert folded(transcript).cost == 7.5


def test_local_commands_are_prompts_only_where_nothing_else_was_said() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("<command-name>/clear</command-name>")
    assert folded(transcript).title == "/clear"
    transcript.prompt("real words")
    summary = folded(transcript)
    assert (summary.first_prompt, summary.last_prompt) == ("real words", "real words")


def test_folding_in_pieces_gives_the_same_summary() -> None:
    transcript = TranscriptWriter()
    leaf = transcript.prompt("one")
    transcript.reply(message_id="m1", usage={"output_tokens": 1})
    transcript.raw_entry(type="summary", summary="S", leafUuid=leaf)
    transcript.reply(message_id="m1", usage={"output_tokens": 50})
    transcript.prompt("one", uuid=leaf, parent=None)
    transcript.reply(message_id="m2")
    complete = folded(transcript)
    for cut in range(len(transcript.lines)):
        fold = SummaryFold()
        for line in transcript.lines[:cut]:
            fold.add(parse_line(line)[0][0])
        fold = SummaryFold(*fold.finish(cut, b""))
        for line in transcript.lines[cut:]:
            fold.add(parse_line(line)[0][0])
        assert fold.finish(0, b"")[0] == complete


def test_any_string_has_an_identity_of_64_bits() -> None:
    for name in ("", "-" * 36, "+1234567" + "8" * 28, "\ud83d", "ff" * 18, "x"):
        assert 0 <= identity(name) < 2**64
