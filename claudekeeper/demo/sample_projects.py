"""The three small repositories of the sample sessions; their code runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

# each becomes a module of payments-api; one of the samples changes all of them
HANDLERS = [
    "adjust",
    "authorize",
    "balance",
    "capture",
    "chargeback",
    "convert",
    "credit",
    "debit",
    "deposit",
    "dispute",
    "escrow",
    "export",
    "freeze",
    "invoice",
    "ledger",
    "mandate",
    "notify",
    "payout",
    "quote",
    "reconcile",
    "refund",
    "report",
    "reserve",
    "settle",
    "statement",
    "subscribe",
    "transfer",
    "verify",
    "void",
    "withdraw",
]

LOGIN = '''\
"""Who may sign in, and for how long."""

import hmac
import time

SESSION_SECONDS = 8 * 3600


def token_is_valid(token, now=None):
    """A token is good until it expires."""
    now = now or time.time()
    if token["expires"] < now + SESSION_SECONDS:
        return True
    return False


def sign_in(user, password_hash):
    if user["password_hash"] == password_hash:
        return {"user": user["name"], "expires": time.time() + SESSION_SECONDS}
    return None
'''

TEST_LOGIN = """\
import unittest

from payments.login import SESSION_SECONDS, sign_in, token_is_valid

ALICE = {"name": "alice", "password_hash": "5f4dcc3b"}


class Login(unittest.TestCase):
    def test_a_fresh_token_is_valid(self):
        self.assertTrue(token_is_valid({"expires": 1000 + SESSION_SECONDS}, now=1001))

    def test_a_wrong_password_is_refused(self):
        self.assertIsNone(sign_in(ALICE, "wrong"))


if __name__ == "__main__":
    unittest.main()
"""

QUEUE = '''\
"""Messages to the bank, kept until it has confirmed them."""


class RetryQueue:
    def __init__(self, send):
        self.send = send
        self.waiting = []

    def put(self, message):
        self.waiting.append(message)

    def flush(self):
        """Send everything; what fails stays and is tried again at once."""
        while self.waiting:
            try:
                self.send(self.waiting[0])
            except ConnectionError:
                continue
            self.waiting.pop(0)
'''


def handler_source(name: str) -> str:
    return (
        f'"""Handler for `{name}` requests."""\n\n\n'
        f"def handle(request):\n"
        f'    """Answer one {name} request."""\n'
        f'    amount = request["amount"]\n'
        f'    return {{"kind": "{name}", "amount": amount}}\n'
    )


PAYMENTS = {
    "README.md": "# payments-api\n\nTakes payments, pays them out, keeps the books.\n\n"
    "Run the tests with `python3 -m unittest -q`.\n",
    "payments/__init__.py": "",
    "payments/login.py": LOGIN,
    "payments/queue.py": QUEUE,
    "payments/handlers/__init__.py": "",
    **{f"payments/handlers/{name}.py": handler_source(name) for name in HANDLERS},
    "tests/__init__.py": "",
    "tests/test_login.py": TEST_LOGIN,
}

WEBSITE = {
    "README.md": "# website\n\nThe shop: plain TypeScript, no framework.\n",
    "package.json": '{\n  "name": "website",\n  "private": true,\n  "dependencies": {\n'
    '    "date-fns": "^4.1.0",\n    "lodash": "^4.17.21",\n    "moment": "^2.30.1"\n  }\n}\n',
    "index.html": '<!doctype html>\n<html lang="en">\n  <body>\n    <form id="sign-up">\n'
    '      <input name="email" placeholder="Email">\n'
    '      <input name="password" type="password" placeholder="Password">\n'
    '      <div onclick="submitForm()">Sign up</div>\n    </form>\n  </body>\n</html>\n',
    "src/checkout.ts": 'import moment from "moment";\nimport _ from "lodash";\n\n'
    "export function delivery(days: number): string {\n"
    '  return moment().add(days, "days").format("D MMMM");\n}\n\n'
    "export function total(prices: number[]): number {\n  return _.sum(prices);\n}\n",
    "src/dates.ts": 'import { format } from "date-fns";\n\n'
    'export const day = (date: Date): string => format(date, "d MMMM");\n',
    "src/styles.css": ":root {\n  --paper: #ffffff;\n  --ink: #1d1d1f;\n}\n\n"
    ".checkout {\n  display: flex;\n  flex-wrap: nowrap;\n}\n\n"
    ".checkout button {\n  position: absolute;\n  right: 16px;\n}\n",
}

INFRA = {
    "README.md": "# infra\n\nOne machine, one database, and what keeps them alive.\n",
    "docker-compose.yml": "services:\n  db:\n    image: postgres:16\n    volumes:\n"
    "      - db:/var/lib/postgresql/data\n    environment:\n      POSTGRES_DB: payments\n"
    "  api:\n    image: payments-api:2.4.1\n    depends_on: [db]\nvolumes:\n  db:\n",
    "alerts.yml": "groups:\n  - name: disk\n    rules:\n      - alert: DiskFull\n"
    "        expr: disk_free_percent < 5\n        for: 10m\n",
    "keys/current.txt": "live-2024-11\n",
    "keys/old.txt": "live-2023-02\n",
}

PROJECTS: dict[str, dict[str, str]] = {
    "payments-api": PAYMENTS,
    "website": WEBSITE,
    "infra": INFRA,
}


def write_project(folder: Path, files: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Writes the files of a project, and makes it a repository with one commit."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git = shutil.which("git")
    if git is None:
        return
    # a variable such as GIT_DIR would put the commit into a repository of the real user
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["commit", "--quiet", "--allow-empty", "--message=First version"],
    ):
        subprocess.run(
            [git, "-c", "user.name=Demo", "-c", "user.email=demo@localhost", *command],
            cwd=folder,
            env={**clean, **environment, "GIT_CONFIG_NOSYSTEM": "1"},
            check=False,  # without git the samples only lack a branch name
            capture_output=True,
        )
