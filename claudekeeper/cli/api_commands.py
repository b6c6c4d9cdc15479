"""`claudekeeper sessions`, `search`, `send`, `interrupt`, `queue`, `resolve`, `open`: the API at a
terminal."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from claudekeeper.cli.api_client import ApiClient
from claudekeeper.core.paths import keeper_home

# a title is whatever somebody wrote: nothing of it may speak to the terminal
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
# and nothing may hide, or turn the order of the rest: people decide by what they read there.
# What joins letters, as in some emoji, may stay
_DECEPTIVE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)


def open_page(options: argparse.Namespace) -> None:
    """Ask the running Clarvis for a login link; the token proves that this is its owner."""
    owner = ApiClient(keeper_home())
    answer = owner.call_clarvis("POST", "/login/code", {}, port=options.ui_port)
    print(answer["url"], flush=True)
    code = answer["code"]
    # beside what a script would read; a code opens the door once, whichever way it is used
    print(
        f"On another device, open Clarvis and enter {code} (within ten minutes).", file=sys.stderr
    )
    for name in owner.allowed_hosts:
        print(f"  or open https://{name}/#login={code}", file=sys.stderr)


def sessions(options: argparse.Namespace) -> None:
    """The newest sessions, one a line."""
    found = ApiClient(keeper_home()).call_keeper("GET", f"/sessions?limit={options.limit}")[
        "sessions"
    ]
    for session in found:
        title = session["name"] or session["title"] or session["firstPrompt"] or "(nothing said)"
        asks = f" ({session['attention']} to answer)" if session["attention"] else ""
        place = printable(session["workdir"] or "?")
        title = f"{printable(title)[:80]}{_progress(session)}"
        print(f"{session['id']}  {session['state']:<8} {place}  {title}{asks}")


def _progress(session: dict[str, Any]) -> str:
    """Of the project's checklist or the session's own tasks, where there are any."""
    if session.get("givenUp"):
        return " (given up)"
    progress = session.get("progress")
    if not progress:
        return ""
    if progress["of"] == "checklist":
        return f" (checklist {progress['percent']} %)"
    return f" ({progress['done']} of {progress['items']} tasks)"


def search(options: argparse.Namespace) -> int:
    """What was said where, the newest first; 1 where nothing is found, as grep has it."""
    query = {"q": " ".join(options.words), "limit": str(options.limit)}
    for name in ("workdir", "role", "kind", "after", "before", "order"):
        if getattr(options, name) is not None:
            query[name] = getattr(options, name)
    answer = ApiClient(keeper_home()).call_keeper("GET", f"/search?{urlencode(query)}")
    marks = ("\x1b[0m", "\x1b[1m") if sys.stdout.isatty() else ("", "")
    for hit in answer["hits"]:
        who = "decision" if hit["decision"] else hit["kind"]
        print(
            f"{hit['sessionId']}  {hit['timestamp']}  {who}  {printable(hit['title'] or '')[:60]}"
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
    """Say something, where it belongs unless a session is named; Clarvis shows what comes of it."""
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
        # a turn that is to be stopped has to be named: the keeper says so
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
    """Stop the turn that runs; what waits in line goes on, or is held."""
    address = f"/sessions/{quote(options.session)}/interrupt"
    answer = ApiClient(keeper_home()).call_keeper("POST", address, {"hold": options.hold})
    print("Stopped." if answer["interrupted"] else "Nothing runs there.")
    if held := answer["held"]:
        to_send = f"claudekeeper queue {printable(options.session)} send"
        print(f"{_count_messages(held)} held. To send them: {to_send}")


def queue(options: argparse.Namespace) -> None:
    """What waits in line: shown, sent on, or discarded with its words shown for the last time."""
    terminal = ApiClient(keeper_home())
    address = f"/sessions/{quote(options.session)}/queue"
    if options.action == "send":
        only = {"uuids": options.uuids} if options.uuids else {}
        sent = terminal.call_keeper("POST", f"{address}/send", {"wait": True, **only})["uuids"]
        print(f"{_count_messages(len(sent))} sent on.")
        return
    wanted = "?state=held" if options.action == "discard" and not options.uuids else ""
    messages = terminal.call_keeper("GET", f"{address}{wanted}")["messages"]
    if options.uuids:
        known = {message["uuid"]: message for message in messages}
        uuids = [uuid.lower() for uuid in options.uuids]
        # of those that do not wait there, the keeper says so
        messages = [
            known.get(uuid, {"uuid": uuid, "state": "gone", "content": []}) for uuid in uuids
        ]
    for message in messages:
        if options.action == "discard":
            terminal.call_keeper("DELETE", f"{address}/{quote(message['uuid'])}")
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
    """Answer a question; without one, show those that are open."""
    terminal = ApiClient(keeper_home())
    if options.id is None:
        for question in terminal.call_keeper("GET", "/attention")["attention"]:
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
    answer = terminal.call_keeper("POST", "/resolve", body | {"by": "terminal"})
    print(f"{answer['attentionId']}  {answer['decision']}")


def usage(options: argparse.Namespace) -> None:
    """Tokens and cost, a line each, and the sum of all."""
    wish = {"by": options.by, "after": options.after, "before": options.before}
    query = "&".join(f"{name}={quote(value)}" for name, value in wish.items() if value)
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
        print("Not every transcript has been read yet: ask again in a moment.")


def printable(text: str) -> str:
    shown = _CONTROL.sub(" ", text)
    return _DECEPTIVE.sub(lambda found: found[0].encode("unicode_escape").decode(), shown)
