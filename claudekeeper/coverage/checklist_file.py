"""The coverage-checklist.yml of a directory: found, and read as safely as a stranger's file is."""

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
                facts = os.fstat(descriptor)
                if not stat.S_ISREG(facts.st_mode):
                    continue
                if facts.st_size > MAX_BYTES:
                    return Checklist(name, error="It is larger than 128 kB.")
                return _parse_cached(name, os.pread(descriptor, MAX_BYTES, 0))
        except (OSError, ValueError):
            # not there, or no path at all: a transcript can say anything of its directory
            continue
    return None


# it is asked for whenever a session of the project is opened, and hardly ever changes
@lru_cache(maxsize=32)
def _parse_cached(name: str, content: bytes) -> Checklist:
    return parse_checklist(name, _parse_yaml(content), hashlib.sha256(content).hexdigest()[:16])


def _parse_yaml(content: bytes) -> Any:
    """What the file holds; a sentence where it cannot be read."""
    # used by few: it is loaded when the first checklist is met
    import yaml

    try:
        text = content.decode("utf-8-sig")
        if _is_too_deep(text):
            # each level is a call for whoever parses it
            return "It is nested too deeply."
        # libyaml where it is there: ten times as fast, and as safe
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=loader)):
            # a few lines of references can stand for gigabytes
            return "It uses YAML references (*name), which are not read."
        told = yaml.load(text, Loader=loader)  # noqa: S506
    except UnicodeDecodeError:
        return "It is not UTF-8."
    except yaml.composer.ComposerError:
        return "It holds more than one YAML document."
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        return f"It is not valid YAML{f' (line {mark.line + 1})' if mark else ''}."
    except (yaml.YAMLError, RecursionError, ValueError):
        return "It is not valid YAML."
    if told is None:
        return "It is empty."
    return told if isinstance(told, dict | list) else "It holds a single value, not categories."


def _is_too_deep(text: str) -> bool:
    """Whether lists within lists go further than any checklist; indenting so far takes room."""
    depth = 0
    for sign in _BRACKET.findall(text):
        depth += 1 if sign in "[{" else -1
        if depth > MAX_DEPTH:
            return True
    return _NESTED_DASHES.search(text) is not None
