"""After an erasure, no cache of the running service holds the text."""

from __future__ import annotations

from service.domain.recall.stem import stem

PEANUTS = "I am allergic to Brazil nuts and pistachios."


def cached(parts) -> str:
    nli, embedder = parts.nli()._slot.get(), parts.embedder()._slot.get()
    parser = parts.language()._slot.get()._parser
    return repr([list(nli._cache), list(embedder._cache), list(parser._cache)])


def test_caches(me, parts):
    answer = me.say(PEANUTS)
    me.recall("Am I allergic to pistachios?")
    assert "pistachios" in cached(parts)
    before = stem.cache_info().currsize
    me.erase(turn_ids=answer["turn_ids"])
    assert "pistachios" not in cached(parts)
    assert stem.cache_info().currsize <= before
    assert "pistachios" not in str(me.recall("Am I allergic to nuts?"))
