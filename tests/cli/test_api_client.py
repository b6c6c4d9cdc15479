"""What the terminal makes of an answer that is not all there."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from claudekeeper.cli.api_client import ApiClient, Refused
from claudekeeper.cli.main import main

BODY = b'{"messages":[{"uuid":"a"}\n{"error":{"code":"x","message":"It was changed."}}\n'


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        """Quietly."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        config = {"token": "a-token-of-some-length", "port": server.server_port}
        (tmp_path / "config.json").write_text(json.dumps(config))
        (tmp_path / "config.json").chmod(0o600)
        yield tmp_path
        server.shutdown()
        serving.join()


def test_a_stream_that_could_not_go_on_says_why(home: Path) -> None:
    with pytest.raises(Refused, match=r"^It was changed\.$"):
        ApiClient(home).call_keeper("GET", "/sessions/s?limit=all")


def test_bytes_that_are_no_text_are_not_sent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["send", "bad \udcff byte"]) == 2
    assert "not UTF-8" in capsys.readouterr().err
