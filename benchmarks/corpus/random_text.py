"""Random text for transcripts: escaped for JSON once, then cut into pieces."""

from __future__ import annotations

import base64
from bisect import bisect_left
from random import Random

import orjson

_SUBJECTS = """
the parser|the retry loop|the migration|this handler|the cache key|the session table
the upload form|our rate limiter|the nightly job|the invoice export|the search index
the test fixture|the socket reader|the feature flag|the date picker|the worker pool
the access log|the sign-in page|the currency field|the image resizer|the queue consumer"""
_VERBS = """
drops|keeps|rewrites|compares|rounds|blocks|repeats|renames|counts|splits|hides|copies
awaits|validates|swallows|merges|truncates|flushes|indexes|reopens"""
_OBJECTS = """
the last row|empty values|every second request|the wrong column|a stale handle
two time zones|the whole body|its own errors|the header twice|one page too many
all open files|the trailing newline|a closed connection|names with accents|old records
the smallest unit|the default branch|negative amounts|the first chunk|unread bytes"""
_ENDINGS = """
when the list is empty|after a restart|under load|since the last release|on slow disks
if nobody is signed in|as soon as two of them meet|only in the small layout
before the commit|in the second pass|while the file still grows|as the tests expect"""
_NAMES = """
ledger|invoice|totals|session|account|parser|upload|search|worker|queue|cursor|header
layout|banner|filter|ticket|report|branch|bucket|record|signal"""
# one line in six of real transcripts has characters beyond ASCII
_ABROAD = (
    "Die Prüfung schlägt fehl, weil der Betrag größer ist als erlaubt.",
    "Le numéro de série n’est pas le même après la mise à jour.",
    "El año no coincide con la señal que envía el servidor.",
    "この関数は空の配列を受け取ると失敗します。",
    "Проверка проходит, но журнал остаётся пустым.",
    "这个文件在保存之后没有重新读取。",
    "Done ✅ — 12 tests passed, 0 failed 🎉",
    "├── src\n│   ├── ledger.py\n│   └── totals.py\n└── tests",
    "The price is 12,40 € – not 12.40 $ …",
)
_CODE = (
    'def {a}_{b}(rows: list[dict[str, object]], *, limit: int = 50) -> "Totals":\n',
    '    """Sum what {a} left in {b}."""\n',
    '    for row in rows:\n        if row["{a}"] is None or row["{b}"] == "":\n',
    '            total += int(row.get("{a}", 0)) * scale["{b}"]\n',
    "    return Totals({a}=total, {b}=len(rows))\n\n\n",
    'const {a} = await fetch(`/api/{b}?page=${{page}}`, {{ headers: {{ "X-Trace": id }} }});\n',
    "\tif err := {a}.{b}(ctx, req); err != nil {{\n\t\treturn nil, wrap(err)\n\t}}\n",
    "warning: {a} is compared with {b} here, but only one of the two can be empty\n",
    "the {a} of {b} was written before its reader had closed the file: next pass starts anew\n",
    "tests/test_{a}.py::test_{b}_is_kept PASSED                                    [ 42%]\n",
    "2026-03-04 11:22:33,456 INFO  [{a}-worker-3] {b} took 184 ms, 3 retries left\n",
    'src/{a}/{b}.py:118:    raise ValueError(f"{{name!r}} is not a {a}")\n',
    "@@ -14,7 +14,9 @@ class {a}:\n-        self.{b} = None\n+        self.{b} = []\n",
    '{{"id": 4711, "{a}": "ok", "{b}": [1, 2, 3], "path": "C:\\\\data\\\\{a}"}}\n',
)

ABROAD_IN_PROSE = 0.008
ABROAD_IN_CODE = 0.0015
PROSE_BYTES = 768 * 1024
CODE_BYTES = 1024 * 1024
# pieces are at most this long
MAX_SECONDS = 256 * 1024


class Text:
    """A long escaped text; pieces are cut between its sentences."""

    def __init__(self, sentences: list[str]) -> None:
        parts = [orjson.dumps(sentence)[1:-1] for sentence in sentences]
        self._text = b"".join(parts)
        self._cuts: list[int] = []
        at = 0
        for part in parts:
            self._cuts.append(at)
            at += len(part)
        self._starts = bisect_left(self._cuts, at - MAX_SECONDS)

    def piece(self, random: Random, length: float) -> bytes:
        """Whole sentences of about so many bytes."""
        start = self._cuts[int(random.random() * self._starts)]
        end = bisect_left(self._cuts, start + min(length, MAX_SECONDS - 4096))
        return self._text[start : self._cuts[max(end, 1)]]


class Words:
    """The texts of a corpus: prose, code, images and signatures."""

    def __init__(self, seed: int) -> None:
        random = Random(f"words:{seed}")
        self._parts = [_phrases(text) for text in (_SUBJECTS, _VERBS, _OBJECTS, _ENDINGS)]
        self._names = _phrases(_NAMES)
        self.prose = Text(self._prose(random))
        self.code = Text(self._code(random))
        self.picture = base64.b64encode(random.randbytes(192 * 1024))
        self.signature = base64.b64encode(random.randbytes(48 * 1024))

    def sentence(self, random: Random) -> str:
        return " ".join(random.choice(phrases) for phrases in self._parts)

    def prompt(self, random: Random) -> bytes:
        """A prompt: mostly a line, sometimes a page."""
        beginning = random.choice(
            ("Why is it that ", "Please see to it: ", "Find out whether ", "Look: ")
        )
        text = beginning.encode() + self.sentence(random).encode() + b"?"
        return text + self.prose.piece(random, random.lognormvariate(4.0, 1.6))

    def title(self, random: Random) -> bytes:
        return self.sentence(random).capitalize().encode()

    def _prose(self, random: Random) -> list[str]:
        sentences: list[str] = []
        size = 0
        while size < PROSE_BYTES:
            if random.random() < ABROAD_IN_PROSE:
                text = random.choice(_ABROAD) + " "
            else:
                text = self.sentence(random).capitalize() + random.choice(
                    (". ", ".\n\n", ": ", "; ")
                )
            sentences.append(text)
            size += len(text)
        return sentences

    def _code(self, random: Random) -> list[str]:
        lines: list[str] = []
        size = 0
        while size < CODE_BYTES:
            if random.random() < ABROAD_IN_CODE:
                text = "# " + random.choice(_ABROAD) + "\n"
            else:
                form = random.choice(_CODE)
                text = form.format(a=random.choice(self._names), b=random.choice(self._names))
            lines.append(text)
            size += len(text)
        return lines


def _phrases(text: str) -> list[str]:
    return text.strip().replace("\n", "|").split("|")
