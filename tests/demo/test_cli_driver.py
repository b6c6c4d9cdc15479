"""The SDK is heavy, so it is only loaded by those who talk."""

from __future__ import annotations

import subprocess
import sys


def test_the_demo_is_imported_without_the_sdk() -> None:
    code = "import sys, claudekeeper.demo.start as _; print('claude_agent_sdk' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
