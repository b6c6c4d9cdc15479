"""The real CLI, for the tests of the demo."""

from tests.support.real_cli import real_cli, scripted_api

__all__ = ["real_cli", "scripted_api"]
