"""config.json: secrets, addresses, limits. It is made at the first start, with mode 0600."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Annotated, Any

import msgspec
import orjson

from claudekeeper.contract.conversations import ConversationSettings
from claudekeeper.contract.errors import ConfigInvalid
from claudekeeper.contract.routing import RoutingSettings
from claudekeeper.core.atomic_files import read_file, replace_file
from claudekeeper.core.config_check import SettingFault, check_settings
from claudekeeper.core.limits import Limits
from claudekeeper.core.logs import LogFormat, LogLevel

HOST = "127.0.0.1"
PORT = 7433
UI_PORT = 7434
MIN_TOKEN_LENGTH = 16

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class Config(msgspec.Struct, rename="camel", frozen=True):
    """The settings of config.json; those that are absent have their default."""

    token: str
    # for hooks: it can raise questions and do nothing else
    hook_token: str | None = None
    host: str = HOST
    port: Port = PORT
    ui_port: Port = UI_PORT
    # host names beside loopback that are answered: that of a reverse proxy, of Tailscale
    allowed_hosts: tuple[str, ...] = ()
    limits: Limits = Limits()
    # whether transcripts that Claude Code deletes are kept
    archive: bool = False
    routing: RoutingSettings = RoutingSettings()
    conversations: ConversationSettings = ConversationSettings()
    # addresses or networks whose X-Forwarded headers are believed
    trusted_proxies: tuple[str, ...] = ()
    # PEM files, for TLS without a proxy
    tls_cert: str | None = None
    tls_key: str | None = None
    log_format: LogFormat = "human"
    log_level: LogLevel = "info"

    def __repr__(self) -> str:
        # without secrets: a traceback or a log line may show it
        return f"Config(host={self.host!r}, port={self.port!r}, …)"


def config_path(home: Path) -> Path:
    return home / "config.json"


def load_config(home: Path) -> Config:
    """The configuration; missing secrets are generated and saved."""
    config, missing = inspect_config(home)
    path = config_path(home)
    if missing is not None:
        replace_file(path, missing)
    path.chmod(0o600)
    return config


def inspect_config(home: Path) -> tuple[Config, bytes | None]:
    """The configuration, and its new content if secrets are missing. Changes nothing."""
    path = config_path(home)
    try:
        content = read_file(path)
    except FileNotFoundError:
        content = b"{}"
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be read: {error.strerror}.") from error
    missing = _add_missing_secrets(content)
    return parse_config(path, missing or content), missing


def config_warnings(home: Path) -> list[str]:
    """One sentence for each setting of a usable config.json that is not understood."""
    try:
        content = read_file(config_path(home))
    except FileNotFoundError:
        return []
    _, wrong = _check_content(content)
    return [each.message for each in wrong]


def _check_content(content: bytes) -> tuple[dict[str, Any], list[SettingFault]]:
    settings = orjson.loads(content)
    if not isinstance(settings, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - reported like other faults of the file
    return check_settings(Config, settings)


def _add_missing_secrets(content: bytes) -> bytes | None:
    """The content with new secrets, where it lacks some; None where it lacks none."""
    try:
        settings = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    new = [name for name in ("token", "hookToken") if name not in settings]
    if not new:
        return None
    for name in new:
        settings[name] = msgspec.Raw(orjson.dumps(_new_secret()))
    return _format_json(settings)


def parse_config(path: Path, content: bytes) -> Config:
    try:
        usable, wrong = _check_content(content)
        refused = [each.message.rstrip(".") for each in wrong if each.refuses_start]
        if refused:
            raise ValueError("; ".join(refused))
        config = msgspec.convert(usable, Config)
    except ValueError as error:
        raise ConfigInvalid(
            f"{path} is not usable: {error}. Mend it, or delete it to begin with a new token."
        ) from error
    for name, secret in (("token", config.token), ("hookToken", config.hook_token)):
        if secret is not None and len(secret) < MIN_TOKEN_LENGTH:
            raise ConfigInvalid(
                f"The {name} in {path} is too short; {MIN_TOKEN_LENGTH} characters are the least."
            )
        if secret is not None and not re.fullmatch(r"[!-~]+", secret):
            raise ConfigInvalid(
                f"The {name} in {path} cannot be sent as it is; letters and digits can."
            )
    if config.token == config.hook_token:
        raise ConfigInvalid(f"In {path} the hookToken is the token itself; it must be another.")
    return config


def rotate_token(home: Path, *, hooks: bool = False) -> None:
    """Replaces the token or the hook token; everything else in the file stays as it is."""
    load_config(home)
    path = config_path(home)
    settings = msgspec.json.decode(read_file(path), type=dict[str, msgspec.Raw])
    fresh = msgspec.Raw(orjson.dumps(_new_secret()))
    settings["hookToken" if hooks else "token"] = fresh
    replace_file(path, _format_json(settings))


def _format_json(settings: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(settings)) + b"\n"


def _new_secret() -> str:
    return secrets.token_urlsafe(32)
