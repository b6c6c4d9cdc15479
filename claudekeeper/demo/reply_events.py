"""Replies as the Messages API sends them: as a stream of events, or as one message."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec
import orjson

from claudekeeper.demo.model_request import ModelRequest, RequestBlock, RequestMessage
from claudekeeper.demo.steps import Call, Fail, Reply, Say, Step, Think

Event: TypeAlias = dict[str, Any]
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1_500
# any text works as a signature: the CLI only stores it and sends it back
SIGNATURE = "c2NyaXB0ZWQtdGhpbmtpbmctc2lnbmF0dXJl" * 4
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
ERROR_MESSAGES = {
    400: "The request was not valid.",
    401: "invalid x-api-key",
    429: "This request would exceed your account's rate limit. Please try again later.",
    404: "Not found",
    529: "Overloaded",
}


class Pause(msgspec.Struct, frozen=True):
    """A pause in the stream."""

    seconds: float


class Drop(msgspec.Struct, frozen=True):
    """The connection breaks here."""


class ReplyTokens(msgspec.Struct, frozen=True):
    input_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int
    output_tokens: int = 1

    @property
    def total_input(self) -> int:
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens


def usage_fields(usage: ReplyTokens) -> dict[str, Any]:
    """The usage with the API's own breakdown of cache writes."""
    written = {"ephemeral_5m_input_tokens": usage.cache_creation_input_tokens}
    return {**msgspec.to_builtins(usage), "cache_creation": written}


def usage_of(request: ModelRequest, size: int) -> ReplyTokens:
    """Plausible numbers: earlier messages are read from the cache, the others written to it."""
    turns = request.body.messages
    last_reply = max((n for n, turn in enumerate(turns) if turn.role == "assistant"), default=None)
    images = sum(image_size(block) for turn in turns for block in turn.blocks)
    pictures = sum(block.type == "image" for turn in turns for block in turn.blocks)
    total = max(1, (size - images) // CHARACTERS_PER_TOKEN) + pictures * TOKENS_PER_IMAGE
    fresh = (
        total if last_reply is None else min(total, sum(map(estimate_tokens, turns[last_reply:])))
    )
    plain = min(4, fresh)
    return ReplyTokens(plain, fresh - plain, total - fresh)


def image_size(block: RequestBlock) -> int:
    return len(block.source.data) if block.source else 0


def estimate_tokens(turn: RequestMessage) -> int:
    """The approximate tokens of a message."""
    return sum(
        TOKENS_PER_IMAGE
        if block.type == "image"
        else len(msgspec.json.encode(block)) // CHARACTERS_PER_TOKEN
        for block in turn.blocks
    )


def output_tokens(reply: Reply) -> int:
    written = 0
    for step in reply:
        if isinstance(step, Say | Think):
            written += len(step.text)
        elif isinstance(step, Call):
            written += len(orjson.dumps(step.input)) + len(step.tool)
    return max(1, written // CHARACTERS_PER_TOKEN)


def events(reply: Reply, model: str, usage: ReplyTokens) -> Iterator[Event | Pause | Drop]:
    """The stream, generated lazily, as a reply may have hundreds of thousands of deltas."""
    yield {"type": "message_start", "message": envelope(model, [], None, usage)}
    for index, step in enumerate(join_texts(reply)):
        if isinstance(step, Fail):
            yield from failed_block_events(step, index)
            return
        yield from block_events(step, index)
    final = msgspec.structs.replace(usage, output_tokens=output_tokens(reply))
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(reply), "stop_sequence": None},
        "usage": usage_fields(final),
    }
    yield {"type": "message_stop"}


def block_events(step: Step, index: int) -> Iterator[Event | Pause]:
    match step:
        case Say():
            yield block_start(index, {"type": "text", "text": ""})
            pieces = split_text(step.text, step.chunk)
            wait = Pause(step.seconds / len(pieces)) if step.seconds and pieces else None
            for piece in pieces:
                yield block_delta(index, {"type": "text_delta", "text": piece})
                if wait:
                    yield wait
        case Think():
            yield block_start(index, {"type": "thinking", "thinking": "", "signature": ""})
            for piece in split_text(step.text):
                yield block_delta(index, {"type": "thinking_delta", "thinking": piece})
            yield block_delta(index, {"type": "signature_delta", "signature": SIGNATURE})
        case Call():
            yield block_start(index, {**content_block(step), "input": {}})
            tool_input = orjson.dumps(step.input).decode()
            for piece in split_text(tool_input, max(24, len(tool_input) // 200)):
                yield block_delta(index, {"type": "input_json_delta", "partial_json": piece})
    yield {"type": "content_block_stop", "index": index}


def failed_block_events(step: Fail, index: int) -> Iterator[Event | Drop]:
    """Half a sentence, then the failure."""
    yield block_start(index, {"type": "text", "text": ""})
    yield block_delta(index, {"type": "text_delta", "text": "This sentence will not be fin"})
    if step.how == "drop":
        yield Drop()
        return
    status = 529 if step.how == "stream" else step.how
    yield error_body(status)


def message(reply: Reply, model: str, usage: ReplyTokens) -> Event:
    """The reply as one message."""
    final = msgspec.structs.replace(usage, output_tokens=output_tokens(reply))
    blocks = [content_block(step) for step in join_texts(reply) if not isinstance(step, Fail)]
    return envelope(model, blocks, stop_reason(reply), final)


def error_body(status: int) -> Event:
    kind = ERROR_TYPES.get(status, "api_error")
    sentence = ERROR_MESSAGES.get(status, "Internal server error")
    return {"type": "error", "error": {"type": kind, "message": sentence}}


def envelope(model: str, content: list[Event], stop: str | None, usage: ReplyTokens) -> Event:
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage_fields(usage),
    }


def content_block(step: Step) -> Event:
    match step:
        case Say():
            return {"type": "text", "text": step.text}
        case Think():
            return {"type": "thinking", "thinking": step.text, "signature": SIGNATURE}
        case Call():
            return {
                "type": "tool_use",
                "id": new_id("toolu"),
                "name": step.tool,
                "input": step.input,
            }
    raise TypeError(f"{type(step).__name__} is not something a model sends")


def join_texts(reply: Reply) -> list[Step]:
    """Joins adjacent texts into one block, as a model writes them."""
    steps: list[Step] = []
    for step in reply:
        before = steps[-1] if steps else None
        if (
            isinstance(step, Say)
            and isinstance(before, Say)
            and is_plain(step)
            and is_plain(before)
        ):
            glue = "" if before.text[-1:].isspace() else " "
            steps[-1] = Say(before.text + glue + step.text)
        else:
            steps.append(step)
    return steps


def is_plain(step: Say) -> bool:
    return not step.seconds and not step.chunk


def stop_reason(reply: Reply) -> str:
    return "tool_use" if any(isinstance(step, Call) for step in reply) else "end_turn"


def split_text(text: str, chunk: int = 0) -> list[str]:
    """Cuts a text into words, or into pieces of `chunk` characters."""
    if chunk:
        return [text[start : start + chunk] for start in range(0, len(text), chunk)]
    return re.findall(r"\s*\S+|\s+", text)


def block_start(index: int, block: Event) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def block_delta(index: int, delta: Event) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def new_id(kind: str) -> str:
    return f"{kind}_01{secrets.token_hex(11)}"


def encode_event(event: Event) -> bytes:
    """One server-sent event."""
    return b"event: %s\ndata: %s\n\n" % (event["type"].encode(), orjson.dumps(event))
