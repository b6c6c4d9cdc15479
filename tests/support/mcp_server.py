"""A small MCP server on stdin and stdout, for tests: tools that say what they were given."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TOOLS = [
    {
        "name": name,
        "description": f"{name.title()}s a word.",
        "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
    }
    for name in ("note", "list")
]


def install(workdir: Path, name: str = "notes") -> None:
    """Name this server in a project, as `claude mcp add --scope project` does."""
    server = {"command": sys.executable, "args": [str(Path(__file__).resolve())]}
    (workdir / ".mcp.json").write_text(json.dumps({"mcpServers": {name: server}}))
    settings = workdir / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"enableAllProjectMcpServers": True}))


def handle_request(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text = f"{params['name']}: {params.get('arguments', {}).get('word', '')}"
        return {"content": [{"type": "text", "text": text}]}
    return None


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = handle_request(request["method"], request.get("params") or {})
        failure = {"code": -32601, "message": "Method not found"}
        reply = {"result": result} if result is not None else {"error": failure}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
