"""The context view: what the model still sees, uuid for uuid as the SDK reads it.

The rule: every line with a uuid is a node; a node without children is a tip; from each tip the
nearest user or assistant line is a leaf; the last leaf of the main conversation wins; its parents
are the chain. Replies with parallel tools fan out, so the missing calls and results of a reply on
the chain are put back after it. A compaction's logical parent is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from claudekeeper.contract.message import MessageKind
from claudekeeper.transcripts.entries import Entry, blocks_of


class ContextNode(msgspec.Struct, gc=False):
    """A line as a node of the chain."""

    uuid: str
    parent: str | None
    offset: int
    length: int
    is_message: bool
    is_assistant: bool
    is_hidden: bool
    is_aside: bool
    agent_id: str | None
    is_sidechain: bool
    timestamp: str
    reply_id: str | None = None
    source_uuid: str | None = None
    call_ids: tuple[str, ...] = ()
    result_ids: tuple[str, ...] = ()
    has_result: bool = False
    kind: MessageKind | None = None


def node_of(entry: Entry, offset: int, length: int) -> ContextNode | None:
    """The node of a line; None where the SDK's reader drops the line."""
    if not entry.is_whole_line or not entry.is_in_chain:
        return None
    assert entry.uuid is not None
    assistant = entry.type == "assistant"
    spoken = assistant or entry.type == "user"
    apart = entry.is_sidechain or bool(entry.team_name)
    node = ContextNode(
        uuid=entry.uuid,
        parent=entry.parent_uuid or None,
        offset=offset,
        length=length,
        is_message=spoken,
        is_assistant=assistant,
        is_hidden=not spoken or entry.is_meta or apart,
        is_aside=entry.is_meta or apart,
        agent_id=entry.agent_id,
        is_sidechain=entry.is_sidechain,
        timestamp=entry.timestamp or "",
    )
    if assistant:
        node.reply_id = entry.message.id or None
        if b'"tool_' in bytes(entry.message.content):
            node.call_ids, node.result_ids, _ = _tool_ids(entry)
    elif entry.type == "user" and b'"tool_result"' in bytes(entry.message.content):
        node.source_uuid = entry.source_tool_assistant_uuid
        node.call_ids, node.result_ids, node.has_result = _tool_ids(entry)
    return node


def _tool_ids(entry: Entry) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    blocks = blocks_of(entry.message.content)
    calls = tuple(b.id for b in blocks if b.type == "tool_use" and b.id is not None)
    results = [block for block in blocks if block.type == "tool_result"]
    answers = tuple(block.tool_use_id for block in results if block.tool_use_id is not None)
    return calls, answers, bool(results)


def context_chain(nodes: Sequence[ContextNode]) -> list[ContextNode]:
    """The visible messages of the conversation as it stands, oldest first."""
    by_uuid = {node.uuid: node for node in nodes}
    leaf = _find_leaf(nodes, by_uuid)
    if leaf is None:
        return []
    chain = list(_ancestors(leaf, by_uuid))
    chain.reverse()
    return [node for node in _with_parallel_tools(chain, by_uuid) if not node.is_hidden]


def _ancestors(node: ContextNode | None, by_uuid: dict[str, ContextNode]) -> Iterable[ContextNode]:
    """The node, its parent, and so on, up to a root or a circle."""
    seen: set[str] = set()
    while node is not None and node.uuid not in seen:
        seen.add(node.uuid)
        yield node
        node = by_uuid.get(node.parent) if node.parent else None


def _find_leaf(nodes: Sequence[ContextNode], by_uuid: dict[str, ContextNode]) -> ContextNode | None:
    parents = {node.parent for node in nodes if node.parent}
    index_by_uuid = {node.uuid: index for index, node in enumerate(nodes)}
    leaves: list[ContextNode] = []
    for tip in nodes:
        if tip.uuid in parents:
            continue
        # a tip written twice walks from its own, perhaps older, copy
        leaf = next((node for node in _ancestors(tip, by_uuid) if node.is_message), None)
        if leaf is not None:
            leaves.append(leaf)
    candidates = [leaf for leaf in leaves if not leaf.is_aside] or leaves
    return max(candidates, key=lambda leaf: index_by_uuid[leaf.uuid], default=None)


def _with_parallel_tools(
    chain: list[ContextNode], by_uuid: dict[str, ContextNode]
) -> list[ContextNode]:
    """The chain with the calls and results of its replies that the walk did not reach."""
    anchors = {node.reply_id: node for node in chain if node.is_assistant and node.reply_id}
    if not anchors:
        return chain
    replies: dict[str, list[ContextNode]] = {}
    callers: dict[str, ContextNode | None] = {}
    results: list[ContextNode] = []
    for node in by_uuid.values():
        if node.is_assistant and node.reply_id:
            replies.setdefault(node.reply_id, []).append(node)
            for call in node.call_ids:
                earlier = callers.get(call, node)
                # a call that two replies claim is nobody's
                same = earlier is not None and earlier.reply_id == node.reply_id
                callers[call] = node if same else None
        elif node.has_result and node.parent:
            results.append(node)
    placed = _results_by_caller(results, callers, by_uuid)
    seen = {node.uuid for node in chain}
    answered: set[str] | None = None
    order = {uuid: index for index, uuid in enumerate(by_uuid)}
    inserted: dict[str, list[ContextNode]] = {}
    for reply, anchor in anchors.items():
        group = replies.get(reply, [anchor])
        members = {member.uuid for member in group}
        siblings = [member for member in group if member.uuid not in seen]
        unseen: dict[str, ContextNode] = {}
        for member in group:
            for result in placed.get(member.uuid, ()):
                if result.uuid not in seen:
                    unseen.setdefault(result.uuid, result)
        own = [result for result in unseen.values() if result.parent in members]
        strays = [result for result in unseen.values() if result.parent not in members]
        if strays:
            if answered is None:
                answered = {answer for node in chain for answer in node.result_ids}
            own += _results_of_open_calls(strays, own, members, answered, callers, order)
        siblings.sort(key=lambda node: node.timestamp)
        own.sort(key=lambda node: node.timestamp)
        if siblings or own:
            seen.update(node.uuid for node in siblings + own)
            inserted[anchor.uuid] = siblings + own
    if not inserted:
        return chain
    return [each for node in chain for each in (node, *inserted.get(node.uuid, ()))]


def _results_by_caller(
    results: list[ContextNode],
    callers: dict[str, ContextNode | None],
    by_uuid: dict[str, ContextNode],
) -> dict[str, list[ContextNode]]:
    """Each result under the assistant lines it may belong to."""
    placed: dict[str, list[ContextNode]] = {}
    for result in results:
        assert result.parent is not None
        placed.setdefault(result.parent, []).append(result)
        source = by_uuid.get(result.source_uuid) if result.source_uuid is not None else None
        if source is not None and _same_writer(result, source):
            placed.setdefault(source.uuid, []).append(result)
        for answer in result.result_ids:
            caller = callers.get(answer)
            if caller is not None and _same_writer(result, caller):
                placed.setdefault(caller.uuid, []).append(result)
    return placed


def _results_of_open_calls(
    strays: list[ContextNode],
    own: list[ContextNode],
    members: set[str],
    answered_on_chain: set[str],
    callers: dict[str, ContextNode | None],
    order: dict[str, int],
) -> list[ContextNode]:
    """Of the results with other parents, those that answer a call without a result."""
    answered = answered_on_chain | {answer for result in own for answer in result.result_ids}
    results: list[ContextNode] = []
    for result in sorted(strays, key=lambda node: order[node.uuid]):
        for answer in result.result_ids:
            caller = callers.get(answer)
            if answer not in answered and caller is not None and caller.uuid in members:
                answered.update(result.result_ids)
                results.append(result)
                break
    return results


def _same_writer(a: ContextNode, b: ContextNode) -> bool:
    return a.is_sidechain == b.is_sidechain and a.agent_id == b.agent_id
