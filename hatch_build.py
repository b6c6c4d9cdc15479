"""The build hook that puts the built page into the wheel, so that users need no Node.

Without a built page and without npm the wheel has no page, and a warning says so; the server then
shows how to build it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WEB = Path("clarvis_ui", "web")
STATIC = Path("clarvis_ui", "static")


class PageBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # the Makefile builds the page of a working copy
        root = Path(self.root)
        if not (root / STATIC / "index.html").is_file():
            self._build_page(root / WEB)
        if (root / STATIC / "index.html").is_file():
            # git ignores the built page, the wheel must not
            build_data["artifacts"].append(f"/{STATIC.as_posix()}/**")

    def _build_page(self, web: Path) -> None:
        npm = shutil.which("npm")
        if npm is None:
            self.app.display_warning(
                "The page of Clarvis is not built and npm was not found: this wheel has no page. "
                "Install Node.js 20 or newer and build again, or run 'make ui' first."
            )
            return
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        for step in ([npm, "ci", *quiet], [npm, "run", "build"]):
            self.app.display_info(" ".join(["npm", *step[1:]]))
            # the build frontend reads the name of the wheel from stdout
            subprocess.run(step, cwd=web, check=True, stdout=subprocess.DEVNULL)
