"""A client that costs little, since it shares its cores with the server that is measured."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

import orjson

_HEADERS = {"Content-Type": "application/json"}
IDLE_SECONDS = 3.0  # the server closes what was idle for five


@dataclass(slots=True)
class Outcome:
    """What came of many requests; ``times`` are milliseconds, in order of arrival."""

    times: list[float] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def failed(self) -> int:
        return sum(not 200 <= status < 300 for status in self.statuses)

    @property
    def rate(self) -> float:
        """Requests per second."""
        return len(self.times) / self.seconds


class Connection:
    """One connection that is kept open while it is in use."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self._used = time.monotonic()

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """Return the status and the body; 0 for a connection that broke."""
        sent = None if body is None else orjson.dumps(body)
        if time.monotonic() - self._used > IDLE_SECONDS:
            self._http.close()
        try:
            self._http.request(method, path, sent, _HEADERS)
            answer = self._http.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            self._http.close()
            return 0, b""
        finally:
            self._used = time.monotonic()

    def post(self, path: str, body: object) -> tuple[int, Any]:
        status, data = self.ask("POST", path, body)
        return status, orjson.loads(data) if data else None

    def get(self, path: str) -> tuple[int, Any]:
        status, data = self.ask("GET", path)
        return status, orjson.loads(data) if data else None

    def close(self) -> None:
        self._http.close()


def drive(
    port: int,
    path: str,
    bodies: Sequence[object],
    *,
    clients: int = 1,
    keep: Callable[[Any], Any] | None = None,
) -> Outcome:
    """Send every body once, from so many clients at once; ``keep`` picks from each answer."""
    waiting: SimpleQueue[tuple[int, object]] = SimpleQueue()
    for item in enumerate(bodies):
        waiting.put(item)
    found: list[tuple[float, int, Any]] = [(0.0, 0, None)] * len(bodies)

    def work() -> None:
        connection = Connection(port)
        while True:
            try:
                at, body = waiting.get_nowait()
            except Empty:
                break
            started = time.perf_counter()
            status, data = connection.ask("POST", path, body)
            took = (time.perf_counter() - started) * 1000
            kept = keep(orjson.loads(data)) if keep and 200 <= status < 300 else None
            found[at] = (took, status, kept)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    times, statuses, answers = zip(*found, strict=True) if found else ((), (), ())
    return Outcome(list(times), list(statuses), list(answers), seconds)
