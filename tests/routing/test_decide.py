"""Which conversation: the plain rule by its worked examples, and what the improved scorer adds."""

from __future__ import annotations

import pytest

from claudekeeper.contract.routing import RoutingSettings, Scorer
from claudekeeper.routing.candidate import Candidate, parse_words
from claudekeeper.routing.decide import decide
from claudekeeper.routing.stop_words import find_opening_signal, find_signal, keywords

PLAIN = RoutingSettings(scorer="plain")
BOTH = pytest.mark.parametrize("scorer", ["plain", "improved"])


def recent(name: str, *prompts: str, minutes: float = 0.1, replied: str = "") -> Candidate:
    return Candidate(
        session_id=name, title=name, seconds_ago=minutes * 60, words=parse_words(prompts, replied)
    )


@BOTH
def test_a_word_that_carries_on_seconds_later_resumes_with_085(scorer: Scorer) -> None:
    auth = recent("auth", "fix the auth bug")
    routing = decide("also add a test for that", [auth], RoutingSettings(scorer=scorer))
    assert (routing.action, routing.session_id) == ("resume", "auth")
    assert routing.confidence == 0.85
    assert "also" in routing.reason


def test_a_strong_match_two_minutes_later_resumes_by_046() -> None:
    login = recent("login", "fix login validation errors", minutes=2)
    # two of five words in common
    routing = decide("login validation messages", [login], PLAIN)
    assert (routing.action, routing.confidence) == ("resume", 0.46)
    assert "login" in routing.reason


@BOTH
def test_another_topic_five_minutes_later_is_new_with_026(scorer: Scorer) -> None:
    candidates = [recent("holiday", "translate the holiday greetings", minutes=5)]
    routing = decide("refactor the database", candidates, RoutingSettings(scorer=scorer))
    assert (routing.action, routing.session_id) == ("new", None)
    assert routing.candidates[0].score == pytest.approx(0.26, abs=0.005)
    assert routing.confidence == pytest.approx(0.74, abs=0.005)


@BOTH
def test_nothing_recent_is_new_for_sure(scorer: Scorer) -> None:
    routing = decide("also add a test for that", [], RoutingSettings(scorer=scorer))
    assert (routing.action, routing.confidence, routing.candidates) == ("new", 1.0, [])


@BOTH
@pytest.mark.parametrize("text", ["", "  ", "ok", "y?", "…", "はい"[:1]])
def test_very_short_text_is_new(scorer: Scorer, text: str) -> None:
    routing = decide(text, [recent("auth", "fix the auth bug")], RoutingSettings(scorer=scorer))
    assert (routing.action, routing.confidence) == ("new", 1.0)


def test_switched_off_everything_is_new() -> None:
    off = RoutingSettings(enabled=False)
    assert decide("also that", [recent("auth", "fix the auth bug")], off).action == "new"


@pytest.mark.parametrize(
    ("minutes", "recency"), [(0, 1.0), (3, 1.0), (13, 0.5), (23, 0.25), (5, 0.8706)]
)
def test_recency_halves_every_ten_minutes_after_the_third(minutes: float, recency: float) -> None:
    (fit,) = decide("refactor the database", [recent("a", "x", minutes=minutes)], PLAIN).candidates
    assert fit.recency == recency


def test_the_words_of_all_commands_count_in_the_plain_rule() -> None:
    (fit,) = decide("beta delta", [recent("a", "alpha beta", "gamma")], PLAIN).candidates
    assert fit.overlap == 0.25


def test_a_signal_after_the_third_minute_lifts_nothing() -> None:
    (fit,) = decide("also something", [recent("a", "alpha beta", minutes=13)], PLAIN).candidates
    assert fit.score == pytest.approx(0.45)


def test_keywords_are_lower_case_without_punctuation_short_and_stop_words() -> None:
    assert keywords("The Auth-bug, (in) `login.py`: is it an API?!") == {
        "auth-bug",
        "login.py",
        "api",
    }


@pytest.mark.parametrize(
    "text",
    [
        "also x", "x and then y", "and also", "continue", "keep going", "a follow up",
        "going back to x", "while you're at it", "while you’re at it", "in that file",
        "in that same file", "same thing", "one more thing", "Actually, no", "wait", "oh and",
    ],
)  # fmt: skip
def test_every_signal_of_the_rule_is_heard(text: str) -> None:
    assert find_signal(text)


CARRIES_ON = [
    "follow up add a test", "Follow-up: add a test", "followup, add a test", "FOLLOW UP: a test",
    "follow\u2011up add a test", "follow \u2013 up", "following up: add a test",
    "and  then rename the billing columns", "And then, add a test", "and\nthen the billing columns",
    "\u2026and then add a test", "and\u00a0then add a test", "and, also: add a test",
    "also\u2014add a test", "\u201calso\u201d add a test", "- also rename the billing columns",
    "keep  going", "Keep going!", "keep-going", "keep\tgoing with the tests", "continue\u2026",
    "going back to refactor the database migrations", "Going  back to the billing migrations",
    "while youre at it, rename the billing columns", "While you\u2019re  at it: the columns",
    "while you are at it, rename the billing columns", "in that  same file rename the columns",
    "Same thing, but for the billing service", "One more thing \u2014 rename the billing columns",
    "actually, use the billing database columns", "Wait - use the billing columns instead",
    "oh, and rename the billing database columns",
]  # fmt: skip
SAID_BEFORE = [
    "",
    "ok, ",
    "hey ",
    "please ",
    "Hey Claude, ",
    "thanks! ",
    "ok then, ",
    "well \u2014 ",
]


@BOTH
@pytest.mark.parametrize("before", SAID_BEFORE)
@pytest.mark.parametrize("text", CARRIES_ON)
def test_however_it_is_written_a_signal_that_opens_lifts(
    scorer: Scorer, before: str, text: str
) -> None:
    auth = recent("auth", "fix the auth bug", minutes=0.05)
    routing = decide(before + text, [auth], RoutingSettings(scorer=scorer))
    assert (routing.action, routing.session_id) == ("resume", "auth")
    assert routing.confidence >= 0.85


@pytest.mark.parametrize(
    "text", ["follow upstream changes", "a waiter app", "write a follow-up mail", "fix it, wait"]
)
def test_what_does_not_open_with_a_signal_is_not_lifted_by_it(text: str) -> None:
    assert find_opening_signal(text) is None


def test_also_and_really_are_no_topic() -> None:
    assert keywords("Also really test the exporter") == {"test", "exporter"}


@pytest.mark.parametrize("text", ["awaiting", "waiter", "discontinued", "factually"])
def test_parts_of_words_are_no_signals(text: str) -> None:
    assert find_signal(text) is None


@BOTH
def test_of_two_lifted_ones_the_one_with_more_in_common_wins(scorer: Scorer) -> None:
    candidates = [
        recent("auth", "fix the auth bug", minutes=0.2),
        recent("csv", "csv exporter", minutes=2),
    ]
    settings = RoutingSettings(scorer=scorer)
    assert decide("also test the csv exporter", candidates, settings).session_id == "csv"
    assert decide("also test that", candidates, settings).session_id == "auth"


def resumes(command: str, *candidates: Candidate) -> str | None:
    return decide(command, candidates).session_id


def test_a_plan_is_implemented_where_it_was_made() -> None:
    plan = recent(
        "plan", "plan the migration to postgres", replied="Plan: 1. dual writes", minutes=2
    )
    assert resumes("now implement it", plan) == "plan"


def test_what_it_means_may_have_been_named_in_the_same_breath() -> None:
    auth = recent("auth", "fix the auth bug")
    assert resumes("does it work with proxies?", auth) == "auth"
    assert resumes("write a parser for gpx tracks and test it", auth) is None


def test_files_that_claude_named_bring_a_command_back_later() -> None:
    auth = recent(
        "auth", "fix the login", minutes=14, replied="The fault was in `auth/session.py`."
    )
    assert resumes("session.py still imports pytz", auth) == "auth"
    assert resumes("scheduler.py still imports pytz", auth) is None


@BOTH
def test_a_word_that_carries_on_is_understood_thirteen_minutes_later(scorer: Scorer) -> None:
    settings = RoutingSettings(scorer=scorer)
    auth = [recent("auth", "fix the auth bug", minutes=12.9)]
    assert decide("also add a test for that", auth, settings).session_id == "auth"
    assert (
        decide("also add a test for that", [recent("auth", "x", minutes=20)], settings).action
        == "new"
    )


def test_saying_so_ends_a_conversation() -> None:
    auth = recent("auth", "fix the auth bug")
    assert resumes("actually, new thing: document the auth bug bounty", auth) is None
    assert resumes("neues Thema: was ist mit dem auth Server?", auth) is None


def test_an_answer_belongs_to_the_question() -> None:
    pods = recent(
        "pods", "pods are killed", minutes=2, replied="It needs 512Mi. Shall I change it?"
    )
    other = recent("docs", "write a readme", minutes=6, replied="Done.")
    assert resumes("yes, raise it", pods, other) == "pods"
    assert resumes("only at night", pods, other) == "pods"


@pytest.mark.parametrize(
    "command",
    [
        "fix the broken images on the landing page",
        "what does the retry decorator do?",
        "thanks! please update the wiki page about onboarding",
        "there's an error in the payroll script",
        "our docker images take too long",
        "write a service that resizes pods of seals",
        "on a different note, summarise the open pull requests",
        "결제 모듈의 메모리 누수를 찾아줘",
    ],
)
def test_another_topic_right_after_a_reply_is_new_even_if_that_asked(command: str) -> None:
    asking = recent("pods", "pods are killed", replied="It needs 512Mi. Shall I change it?")
    assert resumes(command, asking) is None


UNSPECIFIC = ["try again", "show me the diff", "open a pull request", "what about tests?"]


@pytest.mark.parametrize("command", UNSPECIFIC)
def test_what_says_little_by_itself_is_about_what_was_there_before(command: str) -> None:
    assert resumes(command, recent("csv", "write a csv exporter", replied="Done.")) == "csv"


@pytest.mark.parametrize("command", [*UNSPECIFIC, "600"])
def test_what_says_little_by_itself_goes_to_an_open_question(command: str) -> None:
    asking = recent("pods", "pods are killed", replied="It needs 512Mi. How much shall I give it?")
    assert resumes(f"{command} please", asking) == "pods"


def test_a_pronoun_does_not_mean_what_stands_in_its_own_clause() -> None:
    game = recent("game", "write a snake game")
    assert resumes("can two people play it?", game) == "game"
    assert resumes("profile the image resizing, it feels slow", game) is None


@pytest.mark.parametrize("command", ["redis streams", "eu-west, 40 GB", "on the old cluster, at 6"])
def test_a_few_words_answer_an_open_question_even_if_they_are_new(command: str) -> None:
    asking = recent("queue", "set up a queue", replied="Which kind, and where? I'd take RabbitMQ.")
    assert resumes(command, asking) == "queue"
    answered = recent("queue", "set up a queue", replied="RabbitMQ runs.")
    assert resumes(command, answered) is None


@pytest.mark.parametrize(
    "command", ["sketch an icon for the mobile app", "somebody broke the printer, restart it"]
)
def test_what_is_done_to_something_is_no_answer(command: str) -> None:
    asking = recent("queue", "set up a queue", replied="Which kind, and where?")
    assert resumes(command, asking) is None


def test_that_is_no_pointer_where_it_joins_clauses() -> None:
    game = recent("game", "write a snake game")
    assert resumes("do that for two players", game) == "game"
    assert resumes("hide products that sold out", game) is None
    assert resumes("hello there", game) is None


def test_who_says_how_a_thing_should_be_speaks_of_it() -> None:
    letter = recent("letter", "draft a letter to the landlord", minutes=6, replied="Done.")
    assert resumes("the letter should mention mould and broken heating", letter) == "letter"
    assert resumes("visitors should find opening hours quickly", letter) is None


def test_output_that_is_pasted_belongs_where_its_names_were_spoken_of() -> None:
    parser = recent("parser", "make the gpx parser faster", minutes=2, replied="It streams now.")
    trace = (
        'Traceback (most recent call last): File "/srv/tracks/{}.py", line 48, in read_points '
        "for point in segment: AttributeError: 'NoneType' object has no attribute 'latitude'"
    )
    assert resumes(trace.format("gpx_parser"), parser) == "parser"
    assert resumes(trace.format("mailing"), parser) is None


def test_a_word_that_much_work_has_in_common_is_not_enough() -> None:
    orders = recent("orders", "page through the customers table", minutes=1, replied="Done.")
    assert resumes("invite ten customers to interviews", orders) is None
    # neither is what is done, when it is done to something else
    drawing = recent("drawing", "draw the sign-up flow", minutes=1, replied="Done.")
    assert resumes("draw the floor plan", drawing) is None
    assert resumes("draw it upside down", drawing) == "drawing"


def test_two_words_that_tell_bring_a_command_back_late() -> None:
    gpx = recent("gpx", "write a parser for gpx tracks", minutes=22, replied="Done.")
    assert resumes("the gpx parser ignores waypoints and routes", gpx) == "gpx"
    assert resumes("the xml reader ignores waypoints and routes", gpx) is None


def test_two_words_of_much_work_are_not_enough_where_a_special_one_is_new() -> None:
    cost = recent("cost", "estimate the cost of storage for a year", minutes=1, replied="80 euros.")
    assert resumes("how much does insurance cost per year", cost) is None
    assert resumes("what would the storage cost for two years", cost) == "cost"


def test_the_thing_was_spoken_of_and_a_thing_is_another_one() -> None:
    spec = recent("spec", "write a specification of the ledger", minutes=5)
    definite, indefinite = (
        decide(f"mention audits in {article} specification", [spec]).candidates[0].score
        for article in ("the", "a")
    )
    assert definite > indefinite
    assert resumes("mention audits in the specification", spec) == "spec"


def test_a_name_that_is_new_is_one_new_word() -> None:
    option = recent("option", "rename the option", minutes=1, replied="What shall it be called?")
    assert resumes("call it maxRetriesPerHost", option) == "option"


def test_something_else_may_be_another_answer() -> None:
    title = recent("title", "find a title for the talk", minutes=1, replied="“Slow is smooth”.")
    assert resumes("that sounds odd, suggest something else", title) == "title"
    assert resumes("now something else: the title of the blog is wrong", title) is None


def test_slips_of_the_finger_and_inflections_are_understood() -> None:
    csv = recent("csv", "write a csv exporter for invoices", minutes=2)
    assert resumes("the exporetr ignores drafts of invoicing", csv) == "csv"


def test_what_is_said_short_or_written_apart_is_the_same() -> None:
    move = recent("move", "move the kubernetes manifests to a repository of their own", minutes=6)
    assert resumes("which k8s manifests are missing in the repo?", move) == "move"
    bar = recent("bar", "make the sidebar collapsible", minutes=2)
    assert resumes("the side bar flickers", bar) == "bar"
    assert "“side" in decide("the side bar flickers", [bar]).reason


def test_the_reason_names_what_is_shared() -> None:
    csv = recent("csv", "write a csv exporter", minutes=2)
    reason = decide("the csv exporter is slow", [csv]).reason
    assert "“csv”" in reason
    assert "2 minutes ago" in reason


@BOTH
@pytest.mark.parametrize(
    "text", ["words " + "=" * 900_000, "a" * 900_000, "it-" * 300_000, "и " * 90_000]
)
def test_however_long_and_strange_it_is_decided(scorer: Scorer, text: str) -> None:
    strange = recent("strange", text, replied=text)
    assert decide(text, [strange], RoutingSettings(scorer=scorer)).candidates


@pytest.mark.parametrize(
    "prompt",
    [
        "back to alembic - add a downgrade path", "Getting back to the alembic migrations, squash",
        "let’s return to alembic: drop the runner", "regarding alembic — pin its version",
        "as for the alembic runner, remove it", "Zurück zu alembic: die Version festlegen",
        "revenons à alembic, fixe la version", "volviendo a alembic: fija la versión",
        "насчёт alembic: закрепи версию", "pick up alembic again and pin it",
    ],
)  # fmt: skip
def test_who_goes_back_to_a_thing_by_its_name_means_where_it_was_spoken_of(prompt: str) -> None:
    auth = recent("auth", "fix the flaky login test", minutes=0.05, replied="It passes now.")
    move = recent("move", "move the migrations to alembic", minutes=18, replied="All three run.")
    assert resumes(prompt, auth, move) == "move"
    assert resumes(prompt.replace("alembic", "kafka").replace("migrations", "topics"), move) is None


@pytest.mark.parametrize(
    "prompt", ["Carry on.", "keep on going", "additionally add type hints", "продолжай", "ga door"]
)
def test_other_words_that_carry_on_are_understood(prompt: str) -> None:
    assert resumes(prompt, recent("auth", "fix the flaky login test", minutes=0.05)) == "auth"
    assert resumes("carry on luggage needs a page", recent("auth", "fix the login test")) is None
