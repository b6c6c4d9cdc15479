"""A whole transcript: turns, rewinds, compactions, parallel tools."""

from __future__ import annotations

from random import Random
from typing import BinaryIO

from benchmarks.corpus.format_versions import Era
from benchmarks.corpus.line_writer import Pen
from benchmarks.corpus.metadata_lines import Furniture
from benchmarks.corpus.random_text import Words
from benchmarks.corpus.tool_calls import Call, call

# bytes between two compactions: a full context and the tool results
COMPACTED_AFTER = 2_500_000
REWINDS = 0.05
QUEUED = 0.04
PASTED = 0.004
MOVES = 1 / 12


def write_session(
    file: BinaryIO,
    words: Words,
    random: Random,
    era: Era,
    session: bytes,
    workdir: str,
    *,
    size: int,
    start: int,
) -> int:
    """Writes a transcript of about the size; returns its bytes."""
    pen = Pen(file, random, era, session, workdir, start=start)
    transcript = Transcript(pen, words, size)
    transcript.play()
    pen.close()
    return pen.written


def write_subagent(
    file: BinaryIO,
    words: Words,
    random: Random,
    era: Era,
    session: bytes,
    workdir: str,
    *,
    agent: bytes,
    size: int,
    start: int,
) -> int:
    """Writes the transcript of a subagent, whose lines are all sidechain ones."""
    pen = Pen(file, random, era, session, workdir, start=start, agent=agent)
    transcript = Transcript(pen, words, size)
    transcript.work()
    pen.close()
    return pen.written


class Transcript:
    """Writes a session."""

    def __init__(self, pen: Pen, words: Words, size: int) -> None:
        self._pen = pen
        self._words = words
        self._random = pen.random
        self._size = size
        self._model = pen.random.choice(pen.era.models).encode()
        self._title = words.title(pen.random)
        self._named = pen.random.random() < 0.1
        self._furniture = Furniture(pen, words)
        self._compacted = 0
        self._context = 11_000
        self._cost = 0.0
        # the parents of the prompts since the last compaction, to which a rewind can go
        self._turns: list[bytes | None] = []

    def play(self) -> None:
        """Turns up to the size."""
        first = self._words.prompt(self._random)
        self._furniture.open(first)
        moves = self._random.random() < MOVES
        self._turn(first, first=True)
        while self._pen.written < self._size:
            if moves and self._pen.written > self._size // 2:
                moves = False
                self._pen.move_to(self._pen.workdir + "/web")
            if self._pen.written - self._compacted > COMPACTED_AFTER:
                self._compact()
            elif len(self._turns) > 2 and self._random.random() < REWINDS:
                self._pen.tip = self._random.choice(self._turns[-3:])
            self._turn(self._words.prompt(self._random))
        self._furniture.close(self._title if self._named else None, self._cost)

    def work(self) -> None:
        """Only prompts and replies."""
        self._prompt(self._words.prompt(self._random))
        while self._pen.written < self._size:
            self._reply(last=False)
        self._reply(last=True)

    def _turn(self, prompt: bytes, *, first: bool = False) -> None:
        pen, random = self._pen, self._random
        self._turns.append(pen.tip)
        if not first:
            self._furniture.before_prompt(prompt)
        self._prompt(prompt)
        if first:
            self._furniture.introduce()
        for number in range(int(random.lognormvariate(1.7, 0.9))):
            self._reply(last=False)
            if first and number == 0:
                self._furniture.snapshot()
            if pen.era.attachments and random.random() < QUEUED:
                self._furniture.queue(self._words.prompt(random))
            if pen.written > self._size:
                break
        self._reply(last=True)
        self._furniture.after_turn(prompt, self._title, self._named)

    def _prompt(self, prompt: bytes) -> None:
        pen = self._pen
        content = b'"%b"' % prompt
        if self._random.random() < PASTED and pen.written + 60_000 < self._size:
            picture = self._words.picture[: 4 * self._random.randrange(5_000, 45_000)]
            content = (
                b'[{"type":"text","text":"[Image #1] %b"},{"type":"image","source":{"type":"base64"'
                b',"media_type":"image/png","data":"%b"}}]' % (prompt, picture)
            )
        self._furniture.new_prompt()
        pen.link(
            b'%b"type":"user","message":{"role":"user","content":%b},'
            % (self._furniture.prompt_id, content),
            self._furniture.prompt_details,
        )

    def _reply(self, *, last: bool) -> None:
        """A reply of the model, one line for each block, and the results of its tools."""
        random, words = self._random, self._words
        calls = [] if last else self._calls()
        blocks: list[bytes] = []
        if random.random() < 0.35:
            thought = words.prose.piece(random, random.lognormvariate(6.4, 0.8))
            signature = words.signature[: 4 * random.randrange(60, 400)]
            blocks.append(
                b'{"type":"thinking","thinking":"%b","signature":"%b"}' % (thought, signature)
            )
        if last or random.random() < 0.4:
            text = words.prose.piece(random, random.lognormvariate(6.2 if last else 5.3, 0.9))
            blocks.append(b'{"type":"text","text":"%b"}' % text)
        uses = [self._pen.identity(b"toolu") for _ in calls]
        blocks += [
            b'{"type":"tool_use","id":"%b","name":"%b","input":%b}'
            % (use, each.name, each.tool_input)
            for use, each in zip(uses, calls, strict=True)
        ]
        self._furniture.before_reply(self._context, [each.name for each in calls])
        uuids = self._write_blocks(blocks, last=last)
        callers = uuids[len(uuids) - len(calls) :]
        for caller, use, each in zip(callers, uses, calls, strict=True):
            self._furniture.progress(caller, use, each)
            self._result(caller, use, each)

    def _calls(self) -> list[Call]:
        random = self._random
        number = random.choices((1, 2, 3, 5), (78, 12, 7, 3))[0]
        return [call(self._words, random, self._pen.workdir) for _ in range(number)]

    def _write_blocks(self, blocks: list[bytes], *, last: bool) -> list[bytes]:
        pen, random = self._pen, self._random
        reply = pen.identity(b"msg")
        new = random.randrange(100, 4_000)
        output = random.randrange(20, 1_500)
        self._context += new
        self._cost += self._context * 5e-7 + output * 2.5e-5
        stop = b'"end_turn"' if last else b'"tool_use"'
        uuids = []
        for index, block in enumerate(blocks):
            unfinished = index < len(blocks) - 1 and not pen.era.requests
            uuids.append(
                pen.link(
                    self._furniture.reply(
                        reply,
                        self._model,
                        block,
                        b"null" if unfinished else stop,
                        (new, self._context, output if not unfinished else 1),
                        index,
                    ),
                    self._furniture.reply_details,
                )
            )
        return uuids

    def _result(self, caller: bytes, use: bytes, made: Call) -> None:
        details = b',"toolUseResult":%b' % made.details
        if self._pen.era.attachments:
            details += b',"sourceToolAssistantUUID":"%b"' % caller
        failed = b',"is_error":true' if made.failed else b""
        self._pen.link(
            b'%b"type":"user","message":{"role":"user","content":[{"tool_use_id":"%b",'
            b'"type":"tool_result","content":"%b"%b}]},'
            % (self._furniture.prompt_id, use, made.output, failed),
            details,
            parent=caller,
        )
        self._furniture.after_result(use)

    def _compact(self) -> None:
        pen = self._pen
        tokens, self._context = self._context, 14_000
        pen.boundary(
            b'"type":"system","subtype":"compact_boundary","content":"Conversation compacted",'
            b'"isMeta":false,',
            b',"level":"info","compactMetadata":{"trigger":"auto","preTokens":%d}' % tokens,
        )
        summary = self._words.prose.piece(self._random, 9_000)
        pen.link(
            b'"type":"user","message":{"role":"user","content":"This session goes on from an '
            b'earlier one. What was said there:\\n\\n%b"},"isVisibleInTranscriptOnly":true,'
            b'"isCompactSummary":true,' % summary
        )
        self._compacted = pen.written
        self._turns.clear()
        self._furniture.introduce()
