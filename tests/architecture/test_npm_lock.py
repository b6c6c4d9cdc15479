"""The npm lock installs anywhere: no registry's address, and every platform's parts are in it.

A lock that was written where a registry lacks some platform's package leaves it out, and `npm ci`
then fails on every machine. (Vite is therefore not the very newest, and rolldown is overridden.)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WEB = Path(__file__).parent.parent.parent / "clarvis_ui" / "web"
LOCK: dict[str, dict[str, Any]] = json.loads((WEB / "package-lock.json").read_text())["packages"]
INSTALLED = {path: package for path, package in LOCK.items() if path}


def test_no_address_of_a_registry_is_named() -> None:
    assert not [path for path, package in INSTALLED.items() if "resolved" in package]
    assert "registry" not in (WEB / ".npmrc").read_text().replace("lockfile-registry", "")


def test_every_package_is_pinned_by_its_content() -> None:
    assert not [path for path, package in INSTALLED.items() if "integrity" not in package]


def test_no_platform_is_left_out() -> None:
    wanted = {name for package in LOCK.values() for name in package.get("optionalDependencies", ())}
    assert not {name for name in wanted if f"node_modules/{name}" not in LOCK}


def test_versions_are_exact() -> None:
    package = json.loads((WEB / "package.json").read_text())
    versions = {**package["dependencies"], **package["devDependencies"], **package["overrides"]}
    assert not {name for name, version in versions.items() if not version[0].isdigit()}
