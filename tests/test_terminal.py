"""The API from a terminal: over a port, TLS and a unix socket."""

from __future__ import annotations

import http.cookiejar
import json
import urllib.request
from collections.abc import Iterator

import pytest

from claudekeeper.demo.home import DemoHome
from claudekeeper.features.ceilings import question_about
from claudekeeper.features.conversation_book import Book, Kept
from claudekeeper.model.ceilings import Ceilings, Used
from claudekeeper.model.sessions import WorkItem
from claudekeeper.terminal import plain
from doorway.listening import trusting
from tests.doorway.test_listening import certificate
from tests.model.test_facts import use
from tests.process import Keeper
from tests.waiting import until
from tests.writing import SESSION, Transcript, uuid_of


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        transcript = Transcript()
        transcript.prompt("hello \x1b[31mred")
        transcript.write(home.config / "projects")
        yield home


def options(kind: str, home: DemoHome) -> list[str]:
    if kind == "tls":
        tls = certificate(home.root)
        home.keeper.mkdir(exist_ok=True)
        (home.keeper / "config.json").write_text(
            f'{{"token": "a-token-of-some-length", "tlsCert": "{tls.certificate}", '
            f'"tlsKey": "{tls.key}"}}'
        )
    if kind == "unix":
        return ["--socket", str(home.root / "k.sock"), "--ui-socket", str(home.root / "c.sock")]
    return []


@pytest.mark.parametrize("kind", ["port", "tls", "unix"])
def test_sessions_and_a_login_link_wherever_it_listens(home: DemoHome, kind: str) -> None:
    with Keeper(home, *options(kind, home)) as keeper:
        listed = keeper.command("sessions")
        assert listed.returncode == 0, listed.stderr
        assert SESSION in listed.stdout
        assert "\x1b" not in listed.stdout
        nowhere = keeper.command("search", "heron")
        assert (nowhere.returncode, nowhere.stdout) == (1, "")
        opened = keeper.command("open")
        assert opened.returncode == 0, opened.stderr
        assert "/#login=" in opened.stdout
        assert keeper.token not in opened.stdout
        # through the page too: its server reaches the keeper the same way
        nothing = keeper.command("resolve")
        assert (nothing.returncode, nothing.stdout) == (0, "")


def test_the_list_says_how_far_sessions_are(home: DemoHome) -> None:
    shop = home.project("shop")
    (shop / "coverage-checklist.yml").write_text("coverage: {access: [backups, auditing]}")
    covered, tasked = Transcript(uuid_of(1), str(shop)), Transcript(uuid_of(2), str(home.root))
    covered.prompt("Backups run nightly.")
    tasked.prompt("paint it")
    todos = [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]
    use(tasked, "TodoWrite", {"todos": todos})
    covered.write(home.config / "projects")
    tasked.write(home.config / "projects")
    with Keeper(home) as keeper:
        until_listed(keeper, "Backups run nightly. (checklist 50 %)", "paint it (1 of 2 tasks)")
        marking = urllib.request.Request(
            f"{keeper.url}/sessions/{uuid_of(2)}",
            method="PATCH",
            data=b'{"givenUp": true}',
            headers={**keeper.bearer, "Content-Type": "application/json"},
        )
        urllib.request.urlopen(marking).close()
        until_listed(keeper, "paint it (given up)")


def until_listed(keeper: Keeper, *lines: str) -> None:
    while not all(line in keeper.command("sessions").stdout for line in lines):
        pass


def test_another_device_is_let_in_by_a_code_or_under_a_configured_name(home: DemoHome) -> None:
    home.keeper.mkdir(exist_ok=True)
    (home.keeper / "config.json").write_text(json.dumps({"allowedHosts": ["box.test"]}))
    with Keeper(home) as keeper:
        opened = keeper.command("open")
        code = opened.stdout.strip().partition("/#login=")[2]
        assert f"enter {code} " in opened.stderr
        assert f"https://box.test/#login={code}" in opened.stderr


def test_usage_is_a_table(home: DemoHome) -> None:
    used = Transcript("5e551011-0000-4000-8000-0000000000aa")
    used.reply(usage={"input_tokens": 1234, "output_tokens": 5}, model="claude-opus-4-8")
    used.write(home.config / "projects")
    with Keeper(home, "--no-ui") as keeper:
        answer = keeper.command("usage", "--by", "model")
        assert answer.returncode == 0, answer.stderr
        assert "claude-opus-4-8" in answer.stdout
        assert answer.stdout.splitlines()[-1].split()[:2] == ["total", "1,234"]
        assert keeper.command("usage", "--after", "yesterday").returncode == 2


def test_a_refusal_is_said_in_the_keeper_s_words(home: DemoHome) -> None:
    with Keeper(home, "--no-ui") as keeper:
        refused = keeper.command("send", "hello", "--session", "not-an-id")
        assert refused.returncode == 2
        assert "sessionId" in refused.stderr
        unsaid = keeper.command("send", "hello", "--interrupt")
        assert unsaid.returncode == 2
        assert "Say which session to interrupt" in unsaid.stderr
        gone = keeper.command("resolve", "nothing", "allow")
        assert gone.returncode == 2
        assert "404" in gone.stderr


def test_a_command_finds_its_conversation(home: DemoHome) -> None:
    with Keeper(home, "--no-ui") as keeper:
        # the directory of that session is not on this machine: nothing comes of it but the way
        found = keeper.command("send", "also say hello", "--workdir", "/code/shop")
        assert found.returncode == 0, found.stderr
        assert found.stdout.startswith("Continuing: hello")
        assert SESSION in found.stdout
        gone = keeper.command("send", "also say hello", "--workdir", "/code/shop", "--new")
        assert gone.returncode == 2
        assert "/code/shop" in gone.stderr
        fresh = keeper.command("send", "also say hello", "--workdir", str(home.root))
        assert fresh.stdout.startswith("Started: also say hello")
        wanted = keeper.command("send", "also say hello", "--workdir", str(home.root), "--new")
        assert wanted.stdout.startswith("Started: also say hello")


def test_without_a_keeper_it_says_how_to_start_one(home: DemoHome) -> None:
    with Keeper(home, "--no-ui") as keeper:
        pass
    refused = keeper.command("sessions")
    assert refused.returncode == 2
    assert "claudekeeper serve" in refused.stderr


def test_nothing_speaks_to_the_terminal() -> None:
    assert plain("a\x1b]8;;x\x07b\nc\x9b") == "a ]8;;x b c "
    assert plain("rm x \u202egpj.\u2066") == "rm x \\u202egpj.\\u2066"
    assert plain("👩\u200d💻 ü") == "👩\u200d💻 ü"


@pytest.mark.parametrize("kind", ["tls", "unix", "both"])
def test_the_page_reaches_its_keeper_wherever_that_listens(home: DemoHome, kind: str) -> None:
    where = [] if kind == "unix" else options("tls", home)
    if kind != "tls":
        where += ["--socket", str(home.root / "k.sock")]
    with Keeper(home, *where) as keeper:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        known = None if kind == "unix" else trusting(home.root / "box.test.crt")
        browser = urllib.request.build_opener(jar, urllib.request.HTTPSHandler(context=known))
        login = urllib.request.Request(
            f"{keeper.page}/login",
            json.dumps({"code": keeper.login_code()}).encode(),
            {"Content-Type": "application/json"},
        )
        assert browser.open(login).status == 200
        with browser.open(f"{keeper.page}/api/sessions") as answer:
            assert json.load(answer)["sessions"][0]["id"] == SESSION


async def test_words_are_found_and_cannot_speak_to_the_terminal(home: DemoHome) -> None:
    with Keeper(home, "--no-ui") as keeper:
        await until(lambda: keeper.command("search", "hello").returncode == 0)
        found = keeper.command("search", "hello", "--kind", "prompt", "--order", "relevance")
        assert SESSION in found.stdout
        assert "hello" in found.stdout
        assert "\x1b" not in found.stdout


def test_an_item_that_reached_its_ceiling_goes_on_so_much_further(home: DemoHome) -> None:
    path = home.keeper / "conversations.db"
    item, used = WorkItem("ticket-42", "shop"), Used(0.0, 3, 0.0)
    book = Book(path)
    book.open()
    question = question_about(item, SESSION, used, Ceilings(turns=3), Ceilings(turns=3))
    book.put(
        Kept(
            key=item.key, project=item.project, workdir="/w", session=SESSION, prompt=None,
            metadata={}, created=1.0, updated=1.0, expires=1e12, lifetime=1e12, dispatches=3,
            ceilings=Ceilings(turns=3), question=question,
        )
    )  # fmt: skip
    book.close()
    with Keeper(home, "--no-ui") as keeper:
        listed = keeper.command("resolve")
        assert "ceiling: “ticket-42” (shop) has reached its ceiling" in listed.stdout
        assert "It has used 3 of 3 turns." in listed.stdout
        odd = keeper.command("resolve", question.id, "allow", "--further", "turns=many")
        assert odd.returncode == 2
        allowed = keeper.command("resolve", question.id, "allow", "--further", "turns=5")
        assert allowed.returncode == 0, allowed.stderr
        assert keeper.command("resolve").stdout == ""
    book.open()
    kept = book.get(item)
    book.close()
    assert kept is not None
    assert (kept.question, kept.allowed) == (None, Ceilings(turns=8))
