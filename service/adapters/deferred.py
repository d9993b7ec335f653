"""Models that are loaded in the background and stand in for themselves until then."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import structlog
from numpy.typing import NDArray

from service.domain.entailment import EntailmentScores
from service.domain.errors import Unavailable
from service.domain.syntax import ParsedText
from service.domain.values import Value
from service.ports.language import LanguageAnalyser
from service.ports.models import Embedder, EntailmentModel, ModelIdentity
from service.usecases.readiness import ProbeState

T = TypeVar("T")
_FOLDERS = re.compile(r"(?:/[^\s/:()']+)+/")
"""What is told to clients names files, not the folders of this machine; the log has both."""

_log = structlog.get_logger("groundkeeper.models")


class Slot(Generic[T]):
    """A component that is there, on its way, or could not be loaded."""

    def __init__(self, name: str, load: Callable[[], T]) -> None:
        self.name = name
        self._load = load
        self._value: T | None = None
        self._fault = "still loading"

    def fill(self) -> None:
        """Load the component; what goes wrong is kept, and told to whoever asks for it."""
        try:
            self._value = self._load()
        except Unavailable as error:
            self._fault = _FOLDERS.sub("", error.detail)
            _log.error("model unavailable", component=self.name, detail=error.detail)
        except Exception as error:  # noqa: BLE001 - whatever a model file does, the service stays up
            self._fault = f"could not be loaded ({type(error).__name__})"
            _log.exception("model failed", component=self.name)

    def get(self) -> T:
        """Return the component; raises ``Unavailable`` naming it."""
        if self._value is None:
            raise Unavailable(self.name, self._fault)
        return self._value

    def clear(self) -> None:
        """Let the component forget the texts it remembers, where it does."""
        forget = getattr(self._value, "clear", None)
        if forget is not None:
            forget()

    def close(self) -> None:
        """Stop the component's threads, where it has any."""
        stop = getattr(self._value, "close", None)
        if stop is not None:
            stop()

    def state(self) -> ProbeState:
        """Return whether the component is there."""
        if self._value is None:
            return ProbeState(self.name, ok=False, detail=self._fault)
        identity = getattr(self._value, "identity", None)
        detail = f"{identity.model_id} {identity.digest}" if identity is not None else "loaded"
        return ProbeState(self.name, ok=True, detail=detail)


class Fillable(Protocol):
    """What a loader can fill."""

    def fill(self) -> None:
        """Load; never raises."""
        ...


AnySlot: TypeAlias = "Slot[EntailmentModel] | Slot[Embedder] | Slot[LanguageAnalyser]"


class Loader:
    """Fills slots one after the other in a thread."""

    def __init__(self, slots: Sequence[AnySlot]) -> None:
        self._slots = slots
        self._thread = threading.Thread(target=self._run, name="model-loader", daemon=True)

    def start(self) -> None:
        """Begin loading and return at once."""
        self._thread.start()

    def wait(self) -> None:
        """Wait until every slot was tried, if loading ever began."""
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        for slot in self._slots:
            slot.fill()


class DeferredEntailment:
    """An entailment model that may still be loading."""

    def __init__(self, slot: Slot[EntailmentModel]) -> None:
        self._slot = slot

    @property
    def identity(self) -> ModelIdentity:
        """Return which model answers."""
        return self._slot.get().identity

    def clear(self) -> None:
        """Forget the texts that are remembered."""
        self._slot.clear()

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[EntailmentScores]:
        """Return one score per pair."""
        return self._slot.get().classify(pairs)


class DeferredEmbedder:
    """An embedder that may still be loading."""

    def __init__(self, slot: Slot[Embedder]) -> None:
        self._slot = slot

    @property
    def identity(self) -> ModelIdentity:
        """Return which model answers."""
        return self._slot.get().identity

    @property
    def dimensions(self) -> int:
        """Return the length of one vector."""
        return self._slot.get().dimensions

    def clear(self) -> None:
        """Forget the texts that are remembered."""
        self._slot.clear()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text."""
        return self._slot.get().embed(texts)


class DeferredLanguage:
    """A language analyser that may still be loading."""

    def __init__(self, slot: Slot[LanguageAnalyser], languages: frozenset[str]) -> None:
        self._slot = slot
        self._languages = languages

    @property
    def languages(self) -> frozenset[str]:
        """Return the languages that can be parsed; known before the analyser is loaded."""
        return self._languages

    def clear(self) -> None:
        """Forget the texts that are remembered."""
        self._slot.clear()

    def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        """Return one parse per text."""
        return self._slot.get().parse(texts)

    def language_of(self, text: str) -> str:
        """Return the code of a text's language."""
        return self._slot.get().language_of(text)

    def values(self, parsed: ParsedText, anchor: datetime | None) -> tuple[Value, ...]:
        """Return the values of a text."""
        return self._slot.get().values(parsed, anchor)
