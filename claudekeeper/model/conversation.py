"""What the model still sees: the chain of one transcript, uuid for uuid as the SDK reads it.

The rule: every line with a uuid is a node; a node nobody hangs on is a tip; from each tip the
nearest user or assistant line is a leaf; the last leaf of the main conversation wins; its parents
are the chain. Replies with parallel tools fan out, so what the walk missed of a reply on the
chain is put back behind it. A compaction's logical parent is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from claudekeeper.model.entries import Entry, blocks_of
from claudekeeper.model.messages import Kind


class Node(msgspec.Struct, gc=False):
    """A line as the chain sees it."""

    uuid: str
    parent: str | None
    offset: int
    length: int
    spoken: bool
    assistant: bool
    hidden: bool
    aside: bool
    agent: str | None
    sidechain: bool
    timestamp: str
    reply: str | None = None
    source: str | None = None
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    has_result: bool = False
    kind: Kind | None = None


def node_of(entry: Entry, offset: int, length: int) -> Node | None:
    """The node of a line; None where the SDK's reader drops the line."""
    if not entry.whole or not entry.in_chain:
        return None
    assert entry.uuid is not None
    assistant = entry.type == "assistant"
    spoken = assistant or entry.type == "user"
    apart = entry.is_sidechain or bool(entry.team_name)
    node = Node(
        uuid=entry.uuid,
        parent=entry.parent_uuid or None,
        offset=offset,
        length=length,
        spoken=spoken,
        assistant=assistant,
        hidden=not spoken or entry.is_meta or apart,
        aside=entry.is_meta or apart,
        agent=entry.agent_id,
        sidechain=entry.is_sidechain,
        timestamp=entry.timestamp or "",
    )
    if assistant:
        node.reply = entry.message.id or None
        if b'"tool_' in bytes(entry.message.content):
            node.calls, node.answers, _ = _ties(entry)
    elif entry.type == "user" and b'"tool_result"' in bytes(entry.message.content):
        node.source = entry.source_tool_assistant_uuid
        node.calls, node.answers, node.has_result = _ties(entry)
    return node


def _ties(entry: Entry) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    blocks = blocks_of(entry.message.content)
    calls = tuple(b.id for b in blocks if b.type == "tool_use" and b.id is not None)
    results = [block for block in blocks if block.type == "tool_result"]
    answers = tuple(block.tool_use_id for block in results if block.tool_use_id is not None)
    return calls, answers, bool(results)


def context_chain(nodes: Sequence[Node]) -> list[Node]:
    """The visible messages of the conversation as it stands, oldest first."""
    by_uuid = {node.uuid: node for node in nodes}
    leaf = _leaf(nodes, by_uuid)
    if leaf is None:
        return []
    chain = list(_upwards(leaf, by_uuid))
    chain.reverse()
    return [node for node in _with_parallel_tools(chain, by_uuid) if not node.hidden]


def _upwards(node: Node | None, by_uuid: dict[str, Node]) -> Iterable[Node]:
    """The node, its parent, and so on, until a root or a circle."""
    seen: set[str] = set()
    while node is not None and node.uuid not in seen:
        seen.add(node.uuid)
        yield node
        node = by_uuid.get(node.parent) if node.parent else None


def _leaf(nodes: Sequence[Node], by_uuid: dict[str, Node]) -> Node | None:
    parents = {node.parent for node in nodes if node.parent}
    place = {node.uuid: index for index, node in enumerate(nodes)}
    leaves: list[Node] = []
    for tip in nodes:
        if tip.uuid in parents:
            continue
        # a tip written twice walks from its own, perhaps older, copy
        leaf = next((node for node in _upwards(tip, by_uuid) if node.spoken), None)
        if leaf is not None:
            leaves.append(leaf)
    candidates = [leaf for leaf in leaves if not leaf.aside] or leaves
    return max(candidates, key=lambda leaf: place[leaf.uuid], default=None)


def _with_parallel_tools(chain: list[Node], by_uuid: dict[str, Node]) -> list[Node]:
    """The chain with the calls and results of its replies that the walk did not reach."""
    anchors = {node.reply: node for node in chain if node.assistant and node.reply}
    if not anchors:
        return chain
    replies: dict[str, list[Node]] = {}
    callers: dict[str, Node | None] = {}
    results: list[Node] = []
    for node in by_uuid.values():
        if node.assistant and node.reply:
            replies.setdefault(node.reply, []).append(node)
            for call in node.calls:
                known = callers.get(call, node)
                # a call that two replies claim is nobody's
                same = known is not None and known.reply == node.reply
                callers[call] = node if same else None
        elif node.has_result and node.parent:
            results.append(node)
    placed = _results_by_caller(results, callers, by_uuid)
    seen = {node.uuid for node in chain}
    answered: set[str] | None = None
    order = {uuid: index for index, uuid in enumerate(by_uuid)}
    inserted: dict[str, list[Node]] = {}
    for reply, anchor in anchors.items():
        group = replies.get(reply, [anchor])
        members = {member.uuid for member in group}
        siblings = [member for member in group if member.uuid not in seen]
        found: dict[str, Node] = {}
        for member in group:
            for result in placed.get(member.uuid, ()):
                if result.uuid not in seen:
                    found.setdefault(result.uuid, result)
        own = [result for result in found.values() if result.parent in members]
        strays = [result for result in found.values() if result.parent not in members]
        if strays:
            if answered is None:
                answered = {answer for node in chain for answer in node.answers}
            own += _answering(strays, own, members, answered, callers, order)
        siblings.sort(key=lambda node: node.timestamp)
        own.sort(key=lambda node: node.timestamp)
        if siblings or own:
            seen.update(node.uuid for node in siblings + own)
            inserted[anchor.uuid] = siblings + own
    if not inserted:
        return chain
    return [each for node in chain for each in (node, *inserted.get(node.uuid, ()))]


def _results_by_caller(
    results: list[Node], callers: dict[str, Node | None], by_uuid: dict[str, Node]
) -> dict[str, list[Node]]:
    """Each result under the assistant lines it may belong to."""
    placed: dict[str, list[Node]] = {}
    for result in results:
        assert result.parent is not None
        placed.setdefault(result.parent, []).append(result)
        source = by_uuid.get(result.source) if result.source is not None else None
        if source is not None and _same_writer(result, source):
            placed.setdefault(source.uuid, []).append(result)
        for answer in result.answers:
            caller = callers.get(answer)
            if caller is not None and _same_writer(result, caller):
                placed.setdefault(caller.uuid, []).append(result)
    return placed


def _answering(
    strays: list[Node],
    own: list[Node],
    members: set[str],
    answered_on_chain: set[str],
    callers: dict[str, Node | None],
    order: dict[str, int],
) -> list[Node]:
    """Of the results that hang elsewhere, those that answer a call still open."""
    answered = answered_on_chain | {answer for result in own for answer in result.answers}
    taken: list[Node] = []
    for result in sorted(strays, key=lambda node: order[node.uuid]):
        for answer in result.answers:
            caller = callers.get(answer)
            if answer not in answered and caller is not None and caller.uuid in members:
                answered.update(result.answers)
                taken.append(result)
                break
    return taken


def _same_writer(a: Node, b: Node) -> bool:
    return a.sidechain == b.sidechain and a.agent == b.agent
