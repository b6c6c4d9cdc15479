"""One question to Claude beside all sessions: no tools, nothing written down, a cheap model."""

from __future__ import annotations

import asyncio
import os
import tempfile
from typing import Any

from claudekeeper.contract.errors import AsideFailed
from claudekeeper.core.paths import keeper_home
from claudekeeper.sessions.cli.orphans import OWNER_VARIABLE, owner_value

MODEL = "haiku"
MOST_OUTPUT_TOKENS = 2_000
# a person waits: what fails twice is an error, and is not tried for minutes
RETRIES = 1
# seconds; a few hundred words come sooner, and nobody waits longer for them
TIMEOUT_SECONDS = 120.0


async def side_query(system: str, prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
    """An answer of the schema's shape."""
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await _query(system, prompt, schema)
    except TimeoutError as error:
        raise AsideFailed("Claude did not answer in time.") from error


async def _query(system: str, prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
    # its 40 MB are imported when first needed
    sdk = await asyncio.to_thread(_import_sdk)
    options = sdk.ClaudeAgentOptions(
        tools=[],
        system_prompt=system,
        # nobody's instructions, hooks or servers have a say in it
        setting_sources=[],
        strict_mcp_config=True,
        model=MODEL,
        # the answer is handed over by a call, which is a turn of its own
        max_turns=3,
        output_format={"type": "json_schema", "schema": schema},
        # no project's: what lies there is nobody's business here
        cwd=tempfile.gettempdir(),
        cli_path=os.environ.get("CLAUDEKEEPER_CLI") or None,
        extra_args={"no-session-persistence": None},
        env={
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(MOST_OUTPUT_TOKENS),
            "MAX_THINKING_TOKENS": "0",
            "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
            OWNER_VARIABLE: owner_value(keeper_home()),
        },
    )
    answer: dict[str, Any] | None = None
    failure: str | None = None
    try:
        async for message in sdk.query(prompt=prompt, options=options):
            if isinstance(message, sdk.ResultMessage):
                if isinstance(message.structured_output, dict) and not message.is_error:
                    answer = message.structured_output
                else:
                    failure = str(message.result or message.subtype)
    except sdk.ClaudeSDKError as error:
        # a result that says what went wrong says it better
        failure = failure or str(error)
    if answer is None:
        raise AsideFailed(f"Claude could not be asked: {(failure or 'it gave no answer')[:300]}")
    return answer


def _import_sdk() -> Any:
    import claude_agent_sdk

    return claude_agent_sdk
