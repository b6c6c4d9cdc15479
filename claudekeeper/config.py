"""config.json: the token, where to listen, and limits. Made at the first start, for us alone."""

from __future__ import annotations

import secrets
from pathlib import Path

import msgspec

from claudekeeper.files import write_whole
from claudekeeper.model.errors import ConfigInvalid

HOST = "127.0.0.1"
PORT = 7433
UI_PORT = 7434


class Config(msgspec.Struct, rename="camel", frozen=True):
    """What config.json may say; what it does not say has its default."""

    token: str
    host: str = HOST
    port: int = PORT
    ui_port: int = UI_PORT
    # names beside loopback that requests may be addressed to: a reverse proxy's, Tailscale's
    allowed_hosts: tuple[str, ...] = ()


def config_file(home: Path) -> Path:
    return home / "config.json"


def load_config(home: Path) -> Config:
    """The configuration; a first one with a new token where there is none."""
    path = config_file(home)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        config = Config(token=secrets.token_urlsafe(32))
        write_whole(path, msgspec.json.format(msgspec.json.encode({"token": config.token})))
        return config
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be read: {error.strerror}.") from error
    try:
        config = msgspec.json.decode(content, type=Config)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigInvalid(
            f"{path} is not usable: {error}. Mend it, or delete it to begin with a new token."
        ) from error
    if len(config.token) < 16:
        raise ConfigInvalid(f"The token in {path} is too short; 16 characters are the least.")
    path.chmod(0o600)
    return config
