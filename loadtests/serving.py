"""Starts servers of its own for the measurements, on free ports and scratch folders."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

SERVER = Path(sys.executable).with_name("groundkeeper")
QUIET_SHARE = 0.1
CAREFUL = {"LOG_LEVEL": "error"}


@dataclass(frozen=True, slots=True)
class Served:
    """A server that is ready."""

    url: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def resident_mb(self) -> float:
        """The resident memory of the process, in MB of 1,000,000 bytes."""
        return resident_mb(self.process.pid)

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=600)


def models_dir() -> Path:
    """Where the derived graph is kept between runs."""
    return Path(os.environ.get("GROUNDKEEPER_MODELS__DIR", "data/models")).absolute()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def environment(folder: Path, port: int, **settings: object) -> dict[str, str]:
    """The environment of a server that keeps everything below ``folder``."""
    chosen = {
        "HOST": "127.0.0.1",
        "PORT": port,
        "DATA_DIR": folder / "data",
        "KEY_DIR": folder / "keys",
        "MODELS__DIR": models_dir(),
        **CAREFUL,
        **settings,
    }
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GROUNDKEEPER_")}
    return kept | {f"GROUNDKEEPER_{k}": str(v) for k, v in chosen.items()}


def spawn(folder: Path, port: int, **settings: object) -> subprocess.Popen[bytes]:
    """Start a server and return at once; its output goes to ``server.log``."""
    with (folder / "server.log").open("ab") as log:
        return subprocess.Popen(
            [SERVER, "serve"],
            env=environment(folder, port, **settings),
            cwd=folder,
            stdout=log,
            stderr=log,
        )


@contextmanager
def serving(folder: Path, **settings: object) -> Iterator[Served]:
    """Run a server until it is ready and has nothing left to do; stop it at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    served = Served(
        f"http://127.0.0.1:{port}",
        port,
        spawn(folder, port, **settings),
        folder / "server.log",
    )
    try:
        wait(served)
        yield served
    finally:
        stop(served.process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End it as a person would, and wait for it to finish its work."""
    process.terminate()
    process.wait(60)


def wait(served: Served, seconds: float = 300) -> None:
    """Wait until it is ready, and has compared its index with the tables."""
    until = time.monotonic() + seconds
    with served.client() as http:
        while not ready(http):
            if time.monotonic() > until or served.process.poll() is not None:
                raise RuntimeError(f"the server did not become ready:\n{tail(served.log)}")
            time.sleep(0.2)
    used = cpu_seconds(served.process.pid)
    while time.monotonic() < until:
        time.sleep(1)
        before, used = used, cpu_seconds(served.process.pid)
        if used - before < QUIET_SHARE:
            return


def ready(http: httpx.Client) -> bool:
    try:
        return http.get("/ready").status_code == 200
    except httpx.TransportError:
        return False


def tail(log: Path, lines: int = 5) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def disk_mb(folder: Path) -> float:
    """What the files below a folder take, in MB."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / 1e6
