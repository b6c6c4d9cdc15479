"""Tool calls of Claude Code: the input, the output for the model, and the `toolUseResult`."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from benchmarks.corpus.random_text import Words


@dataclass(frozen=True)
class Call:
    """`details` is the `toolUseResult`, which mostly repeats the output."""

    name: bytes
    tool_input: bytes
    output: bytes
    details: bytes
    failed: bool = False


def call(words: Words, random: Random, workdir: str) -> Call:
    """A random call; tools are as frequent as in real sessions."""
    dice = random.random()
    path = f"{workdir}/src/{random.choice(_FILES)}".encode()
    if dice < 0.42:
        return _bash(words, random)
    if dice < 0.68:
        return _read(words, random, path)
    if dice < 0.84:
        return _edit(words, random, path)
    if dice < 0.95:
        return _grep(random, path)
    if dice < 0.98:
        return _write(words, random, path)
    return _agent(words, random)


_FILES = ("ledger.py", "totals.py", "views/list.tsx", "store/queue.go", "styles/größe.css")


def _printed(random: Random) -> float:
    """The bytes that a tool prints: mostly some hundred, sometimes tens of thousands."""
    return min(random.lognormvariate(6.1, 1.6), 45_000)


def _bash(words: Words, random: Random) -> Call:
    printed = words.code.piece(random, _printed(random))
    tool_input = b'{"command":"make check 2>&1 | tail -%d","description":"%b"}' % (
        random.randrange(5, 200),
        words.sentence(random).encode(),
    )
    if random.random() < 0.08:
        failure = b"Exit code 1\\n" + printed
        return Call(b"Bash", tool_input, failure, b'"Error: %b"' % failure, failed=True)
    details = (
        b'{"stdout":"%b","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}'
    )
    return Call(b"Bash", tool_input, printed, details % printed)


def _read(words: Words, random: Random, path: bytes) -> Call:
    content = words.code.piece(random, _printed(random) * 1.5)
    lines = content.count(b"\\n")
    details = (
        b'{"type":"text","file":{"filePath":"%b","content":"%b","numLines":%d,"startLine":1,'
        b'"totalLines":%d}}' % (path, content, lines, lines)
    )
    numbered = (
        content.replace(b"\\n", b"\\n   12\xe2\x86\x92") if random.random() < 0.3 else content
    )
    return Call(b"Read", b'{"file_path":"%b"}' % path, numbered, details)


def _edit(words: Words, random: Random, path: bytes) -> Call:
    old = words.code.piece(random, random.lognormvariate(5, 1))
    new = words.code.piece(random, random.lognormvariate(5.3, 1))
    original = words.code.piece(random, _printed(random) * 4)
    tool_input = b'{"file_path":"%b","old_string":"%b","new_string":"%b"}' % (path, old, new)
    details = (
        b'{"filePath":"%b","oldString":"%b","newString":"%b","originalFile":"%b",'
        b'"structuredPatch":[{"oldStart":14,"oldLines":3,"newStart":14,"newLines":4,'
        b'"lines":["-%b","+%b"]}],"userModified":false,"replaceAll":false}'
        % (path, old, new, original, old, new)
    )
    output = b"The file %b has been updated." % path
    return Call(b"Edit", tool_input, output, details)


def _grep(random: Random, path: bytes) -> Call:
    files = [path] * random.randrange(1, 30)
    names = b",".join(b'"%b"' % file for file in files)
    return Call(
        b"Grep",
        b'{"pattern":"total(s)?\\\\b","output_mode":"files_with_matches"}',
        b"Found %d files\\n" % len(files) + b"\\n".join(files),
        b'{"mode":"files_with_matches","filenames":[%b],"numFiles":%d}' % (names, len(files)),
    )


def _write(words: Words, random: Random, path: bytes) -> Call:
    content = words.code.piece(random, random.lognormvariate(7.8, 0.9))
    details = b'{"type":"create","filePath":"%b","content":"%b","structuredPatch":[]}'
    return Call(
        b"Write",
        b'{"file_path":"%b","content":"%b"}' % (path, content),
        b"File created successfully at: %b" % path,
        details % (path, content),
    )


def _agent(words: Words, random: Random) -> Call:
    prompt = words.prose.piece(random, 900)
    report = words.prose.piece(random, random.lognormvariate(7.6, 0.6))
    details = (
        b'{"status":"completed","prompt":"%b","agentId":"a%07x","content":[{"type":"text",'
        b'"text":"%b"}],"totalDurationMs":%d,"totalTokens":%d,"totalToolUseCount":%d}'
    )
    return Call(
        b"Task",
        b'{"description":"Look around","prompt":"%b","subagent_type":"general-purpose"}' % prompt,
        report,
        details % (prompt, random.getrandbits(28), report, 41_000, 52_000, 12),
    )
