"""Settings: environment variables with the prefix ``GROUNDKEEPER_``, or a ``.env`` file.

Values that would be unsafe are refused with a message that says what to do. Read once, by
``service.bootstrap`` or the command line.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from service.usecases.authenticate import ApiKey, parse_entry

PREFIX = "GROUNDKEEPER_"


_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "host.docker.internal"})


class SettingsError(Exception):
    """The settings cannot be used; the message names each variable and what is wrong."""


class Limits(BaseModel):
    """How large a request may be."""

    model_config = ConfigDict(frozen=True)

    source: int = Field(32_000, ge=1, le=1_000_000, description="Characters in a source.")
    fact: int = Field(2_000, ge=1, le=32_000, description="Characters in a fact.")
    messages: int = Field(200, ge=1, le=10_000, description="Messages in one source.")
    batch: int = Field(256, ge=1, le=4_096, description="Items in one batch.")
    body: int = Field(2_000_000, ge=1_000, le=100_000_000, description="Bytes in a request's body.")


class Workers(BaseModel):
    """The threads that run requests beside the event loop."""

    model_config = ConfigDict(frozen=True)

    threads: int = Field(16, ge=1, le=256, description="Requests worked on at once.")
    queue: int = Field(
        256, ge=0, le=100_000, description="Requests that may wait; more are answered 503."
    )


class Models(BaseModel):
    """How the models are run."""

    model_config = ConfigDict(frozen=True)

    dir: Path | None = Field(
        None, description="Where derived model files are kept; `DATA_DIR/models` by default."
    )
    threads: int = Field(1, ge=1, le=256, description="Threads within one run of a model.")
    workers: int = Field(
        0, ge=0, le=64, description="Runs at once per model; 0 is one per core, at most two."
    )
    queue: int = Field(512, ge=1, le=1_000_000, description="Inputs that may wait before a model.")
    cache: int = Field(2_048, ge=1, le=10_000_000, description="Results remembered per model.")
    nli: Path | None = Field(None, description="Folder of an exported NLI model to use instead.")
    embedder: Path | None = Field(
        None, description="Folder of an exported embedding model to use instead."
    )


class Vectors(BaseModel):
    """How the vector index is kept."""

    model_config = ConfigDict(frozen=True)

    on_model_change: Literal["reembed", "refuse"] = Field(
        "reembed", description="What to do with vectors of another embedding model."
    )
    large: int = Field(
        20_000,
        ge=1,
        le=10_000_000,
        description="Vectors from which on a user is served by Chroma instead of exactly.",
    )


class CheckpointSettings(BaseModel):
    """When the log is signed."""

    model_config = ConfigDict(frozen=True)

    entries: int = Field(
        100, ge=1, le=1_000_000, description="Entries after which a checkpoint is signed."
    )
    seconds: float = Field(
        10.0,
        gt=0,
        le=86_400,
        description="Seconds after which every entry is covered by a checkpoint.",
    )


class RetentionSettings(BaseModel):
    """How long texts are kept that no active memory rests on."""

    model_config = ConfigDict(frozen=True)

    days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="Days after which texts that no active memory rests on may be erased; "
        "0 keeps them.",
    )
    daily: bool = Field(
        False,
        description="Erase them once a day while the service runs; otherwise "
        "`groundkeeper retain` does.",
    )


class ExtractorSettings(BaseModel):
    """An optional language model that proposes facts; off without a URL."""

    model_config = ConfigDict(frozen=True)

    url: str | None = Field(
        None,
        description="OpenAI-compatible endpoint that proposes facts, ending in `/v1`; "
        "off by default.",
    )
    model: str = Field("local", description="Name of the model to ask there.")
    key: SecretStr | None = Field(None, description="API key of the endpoint, if it wants one.")
    timeout: float = Field(30.0, gt=0, le=600, description="Seconds to wait for its answer.")
    allow_remote: bool = Field(
        False, description="Allow an endpoint on another machine; messages are sent there."
    )

    @model_validator(mode="after")
    def _stays_here(self) -> ExtractorSettings:
        host = urlsplit(self.url).hostname if self.url else "localhost"
        if host not in _LOOPBACK and not self.allow_remote:
            raise ValueError(
                "url names another machine, and every message would be sent there; "
                "set ALLOW_REMOTE=true if that is meant"
            )
        return self


class Settings(BaseSettings):
    """Everything that can be configured."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65_535, description="Port to listen on; 0 takes a free one.")
    workers: int = Field(
        1, description="Processes. Only 1 is possible: one process owns the data directory."
    )
    data_dir: Path = Field(Path("data"), description="Where everything is stored.")
    key_dir: Path = Field(
        Path("keys"),
        description="Where signing keys and the keys of users are kept; never inside `DATA_DIR`.",
    )
    checkpoint_dir: Path | None = Field(
        None,
        description="Where signed checkpoints are kept; `KEY_DIR/checkpoints` by default, never "
        "inside `DATA_DIR`.",
    )
    database_url: str | None = Field(
        None, description="`sqlite:///path`; `DATA_DIR/groundkeeper.db` by default."
    )
    origin: str | None = Field(
        None, description="The log's name, fixed when it is created; a random one by default."
    )
    api_keys: Annotated[tuple[ApiKey, ...], NoDecode] = Field(
        (), description="Comma-separated `tenant:role:id:hash`, made by `groundkeeper keygen`."
    )
    allow_open: bool = Field(False, description="Allow a non-loopback `HOST` without API keys.")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Comma-separated host names to answer to, besides loopback names. "
        "With API keys and none given, every name is answered.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="How much is logged."
    )
    limits: Limits = Limits()
    pool: Workers = Workers()
    models: Models = Models()
    vectors: Vectors = Vectors()
    extractor: ExtractorSettings = ExtractorSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    retention: RetentionSettings = RetentionSettings()

    @field_validator("api_keys", mode="before")
    @classmethod
    def _read_keys(cls, value: object) -> object:
        return tuple(parse_entry(t) for t in _split(value)) if isinstance(value, str) else value

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _read_hosts(cls, value: object) -> object:
        return tuple(t.lower() for t in _split(value)) if isinstance(value, str) else value

    @field_validator("workers")
    @classmethod
    def _one_process(cls, value: int) -> int:
        if value != 1:
            raise ValueError(
                "only 1 is possible: one process owns the data directory, and its threads use "
                "every core"
            )
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator("database_url", "origin", "checkpoint_dir", mode="before")
    @classmethod
    def _empty_is_absent(cls, value: object) -> object:
        return value or None

    @model_validator(mode="after")
    def _refuse_unsafe(self) -> Settings:
        data = self.data_dir.resolve()
        if self.key_dir.resolve() == data or self.key_dir.resolve().is_relative_to(data):
            raise ValueError("KEY_DIR must not be inside DATA_DIR: whoever copies one has both")
        if self.checkpoints_dir.resolve().is_relative_to(data):
            raise ValueError(
                "CHECKPOINT_DIR must not be inside DATA_DIR: an old copy of one would bring back "
                "an old copy of the other"
            )
        if len({k.key_id for k in self.api_keys}) != len(self.api_keys):
            raise ValueError("API_KEYS names the same key id twice")
        if not (self.is_loopback or self.api_keys or self.allow_open):
            raise ValueError(
                f"HOST {self.host} can be reached from outside and there are no API_KEYS. "
                "Configure keys (groundkeeper keygen), use 127.0.0.1, or set ALLOW_OPEN=true"
            )
        return self

    @property
    def is_loopback(self) -> bool:
        """Return whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def checkpoints_dir(self) -> Path:
        """Return where signed checkpoints are kept."""
        return self.checkpoint_dir or self.key_dir / "checkpoints"

    @property
    def models_dir(self) -> Path:
        """Return where derived model files are kept."""
        return self.models.dir or self.data_dir / "models"


def load_settings(**given: object) -> Settings:
    """Read the settings; what is ``given`` and not ``None`` wins. Raises ``SettingsError``."""
    try:
        return Settings(**{k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        raise SettingsError("\n".join(_line(e["loc"], e["msg"]) for e in error.errors())) from None


def _line(place: tuple[int | str, ...], message: str) -> str:
    name = PREFIX + "__".join(str(p).upper() for p in place) if place else "Settings"
    return f"{name}: {message.removeprefix('Value error, ')}."


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
