"""The lines around a conversation, by era: listings, snapshots, requests, hooks, titles, costs."""

from __future__ import annotations

from benchmarks.corpus.format_versions import CURRENT
from benchmarks.corpus.line_writer import Pen
from benchmarks.corpus.random_text import Words
from benchmarks.corpus.tool_calls import Call

_BETAS = b'["claude-code-20250219","interleaved-thinking-2025-05-14","context-1m-2025-08-07"]'


class Furniture:
    """Writes the lines of Claude Code around prompts and replies."""

    def __init__(self, pen: Pen, words: Words) -> None:
        self._pen = pen
        self._words = words
        self._random = pen.random
        # a quarter of real sessions have hooks that print
        self._hooked = pen.random.random() < 0.3
        self._shape = pen.digest()
        self._request = b""
        self._base = b""
        self._used: list[bytes] = []
        self.prompt_id = b""
        self.prompt_details = b""
        self.reply_details = b""
        in_terminal = pen.era is CURRENT
        # as measured: a terminal's system prompt and tools are the longer ones
        self._shape_bytes = 46_000 if in_terminal else 34_000
        self._snapshot_bytes = 80_000 if in_terminal else 54_000

    # ---- beginning and end ----

    def open(self, prompt: bytes) -> None:
        pen = self._pen
        if pen.era.attachments and pen.era.entrypoint == "cli":
            pen.aside(b'{"type":"mode","mode":"normal","sessionId":"%b"}' % pen.session)
            self._permission_mode()
        if pen.era.attachments and self._hooked:
            for _ in range(self._random.randrange(1, 4)):
                size = self._random.lognormvariate(7.3, 1.0)
                self._attach(
                    b'{"type":"hook_success","hookName":"SessionStart:startup","toolUseID":"%b",'
                    b'"hookEvent":"SessionStart","content":"%b","stdout":"","stderr":"","exitCode":0}'
                    % (pen.uuid(), self._words.prose.piece(self._random, size))
                )
        if pen.era.progress and self._hooked:
            self._hook_progress(pen.uuid(), b"SessionStart")
        if not pen.era.slug and pen.era.origin_first and self._random.random() < 0.3:
            # it titles another session: its leaf is not in this file
            pen.aside(
                b'{"type":"summary","summary":"%b","leafUuid":"%b"}'
                % (self._words.title(self._random), pen.uuid())
            )
        if pen.era.entrypoint == "cli" and self._random.random() < 0.1:
            self._clear()
        if pen.era.entrypoint == "sdk-py":
            self._enqueue(prompt)
            self._queue_operation(b"dequeue")
        else:
            self._file_history()

    def introduce(self) -> None:
        """The context of the model: environment, tools, agents, skills."""
        pen, words, random = self._pen, self._words, self._random
        if not pen.era.attachments:
            return
        if pen.era.requests:
            self._attach_rendered(b"environment", words.prose.piece(random, 500))
            self._attach_rendered(b"model", words.prose.piece(random, 130))
        self._attach_rendered(b"deferred_tools_delta", words.prose.piece(random, 1_000))
        self._attach_rendered(b"agent_listing_delta", words.prose.piece(random, 1_600))
        self._attach_rendered(b"skill_listing", words.prose.piece(random, 6_300))
        if pen.era.requests:
            self._latch()
            self._attach_rendered(b"date", b"2026-03-04")
            tools = words.prose.piece(random, self._shape_bytes)
            pen.aside(
                b'{"type":"api-request-shape","sessionId":"%b","shapeHash":"%b","timestamp":"%b",'
                b'"version":"2.1.325","shape":{"system":[{"type":"text","text":"An agent."}],'
                b'"tools":[{"name":"Agent","description":"%b"}]}}'
                % (pen.session, self._shape, pen.now(), tools)
            )
            pen.aside(
                b'{"type":"api-request-blob","sessionId":"%b","hash":"%b","message":{"role":"system"'
                b',"content":[{"type":"text","text":"%b"}]}}'
                % (pen.session, pen.digest(), words.prose.piece(random, 9_300))
            )

    def snapshot(self) -> None:
        """The whole system prompt, once for each session."""
        if self._pen.era.requests:
            prompt = self._words.prose.piece(self._random, self._snapshot_bytes)
            self._attach(b'{"type":"prompt_snapshot","systemPrompt":["%b"]}' % prompt)

    def close(self, title: bytes | None, cost: float) -> None:
        pen = self._pen
        if title is not None:
            pen.aside(
                b'{"type":"custom-title","customTitle":"%b","sessionId":"%b"}'
                % (title, pen.session)
            )
        if pen.era.requests:
            pen.aside(
                b'{"type":"cost-state","sessionId":"%b","totalCostUSD":%.7f,"totalAPIDuration":%d,'
                b'"totalToolDuration":1458,"totalLinesAdded":4,"totalLinesRemoved":3,'
                b'"modelUsage":{"claude-opus-5-5":{"inputTokens":28,"outputTokens":369,'
                b'"cacheReadInputTokens":70522,"cacheCreationInputTokens":12362,"costUSD":%.7f}},'
                b'"hasUnknownModelCost":false}' % (pen.session, cost, 490, cost)
            )

    # ---- around a turn ----

    def new_prompt(self) -> None:
        if self._pen.era.attachments:
            self.prompt_id = b'"promptId":"%b",' % self._pen.uuid()
            self.prompt_details = b',"permissionMode":"default"'

    def before_prompt(self, prompt: bytes) -> None:
        if self._pen.era.entrypoint == "sdk-py":
            self._enqueue(prompt)
            self._queue_operation(b"dequeue")
        else:
            self._file_history()

    def queue(self, prompt: bytes) -> None:
        """A prompt during a turn, which is an attachment."""
        self._enqueue(prompt)
        self._queue_operation(b"remove")
        self._attach(b'{"type":"queued_command","prompt":"%b","commandMode":"prompt"}' % prompt)

    def after_turn(self, prompt: bytes, title: bytes, named: bool) -> None:
        pen, random = self._pen, self._random
        if pen.era.attachments:
            if self._hooked:
                pen.link(
                    b'"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":'
                    b'[{"command":"notify","durationMs":31}],"hookErrors":[],'
                    b'"preventedContinuation":false,"stopReason":"","hasOutput":false,'
                    b'"level":"suggestion",'
                )
            pen.link(
                b'"type":"system","subtype":"turn_duration","durationMs":%d,'
                % random.randrange(900, 90_000),
                b',"isMeta":false',
            )
            pen.aside(
                b'{"type":"last-prompt","lastPrompt":"%b","leafUuid":"%b","sessionId":"%b"}'
                % (_cut(prompt), pen.tip or b"", pen.session)
            )
            if named:
                pen.aside(
                    b'{"type":"custom-title","customTitle":"%b","sessionId":"%b"}'
                    % (title, pen.session)
                )
            pen.aside(b'{"type":"ai-title","sessionId":"%b","aiTitle":"%b"}' % (pen.session, title))
            if pen.era.requests:
                self._latch()
            else:
                self._permission_mode()

    # ---- around a reply ----

    def before_reply(self, context: int, tools: list[bytes]) -> None:
        pen = self._pen
        if not pen.era.requests:
            self._request = pen.identity(b"req")
            return
        self._base, self._request = self._request, pen.uuid()
        pen.aside(
            b'{"type":"api-request","sessionId":"%b","id":"%b","timestamp":"%b","version":"2.1.325",'
            b'"querySource":"sdk","shapeHash":"%b","params":{"model":"claude-opus-5-5","betas":%b,'
            b'"max_tokens":128000,"thinking":{"type":"adaptive","display":"updates"},'
            b'"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}},'
            b'"base":"%b","keep":%d,"tail":["%b","%b"],"cacheControl":[{"path":["system",0],"value":'
            b'{"type":"ephemeral"}}],"requestDigest":"%b"}'
            % (
                pen.session,
                self._request,
                pen.now(),
                self._shape,
                _BETAS,
                self._base,
                context // 1000,
                pen.digest(),
                pen.digest(),
                pen.digest(),
            )
        )
        unused = [tool for tool in tools if tool not in self._used]
        if unused:
            self._used += unused
            pen.aside(
                b'{"type":"tools-used","tools":["%b"],"sessionId":"%b"}'
                % (b'","'.join(self._used), pen.session)
            )

    def reply(
        self,
        reply: bytes,
        model: bytes,
        block: bytes,
        stop: bytes,
        tokens: tuple[int, int, int],
        index: int,
    ) -> bytes:
        """The keys of an assistant line before its uuid, in its era's order."""
        if not self._pen.era.requests:
            return (
                b'"message":{"model":"%b","id":"%b","type":"message","role":"assistant","content":'
                b'[%b],"stop_reason":%b,"stop_sequence":null,"usage":{"input_tokens":4,'
                b'"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation":'
                b'{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":%d,'
                b'"service_tier":"standard"}},"requestId":"%b","type":"assistant",'
                % (model, reply, block, stop, *tokens, self._request)
            )
        self.reply_details = b',"effort":"medium","perTurnEffort":"medium","madeBy":"model"'
        return (
            b'"message":{"id":"%b","type":"message","role":"assistant","model":"%b","content":[%b],'
            b'"stop_reason":%b,"stop_sequence":null,"usage":{"input_tokens":4,'
            b'"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d,'
            b'"output_tokens_details":{"thinking_tokens":0},"server_tool_use":{"web_search_requests"'
            b':0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":'
            b'{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0},"inference_geo":"",'
            b'"iterations":[],"speed":"standard","fallback_credit":null},"stop_details":null},'
            b'"apiBlockIndex":%d,"requestRef":"%b","requestedModel":"%b","promptCacheRequested":"5m"'
            b',"type":"assistant",'
            % (reply, model, block, stop, *tokens, index, self._request, model)
        )

    def progress(self, caller: bytes, use: bytes, made: Call) -> None:
        """The progress of a tool: lines of the chain that are not shown."""
        pen = self._pen
        if not pen.era.progress or made.name not in (b"Bash", b"Task"):
            return
        pen.tip = caller
        for second in range(self._random.randrange(4)):
            pen.link(
                b'"type":"progress","data":{"type":"bash_progress","output":"...","fullOutput":"...",'
                b'"elapsedTimeSeconds":%d,"totalLines":2},"toolUseID":"bash-progress-%d",'
                b'"parentToolUseID":"%b",' % (second, second, use)
            )

    def after_result(self, use: bytes) -> None:
        if self._pen.era.progress and self._hooked:
            self._hook_progress(use, b"PostToolUse")
        elif self._pen.era.attachments and self._random.random() < 0.04:
            self._attach_rendered(b"task_reminder", self._words.prose.piece(self._random, 400))

    # ---- single lines ----

    def _attach(self, attachment: bytes, rendered: bytes = b"") -> None:
        self._pen.link(b'"attachment":%b,"type":"attachment",' % attachment, rendered)

    def _attach_rendered(self, kind: bytes, text: bytes) -> None:
        """The text of an attachment for the model, which the current CLI writes too."""
        rendered = (
            b',"rendered":[{"content":"<system-reminder>\\n%b\\n</system-reminder>"}],'
            b'"renderedRole":"system"' % text
            if self._pen.era.requests
            else b""
        )
        self._attach(b'{"type":"%b","content":"%b","isInitial":true}' % (kind, text), rendered)

    def _hook_progress(self, use: bytes, event: bytes) -> None:
        self._pen.link(
            b'"type":"progress","data":{"type":"hook_progress","hookEvent":"%b","hookName":"%b",'
            b'"command":"notify"},"parentToolUseID":"%b","toolUseID":"%b",'
            % (event, event, use, use)
        )

    def _clear(self) -> None:
        """A local command before the first prompt, with its output."""
        for meta, text in (
            (b',"isMeta":true', b"Caveat: The messages below were generated by the user"),
            (b"", b"<command-name>/clear</command-name>\\n<command-args></command-args>"),
            (b"", b"<local-command-stdout></local-command-stdout>"),
        ):
            self._pen.link(b'"type":"user","message":{"role":"user","content":"%b"},' % text, meta)

    def _enqueue(self, prompt: bytes) -> None:
        self._pen.aside(
            b'{"type":"queue-operation","operation":"enqueue","timestamp":"%b","sessionId":"%b",'
            b'"content":"%b"}' % (self._pen.now(), self._pen.session, prompt)
        )

    def _queue_operation(self, operation: bytes) -> None:
        self._pen.aside(
            b'{"type":"queue-operation","operation":"%b","timestamp":"%b","sessionId":"%b"}'
            % (operation, self._pen.now(), self._pen.session)
        )

    def _file_history(self) -> None:
        uuid = self._pen.uuid()
        self._pen.aside(
            b'{"type":"file-history-snapshot","messageId":"%b","snapshot":{"messageId":"%b",'
            b'"trackedFileBackups":{},"timestamp":"%b"},"isSnapshotUpdate":false}'
            % (uuid, uuid, self._pen.now())
        )

    def _permission_mode(self) -> None:
        self._pen.aside(
            b'{"type":"permission-mode","permissionMode":"default","sessionId":"%b"}'
            % self._pen.session
        )

    def _latch(self) -> None:
        self._pen.aside(b'{"type":"atis-latch","atis":"","sessionId":"%b"}' % self._pen.session)


def _cut(prompt: bytes) -> bytes:
    """The beginning of a prompt, as in `last-prompt` lines, cut between characters."""
    return prompt[:200].rsplit(b" ", 1)[0] if len(prompt) > 200 else prompt
