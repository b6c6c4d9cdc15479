"""The coverage-checklist.yml of a directory: found, and read as safely as an untrusted file."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from functools import lru_cache
from typing import Any

from claudekeeper.coverage.checklist import Checklist, parse_checklist
from claudekeeper.transcripts.line_reader import open_readonly

FILE_NAMES = ("coverage-checklist.yml", "coverage-checklist.yaml")
MAX_BYTES = 128 * 1024

MAX_DEPTH = 40
_BRACKET = re.compile(r"[\[\]{}]")
_NESTED_DASHES = re.compile(r"(?:[-?]\s+){40}")


def read_checklist(workdir: str) -> Checklist | None:
    """The checklist of a directory; None where there is none. Blocks."""
    for name in FILE_NAMES:
        path = os.path.join(workdir, name)
        try:
            with open_readonly(path) as descriptor:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    continue
                if status.st_size > MAX_BYTES:
                    return Checklist(name, error="It is larger than 128 kB.")
                return _parse_cached(name, os.pread(descriptor, MAX_BYTES, 0))
        except (OSError, ValueError):
            # no such file, or no path at all: the directory comes from a transcript
            continue
    return None


# it is read whenever a session of the project is opened, and hardly ever changes
@lru_cache(maxsize=32)
def _parse_cached(name: str, content: bytes) -> Checklist:
    return parse_checklist(name, _parse_yaml(content), hashlib.sha256(content).hexdigest()[:16])


def _parse_yaml(content: bytes) -> Any:
    """The data of the file, or a sentence that says why it cannot be read."""
    # few projects have a checklist: the library is loaded with the first
    import yaml

    try:
        text = content.decode("utf-8-sig")
        if _is_too_deep(text):
            # each level is a call for the parser
            return "It is nested too deeply."
        # libyaml if it is installed: ten times as fast, and as safe
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=loader)):
            # a few lines of references can stand for gigabytes
            return "It uses YAML references (*name), which are not read."
        data = yaml.load(text, Loader=loader)  # noqa: S506
    except UnicodeDecodeError:
        return "It is not UTF-8."
    except yaml.composer.ComposerError:
        return "It holds more than one YAML document."
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        return f"It is not valid YAML{f' (line {mark.line + 1})' if mark else ''}."
    except (yaml.YAMLError, RecursionError, ValueError):
        return "It is not valid YAML."
    if data is None:
        return "It is empty."
    return data if isinstance(data, dict | list) else "It holds a single value, not categories."


def _is_too_deep(text: str) -> bool:
    """Whether brackets or dashes nest deeper than any checklist."""
    depth = 0
    for sign in _BRACKET.findall(text):
        depth += 1 if sign in "[{" else -1
        if depth > MAX_DEPTH:
            return True
    return _NESTED_DASHES.search(text) is not None
