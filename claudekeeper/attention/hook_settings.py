"""Our hooks in Claude Code's own settings: put in, taken out, and nothing else touched."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import sys
import tempfile
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

import msgspec
import orjson

from claudekeeper.core.atomic_files import replace_file
from claudekeeper.core.json_edit import (
    Malformed,
    Value,
    add_element,
    add_member,
    decode,
    parse,
    remove_element,
    remove_member,
)
from claudekeeper.net.errors import ApiError

# how long a prompt in a terminal may wait for an answer from here: a day
PROMPT_TIMEOUT = 86_400
NOTIFICATION_TIMEOUT = 10
PERMISSION_EVENT = "PermissionRequest"
NOTIFICATION_EVENTS = ("Notification", "Stop", "SessionStart", "SessionEnd")
EVENTS = (PERMISSION_EVENT, *NOTIFICATION_EVENTS)
# what tells our hooks from others
HOOK_MARKER = str(Path("claudekeeper", "hook.py"))
# what tells a file that was being written from others, when a kill left it behind
TEMPORARY_PREFIX = ".settings.json.claudekeeper-"
# of a line in a difference: settings can hold anything
MAX_LINE_CHARACTERS = 500
CONTEXT_LINES = 3


class HookSettingsUnusable(ApiError):
    code = "settings_unusable"
    sentence = "Claude Code's settings cannot be changed."


class SettingsBackup(msgspec.Struct):
    """What was there before, so that it can be as it was again."""

    path: str
    # None: there was no file
    before: str | None
    after: str


def hook_command(home: Path) -> str:
    """What Claude Code is to run: nothing but the standard library is imported."""
    script = Path(__file__).resolve().parent.parent / "hook.py"
    return shlex.join([sys.executable, "-IS", str(script), str(home.resolve())])


class ClaudeSettingsFile:
    """The settings file of one user."""

    def __init__(self, claude_home: Path, keeper_home: Path) -> None:
        # people keep it elsewhere and link to it: the link stays one
        self.path = Path(os.path.realpath(claude_home / "settings.json"))
        self._keeper_home = keeper_home
        self._backup_file = keeper_home / "hooks.json"
        self.text = self._read()

    def _read(self) -> str | None:
        try:
            # a pipe would keep whoever reads it waiting
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise HookSettingsUnusable(f"{self.path} is no ordinary file.")
            # bytes and text are to be one and the same: newlines and odd bytes as they are
            return self.path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise HookSettingsUnusable(f"{self.path} cannot be read: {error.strerror}.") from error

    def check_writable(self) -> None:
        """Before anybody is asked: whoever takes the right to write from a file means it."""
        if self.text is None:
            return
        facts = self.path.stat()
        if facts.st_nlink > 1:
            # a file that is replaced is another one; written in place, a kill could tear it
            raise HookSettingsUnusable(
                f"{self.path} has another name elsewhere (a hard link), which would be left with "
                "what it has now. Nothing was changed: make one of the two a symbolic link first."
            )
        if not facts.st_mode & 0o222:
            raise HookSettingsUnusable(
                f"{self.path} is read-only. Nothing was changed: "
                f"chmod u+w it first, or change it where it is made."
            )

    # ---- what would be written ----

    def installed_events(self) -> list[str]:
        """The events that reach us now, by the very command we would put in."""
        text = self.text
        if not (text or "").strip():
            return []
        hooks = self._parse(text or "")["hooks"]
        ours = hook_command(self._keeper_home)
        return [event for event in EVENTS if ours in _our_commands(text or "", hooks, event)]

    def with_hooks(self) -> str:
        """The text with our hooks, each once; older ones of ours make way."""
        text = self.text or ""
        if not text.strip():
            text = "{}\n"
        elif self.installed_events() == list(EVENTS):
            return text
        else:
            text = self.without_hooks(keep_empty=True)
        for event in EVENTS:
            text = self._with_event(text, event)
        return text

    def _with_event(self, text: str, event: str) -> str:
        entry = _hook_group(event, hook_command(self._keeper_home))
        root = self._parse(text)
        hooks = root["hooks"]
        if "hooks" in root.duplicate_names or (
            hooks is not None and event in hooks.duplicate_names
        ):
            raise HookSettingsUnusable(
                f"Of two hooks in {self.path} one is ignored. Mend it first."
            )
        if hooks is None:
            return add_member(text, root, "hooks", f'{{\n  "{event}": [\n    {entry}\n  ]\n}}')
        if hooks.members is None:
            raise HookSettingsUnusable(f'"hooks" in {self.path} is not an object. Mend it first.')
        groups = hooks[event]
        if groups is None:
            return add_member(text, hooks, event, f"[\n  {entry}\n]")
        if groups.elements is None:
            raise HookSettingsUnusable(f'"hooks.{event}" in {self.path} is no list. Mend it first.')
        return add_element(text, groups, entry)

    def without_hooks(self, *, keep_empty: bool = False) -> str:
        """The text without our hooks; what they alone made necessary goes with them."""
        text = self.text or ""
        if not text.strip():
            return text
        for event in EVENTS:
            text = self._without_event(text, event, keep_empty)
        return text

    def _without_event(self, text: str, event: str, keep_empty: bool) -> str:
        while True:
            hooks = self._parse(text)["hooks"]
            groups = hooks[event] if hooks is not None else None
            ours = _our_groups(text, groups)
            if hooks is None or groups is None or not ours:
                return text
            if len(groups.elements or []) > 1 or keep_empty:
                text = remove_element(text, groups, ours[-1])
            elif len(hooks.members or {}) > 1:
                text = remove_member(text, hooks, event)
            else:
                text = remove_member(text, self._parse(text), "hooks")

    def _parse(self, text: str) -> Value:
        try:
            root = _parse_settings(text)
        except Malformed as error:
            raise HookSettingsUnusable(
                f"{self.path} is not valid JSON ({error}). Mend it first."
            ) from error
        if root.members is None:
            raise HookSettingsUnusable(f"{self.path} does not hold an object.")
        return root

    def hooks_disabled(self) -> bool:
        """Whether the settings say that no hooks are run at all."""
        text = self.text or ""
        value = self._parse(text)["disableAllHooks"] if text.strip() else None
        return value is not None and decode(text, value) is True

    # ---- writing ----

    def install(self) -> None:
        self._check_unchanged()
        after = self.with_hooks()
        backup = self._read_backup()
        if backup is not None and backup.after == self.text:
            # a second install does not forget what was there before the first
            before = backup.before
        else:
            # older hooks of ours are not to come back
            before = self.text and self.without_hooks()
        replace_file(
            self._backup_file,
            msgspec.json.encode(_escape_backup(SettingsBackup(str(self.path), before, after))),
        )
        self._write(after)

    def uninstall(self) -> None:
        self._check_unchanged()
        backup = self._read_backup()
        if backup is not None and backup.after == self.text:
            if backup.before is None:
                self.path.unlink(missing_ok=True)
            else:
                self._write(backup.before)
        elif self.text is not None:
            self._write(self.without_hooks())
        self._backup_file.unlink(missing_ok=True)

    def _check_unchanged(self) -> None:
        self.check_writable()
        if self._read() != self.text:
            # Claude Code writes there too, while a person thinks about a question
            raise HookSettingsUnusable(
                f"{self.path} was changed meanwhile, and is left as it is. Try again."
            )

    def text_after_uninstall(self) -> str:
        """The text that `uninstall` would leave; empty where it would leave no file."""
        backup = self._read_backup()
        if backup is not None and backup.after == self.text:
            return backup.before or ""
        return self.without_hooks()

    def _read_backup(self) -> SettingsBackup | None:
        try:
            record = msgspec.json.decode(self._backup_file.read_bytes(), type=SettingsBackup)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None
        record = _unescape_backup(record)
        return record if record.path == str(self.path) else None

    def _write(self, text: str) -> None:
        """Replaced at once, with the owner and mode it had; what was there stays beside ours."""
        content = text.encode("utf-8", "surrogateescape")
        try:
            facts = self.path.stat() if self.path.exists() else None
            if self.text is not None:
                backup = self._keeper_home / "settings.json.backup"
                replace_file(backup, self.text.encode("utf-8", "surrogateescape"))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for leftover in self.path.parent.glob(f"{TEMPORARY_PREFIX}*"):
                leftover.unlink(missing_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=TEMPORARY_PREFIX)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    if facts is not None:
                        # another's, where root does it for them
                        with contextlib.suppress(PermissionError):
                            os.fchown(file.fileno(), facts.st_uid, facts.st_gid)
                    os.fchmod(file.fileno(), facts.st_mode & 0o777 if facts is not None else 0o600)
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                Path(temporary).replace(self.path)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(temporary).unlink()
                raise
        except OSError as error:
            raise HookSettingsUnusable(
                f"{self.path} cannot be written: {error.strerror}."
            ) from error
        self.text = text


def difference(before: str | None, after: str, path: Path) -> str:
    """What would change, as people read it."""
    # for a command that is typed once: a keeper that idles for months does without
    import difflib

    old = (before or "").splitlines(keepends=True)
    new = after.splitlines(keepends=True)
    # the lines around are the same, and there may be millions: they are not to be compared
    same = _common_prefix_length(old, new)
    below = _common_prefix_length(old[same:][::-1], new[same:][::-1])
    lines = difflib.unified_diff(
        old[max(same - CONTEXT_LINES, 0) : len(old) - max(below - CONTEXT_LINES, 0)],
        new[max(same - CONTEXT_LINES, 0) : len(new) - max(below - CONTEXT_LINES, 0)],
        str(path),
        str(path),
        n=CONTEXT_LINES,
    )
    return "".join(f"{_printable(line)}\n" for line in lines if not line.startswith("@@"))


def _common_prefix_length(old: list[str], new: list[str]) -> int:
    """With how many equal lines both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _printable(line: str) -> str:
    """On a line of its own, not too long, and in letters that any terminal takes."""
    line = line.rstrip("\r\n").encode("utf-8", "backslashreplace").decode()
    more = len(line) - MAX_LINE_CHARACTERS
    return f"{line[:MAX_LINE_CHARACTERS]} … ({more} letters more)" if more > 0 else line


@lru_cache(maxsize=1)
def _parse_settings(text: str) -> Value:
    return parse(text, "hooks")


def _hook_group(event: str, ours: str) -> str:
    """One group of the settings, on one line: it is easily seen and easily taken out."""
    if event == PERMISSION_EVENT:
        hook = {"type": "command", "command": ours, "timeout": PROMPT_TIMEOUT}
        return orjson.dumps({"matcher": "*", "hooks": [hook]}).decode()
    # nobody waits for these
    hook = {"type": "command", "command": ours, "timeout": NOTIFICATION_TIMEOUT, "async": True}
    return orjson.dumps({"hooks": [hook]}).decode()


def _our_groups(text: str, groups: Value | None) -> list[int]:
    """Which groups hold nothing but a hook of ours, also one of another place or version."""
    own_indexes = []
    for index, group in enumerate((groups.elements if groups is not None else None) or []):
        content = decode(text, group)
        hooks = content.get("hooks") if isinstance(content, dict) else None
        commands = [_command_of(hook) for hook in hooks] if isinstance(hooks, list) else []
        if commands and all(HOOK_MARKER in each for each in commands):
            own_indexes.append(index)
    return own_indexes


def _our_commands(text: str, hooks: Value | None, event: str) -> list[str]:
    groups = hooks[event] if hooks is not None else None
    indexes = _our_groups(text, groups)
    elements = (groups.elements if groups is not None else None) or []
    commands = []
    for index in indexes:
        content = decode(text, elements[index])
        assert isinstance(content, dict)
        commands += [_command_of(hook) for hook in content["hooks"]]
    return commands


def _command_of(hook: object) -> str:
    value = hook.get("command") if isinstance(hook, dict) else None
    return value if isinstance(value, str) else ""


def _escape_backup(record: SettingsBackup) -> SettingsBackup:
    """Bytes that are no UTF-8 survive in a form that JSON can hold."""
    return SettingsBackup(record.path, _escape(record.before), _escape(record.after) or "")


def _unescape_backup(record: SettingsBackup) -> SettingsBackup:
    return SettingsBackup(record.path, _unescape(record.before), _unescape(record.after) or "")


def _escape(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "surrogateescape").decode("latin-1")


def _unescape(text: str | None) -> str | None:
    return None if text is None else text.encode("latin-1").decode("utf-8", "surrogateescape")
