"""What became of files, from the calls that changed them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from claudekeeper.analysis import file_changes
from claudekeeper.analysis.file_changes import FileChange, FileChanges, deleted_files
from claudekeeper.transcripts.entries import Entry, EntryMessage

WORKDIR = "/code/shop"


def made(*calls: tuple[str, dict[str, Any], Any], failed: bool = False) -> list[FileChange]:
    """The changes of these calls: tool, input, and what Claude Code kept of the result."""
    changes = FileChanges()
    for number, (tool, call_input, record) in enumerate(calls):
        block = {"type": "tool_use", "id": f"c{number}", "name": tool, "input": call_input}
        changes.add(Entry(type="assistant", cwd=WORKDIR, message=message_of([block])))
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "is_error": failed}
        raw = Raw(msgspec.json.encode(record))
        changes.add(
            Entry(type="user", uuid=f"u{number}", message=message_of([result]), tool_use_result=raw)
        )
    return changes.finish()


def message_of(blocks: list[Any]) -> EntryMessage:
    return EntryMessage(content=Raw(msgspec.json.encode(blocks)))


def edit(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"file_path": "/a.py", "old_string": old, "new_string": new, **more}


def test_the_whole_text_before_and_after_is_known_where_it_was_written_down() -> None:
    (file,) = made(
        ("Edit", edit("a", "b"), {"originalFile": "a a\n"}),
        ("Edit", edit("b", "c", replace_all=True), {"originalFile": "b b\n"}),
    )
    assert (file.fate, file.edits, file.before, file.after) == ("changed", 2, "a a\n", "c c\n")
    assert (file.pieces, file.uuid) == ([], "u1")


def test_several_edits_of_one_call_are_made_one_after_another() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c"}]
    call_input = {"file_path": "/a.py", "edits": edits}
    (file,) = made(("MultiEdit", call_input, {"originalFile": "a"}))
    assert (file.before, file.after) == ("a", "c")


def test_without_the_text_the_edits_are_told() -> None:
    (file,) = made(("Edit", edit("a", "b"), {}), ("Edit", edit("x", "y"), None))
    assert (file.before, file.after) == (None, None)
    assert [(piece.before, piece.after) for piece in file.pieces] == [("a", "b"), ("x", "y")]


def test_a_new_file_is_created_and_a_cell_is_a_piece() -> None:
    new = {"file_path": "/n.py", "content": "x"}
    files = made(
        ("Write", new, {"type": "create", "originalFile": None}),
        ("Write", {**new, "file_path": "/o.py"}, {"type": "update", "originalFile": "o"}),
        ("NotebookEdit", {"notebook_path": "/n.ipynb", "new_source": "1"}, {}),
    )
    assert [(file.path, file.fate, file.after) for file in files] == [
        ("/n.py", "created", "x"),
        ("/o.py", "changed", "x"),
        ("/n.ipynb", "changed", None),
    ]
    assert files[2].pieces[0].after == "1"


def test_what_failed_was_not_done() -> None:
    assert made(("Edit", edit("a", "b"), {}), failed=True) == []


def test_what_came_and_went_is_not_told_and_what_was_there_is() -> None:
    new = {"file_path": "/n.py", "content": "x"}
    files = made(
        ("Write", new, {"type": "create"}),
        ("Edit", edit("a", "b"), {"originalFile": "a"}),
        ("Bash", {"command": "rm /n.py /a.py"}, {}),
    )
    assert [(file.path, file.fate, file.before, file.after) for file in files] == [
        ("/a.py", "deleted", "a", None)
    ]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("rm a.py", ["a.py"]),
        ("rm -rf -- build 'with space.py'", ["build", "with space.py"]),
        ("make && rm a.py; git rm b.py", ["a.py", "b.py"]),
        ("git mv a.py b.py", ["a.py"]),
        ("rm ./x/../a.py", ["a.py"]),
        # not sure which
        ("rm *.py $FILE `x` ~/a", []),
        ("cd elsewhere && rm a.py", []),
        ("echo rm a.py", []),
        ("echo 'rm a.py", []),
        ("", []),
    ],
)
def test_only_what_a_command_surely_deletes_is_deleted(command: str, files: list[str]) -> None:
    assert deleted_files(command, WORKDIR) == [f"{WORKDIR}/{file}" for file in files]
    assert deleted_files("cd x\nrm /abs.py", None) == ["/abs.py"]


def test_no_more_is_told_than_a_client_can_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_changes, "MAX_FILES", 2)
    monkeypatch.setattr(file_changes, "MAX_FILE_TEXT", 10)
    changes = FileChanges()
    lengths = [20, *[5] * 7]
    inputs = [{"file_path": f"/{n % 4}", "content": "x" * size} for n, size in enumerate(lengths)]
    calls = [
        {"type": "tool_use", "id": f"c{n}", "name": "Write", "input": each}
        for n, each in enumerate(inputs)
    ]
    changes.add(Entry(type="assistant", message=message_of(calls[:1])))
    changes.add(Entry(type="assistant", message=message_of(calls[1:4])))
    for number in range(4):
        result = {"type": "tool_result", "tool_use_id": f"c{number}"}
        changes.add(Entry(type="user", message=message_of([result])))
    first, second = changes.finish()
    assert (first.after, first.cut) == (None, True)
    assert (second.after, second.cut) == ("xxxxx", False)
    assert changes.more_files == 2


@pytest.mark.parametrize(
    "content",
    [b'"tool_use"', b'[{"type":"tool_use"}]', b'["tool_use"]', b'[{"type":"tool_use","input":1}]'],
)
def test_what_is_strange_is_passed_over(content: bytes) -> None:
    changes = FileChanges()
    changes.add(Entry(type="assistant", message=EntryMessage(content=Raw(content))))
    changes.add(Entry(type="user", message=EntryMessage(content=Raw(b"[1]"))))
    assert changes.finish() == []
