"""Scenarios: whole jobs that the scripted model plays, mostly in the sample sessions.

The prompt selects the scenario, so that a sample session reads like real work.
"""

from __future__ import annotations

import re

from claudekeeper.demo.sample_projects import HANDLERS
from claudekeeper.demo.steps import (
    Fail,
    Say,
    Script,
    Step,
    Think,
    agent,
    ask,
    edit,
    make_script,
    plan,
    read,
    run,
    todo,
    write,
)

RUN_TESTS = run("python3 -m unittest -q", "Run the tests")

FIX_LOGIN = make_script(
    [
        Think(
            "People stay signed in too long, or not at all. The expiry check is the first "
            "place to look."
        ),
        Say("I'll look at how sessions expire."),
        read("payments/login.py"),
    ],
    [
        Say(
            "The comparison is the wrong way round: a token is accepted *because* it expires "
            "within the next eight hours, and an expired one always does. The password "
            "comparison also leaks timing, but first things first."
        ),
        edit(
            "payments/login.py",
            '    if token["expires"] < now + SESSION_SECONDS:\n        return True\n'
            "    return False\n",
            '    return token["expires"] > now\n',
        ),
    ],
    RUN_TESTS,
    Say(
        "Fixed. `token_is_valid` now returns `expires > now`; before, expired tokens were "
        'accepted and long-lived ones refused.\n\n```python\nreturn token["expires"] > now\n```\n\n'
        "The tests pass. There was no test for an expired token, which is how this slipped "
        "through; shall I add one?"
    ),
)

EXPIRED_TOKEN_TEST = make_script(
    edit(
        "tests/test_login.py",
        "    def test_a_wrong_password_is_refused(self):\n",
        "    def test_an_expired_token_is_refused(self):\n"
        '        self.assertFalse(token_is_valid({"expires": 1000}, now=1001))\n\n'
        "    def test_a_wrong_password_is_refused(self):\n",
    ),
    RUN_TESTS,
    Say("Added `test_an_expired_token_is_refused`; it fails on the old code and passes now."),
)

CONSTANT_TIME = make_script(
    edit(
        "payments/login.py",
        '    if user["password_hash"] == password_hash:\n',
        '    if hmac.compare_digest(user["password_hash"], password_hash):\n',
    ),
    RUN_TESTS,
    Say("The comparison takes the same time for every password now, and the tests pass."),
)

BACKOFF = """\
        attempt = 0
        while self.waiting:
            try:
                self.send(self.waiting[0])
            except ConnectionError:
                attempt += 1
                if attempt > self.retries:
                    raise
                self.sleep(min(60, 0.5 * 2**attempt))
                continue
            attempt = 0
            self.waiting.pop(0)
"""

RETRY_QUEUE = make_script(
    [
        Say("I'll plan this in three steps."),
        todo("[>] Read the queue", "Wait longer after each failure", "Test it"),
    ],
    read("payments/queue.py"),
    [
        Think("`continue` without a pause: one outage and this spins at full speed."),
        todo("[x] Read the queue", "[>] Wait longer after each failure", "Test it"),
    ],
    edit(
        "payments/queue.py",
        "        while self.waiting:\n            try:\n"
        "                self.send(self.waiting[0])\n            except ConnectionError:\n"
        "                continue\n            self.waiting.pop(0)\n",
        BACKOFF,
    ),
    edit(
        "payments/queue.py",
        "    def __init__(self, send):\n        self.send = send\n",
        "    def __init__(self, send, sleep=time.sleep, retries=8):\n        self.send = send\n"
        "        self.sleep = sleep\n        self.retries = retries\n",
    ),
    edit(
        "payments/queue.py",
        'confirmed them."""\n',
        'confirmed them."""\n\nimport time\n',
    ),
    todo("[x] Read the queue", "[x] Wait longer after each failure", "[>] Test it"),
    write(
        "tests/test_queue.py",
        "import unittest\n\nfrom payments.queue import RetryQueue\n\n\n"
        "class Retries(unittest.TestCase):\n    def test_it_waits_longer_each_time(self):\n"
        "        waits = []\n        failures = [ConnectionError(), ConnectionError(), None]\n\n"
        "        def send(message):\n            failure = failures.pop(0)\n"
        "            if failure:\n                raise failure\n\n"
        '        queue = RetryQueue(send, sleep=waits.append)\n        queue.put("hello")\n'
        "        queue.flush()\n        self.assertEqual(waits, [1.0, 2.0])\n",
    ),
    RUN_TESTS,
    todo("[x] Read the queue", "[x] Wait longer after each failure", "[x] Test it"),
    Say(
        "The queue now waits 1, 2, 4 … seconds between attempts, at most a minute, and gives "
        "up after eight. `sleep` can be replaced, so the test takes no time."
    ),
)


def typed_handlers() -> Script:
    """A long job that reads and changes every handler, a few at a time."""
    untyped = "def handle(request):\n"
    typed = "def handle(request: dict[str, int]) -> dict[str, object]:\n"
    groups: list[Step | list[Step]] = [
        [
            Say(f"There are {len(HANDLERS)} handlers; I'll go through them, three at a time."),
            run("ls payments/handlers", "List the handlers"),
        ],
    ]
    for start in range(0, len(HANDLERS), 3):
        names = HANDLERS[start : start + 3]
        paths = [f"payments/handlers/{name}.py" for name in names]
        groups += [
            [Say("Now " + ", ".join(f"`{name}`" for name in names) + "."), *map(read, paths)],
            [edit(path, untyped, typed) for path in paths],
        ]
    groups.append(run("python3 -m compileall -q payments/handlers", "Compile all handlers"))
    groups.append(Say(f"All {len(HANDLERS)} handlers have types now, and every module compiles."))
    return make_script(*groups)


READ_EXPORT = "Read the export handler and find out how it sends its answer"
FIND_STREAMING = "See whether any payment handler streams its answer"

SLOW_EXPORT = make_script(
    [
        Say("Two things to find out at once; I'll have both looked at."),
        agent(READ_EXPORT, "Read the export", "Explore"),
        agent(FIND_STREAMING, "Look for streaming", "Explore"),
    ],
    Say(
        "The export builds the whole answer before it sends the first byte, and the proxy "
        "gives up after sixty seconds. Streaming it row by row would keep the connection "
        "alive; nothing else in the handlers does this yet."
    ),
)

# the prompts of the subagents of the scenarios above
SUBAGENT_JOBS: dict[str, Script] = {
    READ_EXPORT: make_script(
        read("payments/handlers/export.py"),
        Say("`export.py` returns one dictionary; nothing leaves before all of it is built."),
    ),
    FIND_STREAMING: make_script(
        run("grep -L yield payments/handlers/*.py", "List handlers that do not yield"),
        Say("None of the handlers streams; each builds its whole answer in memory."),
    ),
}

PHONE_BUTTON = make_script(
    [
        Say("The button sits on top of the price. That is `position: absolute` at work."),
        read("src/styles.css"),
    ],
    edit(
        "src/styles.css",
        ".checkout button {\n  position: absolute;\n  right: 16px;\n}\n",
        "@media (max-width: 480px) {\n  .checkout {\n    flex-wrap: wrap;\n  }\n\n"
        "  .checkout button {\n    width: 100%;\n  }\n}\n",
    ),
    Say(
        "On narrow screens the button now goes under the price and takes the whole width; "
        "nothing is positioned absolutely any more."
    ),
)

BUNDLE = make_script(
    [
        Say("I'll look at what is imported, all at once."),
        read("package.json"),
        read("src/checkout.ts"),
        read("src/dates.ts"),
    ],
    Say(
        "| package | used for | could go? |\n| --- | --- | --- |\n"
        "| moment | one date in `checkout.ts` | yes: `date-fns` is already here |\n"
        "| lodash | `_.sum` | yes: `reduce` |\n| date-fns | `dates.ts` | no |\n\n"
        "Dropping the first two saves about 140 kB before compression."
    ),
)

ACCESSIBLE = make_script(
    read("index.html"),
    edit(
        "index.html",
        '      <input name="email" placeholder="Email">\n',
        '      <label>Email <input name="email" type="email" autocomplete="email"></label>\n',
    ),
    edit(
        "index.html",
        '      <div onclick="submitForm()">Sign up</div>\n',
        '      <button type="submit">Sign up</button>\n',
    ),
    Say(
        "The fields have labels and the `div` is a button, so the form works with a keyboard "
        "and is read out properly."
    ),
)

PASSWORD_FIELD = make_script(
    edit(
        "index.html",
        '      <input name="password" type="password" placeholder="Password">\n',
        '      <label>Password <input name="password" type="password"'
        ' autocomplete="new-password"></label>\n',
    ),
    Say("Done: the password field has a label too, and password managers recognise it."),
)

DARK_MODE = make_script(
    [
        Say(
            "I'd start with the colours as variables, then go through the site page by page: "
            "the header, the product list, the basket, the checkout, the account pages."
        ),
        Say(
            "After that come the emails that we send and finally the printed invoice, which "
            "should of course stay white whatever happens. " * 8,
            seconds=60,
        ),
    ]
)

DARK_HEADER = make_script(
    edit(
        "src/styles.css",
        ":root {\n  --paper: #ffffff;\n",
        "header {\n  color-scheme: dark;\n}\n\n:root {\n  --paper: #ffffff;\n",
    ),
    Say("Only the header is dark now."),
)

POSTGRES_PLAN = """\
## Postgres 17

1. Dump the database while the API is stopped
2. Change the image to `postgres:17` and give it a new volume
3. Restore, run `ANALYZE`, start the API
4. Keep the old volume for a week
"""

POSTGRES = make_script(
    [Say("I'll look at what runs now before proposing anything."), read("docker-compose.yml")],
    [
        Say("A new major version cannot read the old files, so this needs a dump."),
        plan(POSTGRES_PLAN),
    ],
    edit("docker-compose.yml", "    image: postgres:16\n", "    image: postgres:17\n"),
    edit("docker-compose.yml", "      - db:/var/lib", "      - db17:/var/lib"),
    edit("docker-compose.yml", "volumes:\n  db:\n", "volumes:\n  db:\n  db17:\n"),
    Say("The compose file is ready for step 2; the old volume `db` is still there."),
)

BACKUPS = make_script(
    [
        Say("Before I write anything, one question."),
        ask(
            "Where should the backups go?",
            "Object storage - survives the machine",
            "Second disk - faster to restore",
            header="Backups",
        ),
    ],
    write(
        "backup.sh",
        "#!/bin/sh\nset -eu\nday=$(date +%F)\n"
        'pg_dump --format=custom payments > "/backups/payments-$day.dump"\n'
        "find /backups -name '*.dump' -mtime +14 -delete\n",
    ),
    run("sh -n backup.sh", "Check the script's syntax"),
    Say("`backup.sh` dumps the database every night and keeps a fortnight of dumps."),
)

ROTATE_KEYS = make_script(
    read("keys/current.txt"),
    [
        Say("The old key has not been used since February, so I remove it."),
        run("rm keys/old.txt", "Remove the old key"),
    ],
    Say("The old key is gone."),
)

DISK_ALERTS = make_script([Fail(529)])

DISK_ALERTS_AGAIN = make_script(
    read("alerts.yml"),
    Say(
        "The alert fires below 5 % and only after ten minutes: at the rate of last night the "
        "disk is full by then. 15 % without the delay would have woken somebody in time."
    ),
)

SCENARIOS: dict[str, Script] = {
    "Fix the auth bug in login": FIX_LOGIN,
    "Yes, add a test for an expired token": EXPIRED_TOKEN_TEST,
    "Compare the passwords in constant time instead": CONSTANT_TIME,
    "Retry queue with backoff": RETRY_QUEUE,
    "Add types to all payment handlers": typed_handlers(),
    "Why does the nightly export time out?": SLOW_EXPORT,
    "The checkout button overlaps the price on phones": PHONE_BUTTON,
    "What can we drop from the bundle?": BUNDLE,
    "Make the sign-up form accessible": ACCESSIBLE,
    "The password field as well": PASSWORD_FIELD,
    "Switch the whole site to dark mode": DARK_MODE,
    "Stop, only the header for now": DARK_HEADER,
    "Upgrade to Postgres 17": POSTGRES,
    "Set up nightly backups": BACKUPS,
    "Rotate the API keys": ROTATE_KEYS,
    "Check the disk alerts from last night": DISK_ALERTS,
    "Try again, please": DISK_ALERTS_AGAIN,
}


def normalise(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def scenario_for(prompt: str) -> Script | None:
    """The scenario whose name is the prompt."""
    normalised = normalise(prompt)
    jobs = [*SCENARIOS.items(), *SUBAGENT_JOBS.items()]
    return next((job for name, job in jobs if normalise(name) == normalised), None)


def scenario_named(words: str) -> Script | None:
    """The first scenario whose name contains a text, as in `scenario: postgres`."""
    normalised = normalise(words)
    return next((job for name, job in SCENARIOS.items() if normalised in normalise(name)), None)
