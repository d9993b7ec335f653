"""Verbs and cue words that change what a clause commits its speaker to."""

from __future__ import annotations

REPORTING: frozenset[str] = frozenset(
    [
        "say",
        "tell",
        "claim",
        "mention",
        "explain",
        "write",
        "state",
        "announce",
        "report",
        "argue",
        "insist",
        "suggest",
        "reckon",
        "swear",
        "promise",
        "ask",
        "text",
        "message",
        "email",
        "post",
        "tweet",
        "warn",
        "admit",
        "deny",
        "remark",
        "note",
        "reply",
        "answer",
    ]
)
"""Verbs that hand a claim to their subject."""

BELIEF: frozenset[str] = frozenset(
    [
        "think",
        "believe",
        "guess",
        "suppose",
        "assume",
        "suspect",
        "feel",
        "hope",
        "wish",
        "imagine",
        "dream",
        "wonder",
        "doubt",
        "fear",
        "pretend",
        "expect",
    ]
)
"""Verbs whose complement is not asserted as true."""

PLAN: frozenset[str] = frozenset(
    [
        "plan",
        "want",
        "hope",
        "wish",
        "intend",
        "consider",
        "think",
        "dream",
        "aim",
        "intend",
        "would",
        "like",
        "love",
        "prefer",
        "need",
        "mean",
        "contemplate",
        "look",
        "decide",
    ]
)
"""Verbs whose infinitive or gerund complement has not happened."""

CESSATION: frozenset[str] = frozenset(
    [
        "stop",
        "quit",
        "cease",
        "drop",
        "abandon",
        "leave",
        "sell",
        "retire",
        "resign",
        "divorce",
        "cancel",
        "lose",
        "give",
        "finish",
        "end",
        "close",
        "delete",
        "uninstall",
        "ditch",
        "break",
    ]
)
"""Verbs that say that a state ended."""

STRICT_CESSATION: frozenset[str] = frozenset(["stop", "quit", "cease", "retire", "resign"])
"""Verbs that end the very activity their complement names."""

MULTI_VALUED: frozenset[str] = frozenset(
    [
        "have",
        "own",
        "like",
        "love",
        "enjoy",
        "prefer",
        "play",
        "speak",
        "eat",
        "drink",
        "use",
        "read",
        "watch",
        "visit",
        "know",
        "study",
        "collect",
        "keep",
        "get",
        "buy",
        "make",
        "do",
        "want",
        "need",
        "hate",
        "dislike",
        "see",
        "go",
        "take",
        "wear",
        "grow",
        "build",
        "write",
        "practise",
        "practice",
        "run",
        "include",
        "contain",
        "bring",
        "meet",
    ]
)
"""Predicates that hold of several objects at once: one object does not exclude another."""

IMPERATIVE_ASIDES: frozenset[str] = frozenset(["remember", "note", "imagine", "suppose", "say"])

NEGATORS: frozenset[str] = frozenset(
    [
        "not",
        "n't",
        "never",
        "no",
        "none",
        "nobody",
        "nothing",
        "neither",
        "nor",
        "without",
        "hardly",
        "barely",
        "seldom",
        "rarely",
        "cannot",
        "nowhere",
    ]
)
"""Words that turn a clause negative."""

IMPLICIT_NEGATIVE: frozenset[str] = frozenset(
    [
        "hate",
        "dislike",
        "avoid",
        "refuse",
        "lack",
        "deny",
        "detest",
        "despise",
        "loathe",
        "fail",
        "forget",
        "miss",
        "reject",
        "decline",
        "stop",
        "quit",
        "cease",
        "disable",
    ]
)
"""Verbs that carry a negation of what they govern."""
