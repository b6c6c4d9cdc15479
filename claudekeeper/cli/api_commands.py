"""`claudekeeper sessions`, `search`, `send`, `interrupt`, `queue`, `resolve`, `usage`, `open`."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from claudekeeper.cli.api_client import ApiClient
from claudekeeper.core.paths import keeper_home

# control characters: a title from outside must not send commands to the terminal
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
# characters that hide text or change its order: people decide by what they read here. Joiners, as
# in some emoji, are allowed
_DECEPTIVE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)


def open_page(options: argparse.Namespace) -> None:
    """Prints a login link of the running Clarvis."""
    client = ApiClient(keeper_home())
    answer = client.call_clarvis("POST", "/login/code", {}, port=options.ui_port)
    print(answer["url"], flush=True)
    code = answer["code"]
    # on stderr, beside what a script reads; the code works once, in a link or by hand
    print(
        f"On another device, open Clarvis and enter {code} (within ten minutes).", file=sys.stderr
    )
    for name in client.allowed_hosts:
        print(f"  or open https://{name}/#login={code}", file=sys.stderr)


def sessions(options: argparse.Namespace) -> None:
    """Prints the newest sessions, one in each line."""
    answer = ApiClient(keeper_home()).call_keeper("GET", f"/sessions?limit={options.limit}")
    for session in answer["sessions"]:
        title = session["name"] or session["title"] or session["firstPrompt"] or "(nothing said)"
        questions = f" ({session['attention']} to answer)" if session["attention"] else ""
        workdir = printable(session["workdir"] or "?")
        title = f"{printable(title)[:80]}{_progress(session)}"
        print(f"{session['id']}  {session['state']:<8} {workdir}  {title}{questions}")


def _progress(session: dict[str, Any]) -> str:
    """The progress in the project's checklist or the session's tasks, if it has any."""
    if session.get("givenUp"):
        return " (given up)"
    progress = session.get("progress")
    if not progress:
        return ""
    if progress["of"] == "checklist":
        return f" (checklist {progress['percent']} %)"
    return f" ({progress['done']} of {progress['items']} tasks)"


def search(options: argparse.Namespace) -> int:
    """Prints matching messages; the exit code is 1 where there are none, as with grep."""
    query = {"q": " ".join(options.words), "limit": str(options.limit)}
    for name in ("workdir", "role", "kind", "after", "before", "order"):
        if getattr(options, name) is not None:
            query[name] = getattr(options, name)
    answer = ApiClient(keeper_home()).call_keeper("GET", f"/search?{urlencode(query)}")
    marks = ("\x1b[0m", "\x1b[1m") if sys.stdout.isatty() else ("", "")
    for hit in answer["hits"]:
        kind = "decision" if hit["decision"] else hit["kind"]
        print(
            f"{hit['sessionId']}  {hit['timestamp']}  {kind}  {printable(hit['title'] or '')[:60]}"
        )
        pieces = (
            f"{marks[piece['match']]}{printable(piece['text'])}{marks[False]}"
            for piece in hit["snippet"]
        )
        print(f"    {''.join(pieces)}")
    index = answer["index"]
    if index["stage"] != "ready":
        share = 100 * index["done"] // max(index["total"], 1)
        print(f"The index is being built: {share} % is looked through.", file=sys.stderr)
    return 0 if answer["hits"] else 1


def send(options: argparse.Namespace) -> None:
    """Sends a prompt, to the session where it belongs unless one is named."""
    text = sys.stdin.read() if options.text == "-" else options.text
    body: dict[str, Any] = {"text": text}
    if options.interrupt:
        body["interrupt"] = True
    if options.system_prompt is not None:
        body["systemPrompt"] = options.system_prompt or None
    if options.session:
        body["sessionId"] = options.session
    else:
        body["workdir"] = str(Path(options.workdir or ".").resolve())
        # with --interrupt the keeper refuses this, as the turn has to be named
        body["route"] = not options.new
    answer = ApiClient(keeper_home()).call_keeper("POST", "/send", body)
    if routing := answer.get("routing"):
        continuing = routing["action"] == "resume"
        title = (routing["title"] if continuing else None) or text
        print(f"{'Continuing' if continuing else 'Started'}: {printable(title)[:80]}")
        print(f"    {printable(routing['reason'])}")
        if mode := answer.get("leftPlanFor"):
            print(f"    It leaves plan mode and goes on with {printable(mode)}.")
    elif options.new:
        print(f"Started: {printable(text)[:80]}")
    print(f"{answer['sessionId']}  {answer['state']}")
    if (answer.get("systemPrompt") or {}).get("pending"):
        print("    The system prompt changes with the session's next process.")


def interrupt(options: argparse.Namespace) -> None:
    """Stops the turn under way; the queue goes on, or is held."""
    address = f"/sessions/{quote(options.session)}/interrupt"
    answer = ApiClient(keeper_home()).call_keeper("POST", address, {"hold": options.hold})
    print("Stopped." if answer["interrupted"] else "No turn is under way there.")
    if held := answer["held"]:
        to_send = f"claudekeeper queue {printable(options.session)} send"
        print(f"{_count_messages(held)} held. To send them: {to_send}")


def queue(options: argparse.Namespace) -> None:
    """Shows the queue, sends held messages, or discards them after showing them a last time."""
    client = ApiClient(keeper_home())
    address = f"/sessions/{quote(options.session)}/queue"
    if options.action == "send":
        only = {"uuids": options.uuids} if options.uuids else {}
        sent = client.call_keeper("POST", f"{address}/send", {"wait": True, **only})["uuids"]
        print(f"{_count_messages(len(sent))} sent.")
        return
    query = "?state=held" if options.action == "discard" and not options.uuids else ""
    messages = client.call_keeper("GET", f"{address}{query}")["messages"]
    if options.uuids:
        by_uuid = {message["uuid"]: message for message in messages}
        uuids = [uuid.lower() for uuid in options.uuids]
        # a message that is not in the queue is refused by the keeper
        messages = [
            by_uuid.get(uuid, {"uuid": uuid, "state": "gone", "content": []}) for uuid in uuids
        ]
    for message in messages:
        if options.action == "discard":
            client.call_keeper("DELETE", f"{address}/{quote(message['uuid'])}")
            message["state"] = "discarded"
        print(f"{printable(message['uuid'])}  {message['state']}")
        for line in _text_of(message).splitlines():
            print(f"    {printable(line)}")


def _count_messages(amount: int) -> str:
    return f"{amount} message" if amount == 1 else f"{amount} messages"


def _text_of(message: dict[str, Any]) -> str:
    blocks = message["content"]
    others = [f"({block['type']})" for block in blocks if block["type"] != "text"]
    return "\n".join([*(block.get("text", "") for block in blocks if "text" in block), *others])


def resolve(options: argparse.Namespace) -> None:
    """Answers a question; without an id it lists the open ones."""
    client = ApiClient(keeper_home())
    if options.id is None:
        for question in client.call_keeper("GET", "/attention")["attention"]:
            what = printable(question["title"] or question["tool"])
            print(f"{question['id']}  {question['sessionId']}  {question['kind']}: {what}")
            about = question["description"] if question["kind"] == "ceiling" else None
            print(f"    {printable(about or str(question['input']))[:200]}")
        return
    body: dict[str, Any] = {"attentionId": options.id, "decision": options.decision}
    if options.message:
        body["message"] = options.message
    if options.interrupt or options.hold:
        body |= {"interrupt": True, "hold": options.hold}
    if options.answer:
        body["answers"] = dict(each.split("=", 1) for each in options.answer)
    if options.further:
        body["updatedInput"] = {"further": dict(options.further)}
    answer = client.call_keeper("POST", "/resolve", body | {"by": "terminal"})
    print(f"{answer['attentionId']}  {answer['decision']}")


def usage(options: argparse.Namespace) -> None:
    """Prints tokens and cost, and their sum."""
    parameters = {"by": options.by, "after": options.after, "before": options.before}
    query = "&".join(f"{name}={quote(value)}" for name, value in parameters.items() if value)
    answer = ApiClient(keeper_home()).call_keeper("GET", f"/usage?{query}")
    rows = [(printable(row["label"])[:40], row) for row in answer["rows"]]
    width = max([len(options.by), len("total"), *(len(label) for label, _ in rows)])
    names = ("input", "output", "cacheWrite", "cacheRead")
    titles = ("input", "output", "cache write", "cache read")
    print(f"{options.by:<{width}}" + "".join(f"{each:>16}" for each in titles) + f"{'cost':>12}")
    for label, row in [*rows, ("total", answer["total"])]:
        numbers = "".join(f"{row[name]:>16,}" for name in names)
        print(f"{label:<{width}}{numbers}{'$' + format(row['costUsd'], ',.2f'):>12}")
    if not answer["complete"]:
        print("Not every transcript has been read yet: try again in a moment.")


def printable(text: str) -> str:
    plain = _CONTROL.sub(" ", text)
    return _DECEPTIVE.sub(lambda match: match[0].encode("unicode_escape").decode(), plain)
