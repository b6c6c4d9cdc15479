"""The settings of a Clarvis server: what is no address of a keeper."""

from __future__ import annotations

import pytest

from clarvis_ui.settings import ClarvisSettings, SettingsInvalid


@pytest.mark.parametrize("url", ["", "localhost:7433", "ftp://x", "http://", "http://u:p@x", "/"])
def test_what_is_no_keeper_s_address_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid):
        ClarvisSettings(keeper=url, token=lambda: "abc")
