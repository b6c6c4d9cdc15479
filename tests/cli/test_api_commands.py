"""The API from a terminal: over a port, TLS and a unix socket."""

from __future__ import annotations

import http.cookiejar
import json
import ssl
import urllib.request
from collections.abc import Iterator

import pytest

from claudekeeper.cli.api_commands import printable
from claudekeeper.contract.ceilings import Ceilings, CeilingUsage
from claudekeeper.contract.sessions import WorkItem
from claudekeeper.demo.home import DemoHome
from claudekeeper.dispatch.ceiling_questions import question_about
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.dispatch.store import ConversationStore
from claudekeeper.net.listen import client_context
from tests.analysis.test_session_facts import use
from tests.net.test_listen import certificate
from tests.support.keeper_process import KeeperProcess
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, uuid_of
from tests.support.waiting import wait_until


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        transcript = TranscriptWriter()
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
    with KeeperProcess(home, *options(kind, home)) as keeper:
        listed = keeper.run_command("sessions")
        assert listed.returncode == 0, listed.stderr
        assert SESSION_ID in listed.stdout
        assert "\x1b" not in listed.stdout
        nowhere = keeper.run_command("search", "heron")
        assert (nowhere.returncode, nowhere.stdout) == (1, "")
        opened = keeper.run_command("open")
        assert opened.returncode == 0, opened.stderr
        assert "/#login=" in opened.stdout
        assert keeper.token not in opened.stdout
        # through the page too: its server reaches the keeper the same way
        nothing = keeper.run_command("resolve")
        assert (nothing.returncode, nothing.stdout) == (0, "")


def test_the_list_says_how_far_sessions_are(home: DemoHome) -> None:
    shop = home.project("shop")
    (shop / "coverage-checklist.yml").write_text("coverage: {access: [backups, auditing]}")
    covered, tasked = (
        TranscriptWriter(uuid_of(1), str(shop)),
        TranscriptWriter(uuid_of(2), str(home.root)),
    )
    covered.prompt("Backups run nightly.")
    tasked.prompt("paint it")
    todos = [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]
    use(tasked, "TodoWrite", {"todos": todos})
    covered.write(home.config / "projects")
    tasked.write(home.config / "projects")
    with KeeperProcess(home) as keeper:
        until_listed(keeper, "Backups run nightly. (checklist 50 %)", "paint it (1 of 2 tasks)")
        marking = urllib.request.Request(
            f"{keeper.url}/sessions/{uuid_of(2)}",
            method="PATCH",
            data=b'{"givenUp": true}',
            headers={**keeper.auth_headers, "Content-Type": "application/json"},
        )
        urllib.request.urlopen(marking).close()
        until_listed(keeper, "paint it (given up)")


def until_listed(keeper: KeeperProcess, *lines: str) -> None:
    while not all(line in keeper.run_command("sessions").stdout for line in lines):
        pass


def test_another_device_is_let_in_by_a_code_or_under_a_configured_name(home: DemoHome) -> None:
    home.keeper.mkdir(exist_ok=True)
    (home.keeper / "config.json").write_text(json.dumps({"allowedHosts": ["box.test"]}))
    with KeeperProcess(home) as keeper:
        opened = keeper.run_command("open")
        code = opened.stdout.strip().partition("/#login=")[2]
        assert f"enter {code} " in opened.stderr
        assert f"https://box.test/#login={code}" in opened.stderr


def test_usage_is_a_table(home: DemoHome) -> None:
    used = TranscriptWriter("5e551011-0000-4000-8000-0000000000aa")
    used.reply(usage={"input_tokens": 1234, "output_tokens": 5}, model="claude-opus-4-8")
    used.write(home.config / "projects")
    with KeeperProcess(home, "--no-ui") as keeper:
        answer = keeper.run_command("usage", "--by", "model")
        assert answer.returncode == 0, answer.stderr
        assert "claude-opus-4-8" in answer.stdout
        assert answer.stdout.splitlines()[-1].split()[:2] == ["total", "1,234"]
        assert keeper.run_command("usage", "--after", "yesterday").returncode == 2


def test_a_refusal_is_said_in_the_keeper_s_words(home: DemoHome) -> None:
    with KeeperProcess(home, "--no-ui") as keeper:
        refused = keeper.run_command("send", "hello", "--session", "not-an-id")
        assert refused.returncode == 2
        assert "sessionId" in refused.stderr
        unsaid = keeper.run_command("send", "hello", "--interrupt")
        assert unsaid.returncode == 2
        assert "Say which session to interrupt" in unsaid.stderr
        gone = keeper.run_command("resolve", "nothing", "allow")
        assert gone.returncode == 2
        assert "404" in gone.stderr


def test_a_command_finds_its_conversation(home: DemoHome) -> None:
    with KeeperProcess(home, "--no-ui") as keeper:
        # the directory of that session is not on this machine: nothing comes of it but the way
        ran = keeper.run_command("send", "also say hello", "--workdir", "/code/shop")
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.startswith("Continuing: hello")
        assert SESSION_ID in ran.stdout
        gone = keeper.run_command("send", "also say hello", "--workdir", "/code/shop", "--new")
        assert gone.returncode == 2
        assert "/code/shop" in gone.stderr
        fresh = keeper.run_command("send", "also say hello", "--workdir", str(home.root))
        assert fresh.stdout.startswith("Started: also say hello")
        wanted = keeper.run_command("send", "also say hello", "--workdir", str(home.root), "--new")
        assert wanted.stdout.startswith("Started: also say hello")


def test_without_a_keeper_it_says_how_to_start_one(home: DemoHome) -> None:
    with KeeperProcess(home, "--no-ui") as keeper:
        pass
    refused = keeper.run_command("sessions")
    assert refused.returncode == 2
    assert "claudekeeper serve" in refused.stderr


def test_nothing_speaks_to_the_terminal() -> None:
    assert printable("a\x1b]8;;x\x07b\nc\x9b") == "a ]8;;x b c "
    assert printable("rm x \u202egpj.\u2066") == "rm x \\u202egpj.\\u2066"
    assert printable("👩\u200d💻 ü") == "👩\u200d💻 ü"


@pytest.mark.parametrize("socket", [[], ["--socket"]], ids=["tls", "both"])
def test_the_page_with_tls_reaches_its_keeper_wherever_that_listens(
    home: DemoHome, socket: list[str]
) -> None:
    path = str(home.root / "k.sock")
    arguments = [*options("tls", home), *(word for option in socket for word in (option, path))]
    logs_in_and_lists(home, arguments, client_context(home.root / "box.test.crt"))


def test_the_page_without_tls_reaches_its_keeper_at_a_unix_socket(home: DemoHome) -> None:
    logs_in_and_lists(home, ["--socket", str(home.root / "k.sock")], None)


def logs_in_and_lists(home: DemoHome, arguments: list[str], context: ssl.SSLContext | None) -> None:
    with KeeperProcess(home, *arguments) as keeper:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        browser = urllib.request.build_opener(jar, urllib.request.HTTPSHandler(context=context))
        login = urllib.request.Request(
            f"{keeper.page_url}/login",
            json.dumps({"code": keeper.login_code()}).encode(),
            {"Content-Type": "application/json"},
        )
        assert browser.open(login).status == 200
        with browser.open(f"{keeper.page_url}/api/sessions") as answer:
            assert json.load(answer)["sessions"][0]["id"] == SESSION_ID


async def test_words_are_found_and_cannot_speak_to_the_terminal(home: DemoHome) -> None:
    with KeeperProcess(home, "--no-ui") as keeper:
        await wait_until(lambda: keeper.run_command("search", "hello").returncode == 0)
        ran = keeper.run_command("search", "hello", "--kind", "prompt", "--order", "relevance")
        assert SESSION_ID in ran.stdout
        assert "hello" in ran.stdout
        assert "\x1b" not in ran.stdout


def test_an_item_that_reached_its_ceiling_goes_on_so_much_further(home: DemoHome) -> None:
    path = home.keeper / "conversations.db"
    item, used = WorkItem("ticket-42", "shop"), CeilingUsage(0.0, 3, 0.0)
    store = ConversationStore(path)
    store.open()
    question = question_about(item, SESSION_ID, used, Ceilings(turns=3), Ceilings(turns=3))
    store.put(
        ConversationRecord(
            key=item.key, project=item.project, workdir="/w", session=SESSION_ID, prompt=None,
            metadata={}, created=1.0, updated=1.0, expires=1e12, lifetime=1e12, dispatches=3,
            ceilings=Ceilings(turns=3), question=question,
        )
    )  # fmt: skip
    store.close()
    with KeeperProcess(home, "--no-ui") as keeper:
        listed = keeper.run_command("resolve")
        assert "ceiling: “ticket-42” (shop) has reached its ceiling" in listed.stdout
        assert "It has used 3 of 3 turns." in listed.stdout
        odd = keeper.run_command("resolve", question.id, "allow", "--further", "turns=many")
        assert odd.returncode == 2
        allowed = keeper.run_command("resolve", question.id, "allow", "--further", "turns=5")
        assert allowed.returncode == 0, allowed.stderr
        assert keeper.run_command("resolve").stdout == ""
    store.open()
    record = store.get(item)
    store.close()
    assert record is not None
    assert (record.question, record.allowed) == (None, Ceilings(turns=8))
