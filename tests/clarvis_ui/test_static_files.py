"""The page, its files for ever, and nothing beside them."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from yarl import URL

from tests.clarvis_ui.conftest import Browser


async def test_the_page_is_asked_for_again_each_time(stranger: Browser) -> None:
    answer = await stranger.get("/")
    assert answer.status == 200
    assert answer.content_type == "text/html"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert "<title>Clarvis</title>" in await answer.text()


async def test_a_hashed_file_is_kept_for_ever(stranger: Browser) -> None:
    answer = await stranger.get("/assets/index-abc123.js")
    assert answer.status == 200
    assert answer.content_type == "text/javascript"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


async def test_other_files_are_asked_for_again(stranger: Browser) -> None:
    answer = await stranger.get("/favicon.svg")
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == "no-cache"


async def test_a_packed_sibling_is_served_to_who_can_unpack_it(
    stranger: Browser, built: Path
) -> None:
    packed = gzip.compress(b"export {}")
    (built / "assets" / "index-abc123.js.gz").write_bytes(packed)
    answer = await stranger.get("/assets/index-abc123.js", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.content_type == "text/javascript"
    assert await answer.read() == b"export {}"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/%252e%252e/secret.txt",
        "/%252e%252e%252fsecret.txt",
        "/assets/../../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets//etc/passwd",
        "/%2fetc%2fpasswd",
        "/assets/..\\..\\secret.txt",
        "/index.html%00.js",
        "/assets/%00",
        "/.hidden",
        "/link.txt",
        "/assets",
        "/assets/",
        "/assets/missing.js",
        "/missing.txt",
    ],
)
async def test_there_is_no_way_out_of_the_folder(stranger: Browser, path: str) -> None:
    answer = await stranger.get(URL(path, encoded=True))
    assert answer.status == 404
    assert await answer.json() == {
        "error": {"code": "not_found", "message": "There is nothing at this address."}
    }


async def test_an_unbuilt_page_says_so(stranger: Browser, built: Path) -> None:
    shutil.rmtree(built)
    answer = await stranger.get("/")
    assert answer.status == 503
    assert answer.content_type == "text/html"
    page = await answer.text()
    assert "Clarvis has not been built" in page
    assert "make ui" in page


async def test_a_page_built_later_is_found(stranger: Browser, built: Path) -> None:
    page = (built / "index.html").read_text()
    (built / "index.html").unlink()
    assert (await stranger.get("/")).status == 503
    (built / "index.html").write_text(page)
    assert (await stranger.get("/")).status == 200
