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

from claudekeeper.files import write_whole
from claudekeeper.model.errors import KeeperError
from claudekeeper.model.jsontext import (
    Malformed,
    Value,
    add_element,
    add_member,
    decoded,
    read,
    without_element,
    without_member,
)

# how long a prompt in a terminal may wait for an answer from here: a day
LONGEST_PROMPT = 86_400
SHORT = 10
ASKING = "PermissionRequest"
TELLING = ("Notification", "Stop", "SessionStart", "SessionEnd")
EVENTS = (ASKING, *TELLING)
# what tells our hooks from others
SIGN = str(Path("claudekeeper", "hook.py"))
# what tells a file that was being written from others, when a kill left it behind
UNFINISHED = ".settings.json.claudekeeper-"
# of a line in a difference: settings can hold anything
SHOWN = 500
CONTEXT = 3


class SettingsUnusable(KeeperError):
    code = "settings_unusable"
    sentence = "Claude Code's settings cannot be changed."


class Record(msgspec.Struct):
    """What was there before, so that it can be as it was again."""

    path: str
    # None: there was no file
    before: str | None
    after: str


def command(home: Path) -> str:
    """What Claude Code is to run: nothing but the standard library is imported."""
    script = Path(__file__).resolve().parent.parent / "hook.py"
    return shlex.join([sys.executable, "-IS", str(script), str(home.resolve())])


class Settings:
    """The settings file of one user."""

    def __init__(self, claude_home: Path, keeper_home: Path) -> None:
        # people keep it elsewhere and link to it: the link stays one
        self.path = Path(os.path.realpath(claude_home / "settings.json"))
        self._home = keeper_home
        self._record = keeper_home / "hooks.json"
        self.text = self._read()

    def _read(self) -> str | None:
        try:
            # a pipe would keep whoever reads it waiting
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise SettingsUnusable(f"{self.path} is no ordinary file.")
            # bytes and text are to be one and the same: newlines and odd bytes as they are
            return self.path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SettingsUnusable(f"{self.path} cannot be read: {error.strerror}.") from error

    def check_writable(self) -> None:
        """Before anybody is asked: whoever takes the right to write from a file means it."""
        if self.text is None:
            return
        facts = self.path.stat()
        if facts.st_nlink > 1:
            # a file that is replaced is another one; written in place, a kill could tear it
            raise SettingsUnusable(
                f"{self.path} has another name elsewhere (a hard link), which would be left with "
                "what it has now. Nothing was changed: make one of the two a symbolic link first."
            )
        if not facts.st_mode & 0o222:
            raise SettingsUnusable(
                f"{self.path} is read-only. Nothing was changed: "
                f"chmod u+w it first, or change it where it is made."
            )

    # ---- what would be written ----

    def installed(self) -> list[str]:
        """The events that reach us now, by the very command we would put in."""
        text = self.text
        if not (text or "").strip():
            return []
        hooks = self._parsed(text or "")["hooks"]
        ours = command(self._home)
        return [event for event in EVENTS if ours in _commands(text or "", hooks, event)]

    def with_hooks(self) -> str:
        """The text with our hooks, each once; older ones of ours make way."""
        text = self.text or ""
        if not text.strip():
            text = "{}\n"
        elif self.installed() == list(EVENTS):
            return text
        else:
            text = self.without_hooks(keep_empty=True)
        for event in EVENTS:
            text = self._with_event(text, event)
        return text

    def _with_event(self, text: str, event: str) -> str:
        entry = _entry(event, command(self._home))
        root = self._parsed(text)
        hooks = root["hooks"]
        if "hooks" in root.repeated or (hooks is not None and event in hooks.repeated):
            raise SettingsUnusable(f"Of two hooks in {self.path} one is ignored. Mend it first.")
        if hooks is None:
            return add_member(text, root, "hooks", f'{{\n  "{event}": [\n    {entry}\n  ]\n}}')
        if hooks.members is None:
            raise SettingsUnusable(f'"hooks" in {self.path} is not an object. Mend it first.')
        groups = hooks[event]
        if groups is None:
            return add_member(text, hooks, event, f"[\n  {entry}\n]")
        if groups.elements is None:
            raise SettingsUnusable(f'"hooks.{event}" in {self.path} is no list. Mend it first.')
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
            hooks = self._parsed(text)["hooks"]
            groups = hooks[event] if hooks is not None else None
            ours = _ours(text, groups)
            if hooks is None or groups is None or not ours:
                return text
            if len(groups.elements or []) > 1 or keep_empty:
                text = without_element(text, groups, ours[-1])
            elif len(hooks.members or {}) > 1:
                text = without_member(text, hooks, event)
            else:
                text = without_member(text, self._parsed(text), "hooks")

    def _parsed(self, text: str) -> Value:
        try:
            root = _read(text)
        except Malformed as error:
            raise SettingsUnusable(
                f"{self.path} is not valid JSON ({error}). Mend it first."
            ) from error
        if root.members is None:
            raise SettingsUnusable(f"{self.path} does not hold an object.")
        return root

    def are_disabled(self) -> bool:
        """Whether the settings say that no hooks are run at all."""
        text = self.text or ""
        value = self._parsed(text)["disableAllHooks"] if text.strip() else None
        return value is not None and decoded(text, value) is True

    # ---- writing ----

    def install(self) -> None:
        self._check()
        after = self.with_hooks()
        known = self._known()
        if known is not None and known.after == self.text:
            # a second install does not forget what was there before the first
            before = known.before
        else:
            # older hooks of ours are not to come back
            before = self.text and self.without_hooks()
        write_whole(self._record, msgspec.json.encode(_safe(Record(str(self.path), before, after))))
        self._write(after)

    def uninstall(self) -> None:
        self._check()
        known = self._known()
        if known is not None and known.after == self.text:
            if known.before is None:
                self.path.unlink(missing_ok=True)
            else:
                self._write(known.before)
        elif self.text is not None:
            self._write(self.without_hooks())
        self._record.unlink(missing_ok=True)

    def _check(self) -> None:
        self.check_writable()
        if self._read() != self.text:
            # Claude Code writes there too, while a person thinks about a question
            raise SettingsUnusable(
                f"{self.path} was changed meanwhile, and is left as it is. Try again."
            )

    def back_to(self) -> str:
        """The text that `uninstall` would leave; empty where it would leave no file."""
        known = self._known()
        if known is not None and known.after == self.text:
            return known.before or ""
        return self.without_hooks()

    def _known(self) -> Record | None:
        try:
            record = msgspec.json.decode(self._record.read_bytes(), type=Record)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None
        record = _unsafe(record)
        return record if record.path == str(self.path) else None

    def _write(self, text: str) -> None:
        """Replaced at once, with the owner and mode it had; what was there stays beside ours."""
        content = text.encode("utf-8", "surrogateescape")
        try:
            facts = self.path.stat() if self.path.exists() else None
            if self.text is not None:
                backup = self._home / "settings.json.backup"
                write_whole(backup, self.text.encode("utf-8", "surrogateescape"))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for left in self.path.parent.glob(f"{UNFINISHED}*"):
                left.unlink(missing_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=UNFINISHED)
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
            raise SettingsUnusable(f"{self.path} cannot be written: {error.strerror}.") from error
        self.text = text


def difference(before: str | None, after: str, path: Path) -> str:
    """What would change, as people read it."""
    # for a command that is typed once: a keeper that idles for months does without
    import difflib

    old = (before or "").splitlines(keepends=True)
    new = after.splitlines(keepends=True)
    # the lines around are the same, and there may be millions: they are not to be compared
    same = _in_common(old, new)
    below = _in_common(old[same:][::-1], new[same:][::-1])
    lines = difflib.unified_diff(
        old[max(same - CONTEXT, 0) : len(old) - max(below - CONTEXT, 0)],
        new[max(same - CONTEXT, 0) : len(new) - max(below - CONTEXT, 0)],
        str(path),
        str(path),
        n=CONTEXT,
    )
    return "".join(f"{_shown(line)}\n" for line in lines if not line.startswith("@@"))


def _in_common(old: list[str], new: list[str]) -> int:
    """With how many equal lines both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _shown(line: str) -> str:
    """On a line of its own, not too long, and in letters that any terminal takes."""
    line = line.rstrip("\r\n").encode("utf-8", "backslashreplace").decode()
    more = len(line) - SHOWN
    return f"{line[:SHOWN]} … ({more} letters more)" if more > 0 else line


@lru_cache(maxsize=1)
def _read(text: str) -> Value:
    return read(text, "hooks")


def _entry(event: str, ours: str) -> str:
    """One group of the settings, on one line: it is easily seen and easily taken out."""
    if event == ASKING:
        hook = {"type": "command", "command": ours, "timeout": LONGEST_PROMPT}
        return orjson.dumps({"matcher": "*", "hooks": [hook]}).decode()
    # nobody waits for these
    told = {"type": "command", "command": ours, "timeout": SHORT, "async": True}
    return orjson.dumps({"hooks": [told]}).decode()


def _ours(text: str, groups: Value | None) -> list[int]:
    """Which groups hold nothing but a hook of ours, also one of another place or version."""
    found = []
    for index, group in enumerate((groups.elements if groups is not None else None) or []):
        content = decoded(text, group)
        hooks = content.get("hooks") if isinstance(content, dict) else None
        commands = [_command(hook) for hook in hooks] if isinstance(hooks, list) else []
        if commands and all(SIGN in each for each in commands):
            found.append(index)
    return found


def _commands(text: str, hooks: Value | None, event: str) -> list[str]:
    groups = hooks[event] if hooks is not None else None
    indexes = _ours(text, groups)
    elements = (groups.elements if groups is not None else None) or []
    found = []
    for index in indexes:
        content = decoded(text, elements[index])
        assert isinstance(content, dict)
        found += [_command(hook) for hook in content["hooks"]]
    return found


def _command(hook: object) -> str:
    value = hook.get("command") if isinstance(hook, dict) else None
    return value if isinstance(value, str) else ""


def _safe(record: Record) -> Record:
    """Bytes that are no UTF-8 survive in a form that JSON can hold."""
    return Record(record.path, _escaped(record.before), _escaped(record.after) or "")


def _unsafe(record: Record) -> Record:
    return Record(record.path, _unescaped(record.before), _unescaped(record.after) or "")


def _escaped(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "surrogateescape").decode("latin-1")


def _unescaped(text: str | None) -> str | None:
    return None if text is None else text.encode("latin-1").decode("utf-8", "surrogateescape")
