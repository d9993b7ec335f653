"""Where the clauses of a parse are: their heads and the tokens that belong to each."""

from __future__ import annotations

from service.domain.syntax import ParsedText, Token

_EMBEDDING = frozenset({"ccomp", "advcl", "relcl", "csubj", "csubjpass", "parataxis"})
_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "expl")


def clause_heads(parsed: ParsedText) -> list[Token]:
    """Return the tokens that head a clause, in order of appearance.

    Roots, embedded finite clauses, and coordinated predicates. Infinitives and gerunds that are
    complements stay with their governor: "want to learn" and "used to live" are one clause.
    """
    return [t for t in parsed.tokens if _is_head(parsed, t)]


def _is_head(parsed: ParsedText, token: Token) -> bool:
    if token.head == token.index:
        return not token.text.isspace()
    if token.dep in _EMBEDDING:
        return token.is_verbal or bool(parsed.dependents(token, *_SUBJECTS))
    if token.dep in ("conj", "appos", "dep"):
        return _own_predicate(parsed, token)
    return token.dep == "acl" and token.tag in ("VBZ", "VBP", "VBD")


def _own_predicate(parsed: ParsedText, token: Token) -> bool:
    """Return whether a conjunct is a predicate of its own and not a second complement."""
    if parsed.dependents(token, *_SUBJECTS):
        return True
    head = parsed.head_of(token)
    if not (token.is_verbal and head.is_verbal):
        return False
    if token.tag not in ("VB", "VBG") or parsed.dependents(token, "aux", "auxpass"):
        return True
    if token.tag == "VB" and head.tag == "VBP":
        return True  # "I live in Lisbon and work as a nurse": bare forms look alike
    return head.tag in ("VB", "VBG") and head.dep == "ROOT"


def clause_tokens(parsed: ParsedText, heads: list[Token]) -> dict[int, tuple[Token, ...]]:
    """Return the tokens of each clause by the index of its head; every token is in one."""
    indices = {h.index for h in heads}
    found: dict[int, list[Token]] = {i: [] for i in indices}
    for token in parsed.tokens:
        owner = _owner(parsed, token, indices)
        if owner is not None:
            found[owner].append(token)
    return {head: tuple(tokens) for head, tokens in found.items()}


def _owner(parsed: ParsedText, token: Token, heads: set[int]) -> int | None:
    if token.index in heads:
        return token.index
    return next((a.index for a in parsed.ancestors(token) if a.index in heads), None)


def main_predicate(parsed: ParsedText, head: Token) -> Token:
    """Return the verb that carries the meaning: "learn" of "want to learn" is ``want``'s."""
    if head.lemma == "use" and head.tag == "VBD":
        for child in parsed.dependents(head, "xcomp"):
            return child
    return head


def complement_lemma(parsed: ParsedText, head: Token) -> str:
    """Return the lemma of what a copula says its subject is, or an empty string."""
    for child in parsed.dependents(head, "attr", "acomp", "oprd"):
        return child.lemma
    if head.lemma == "be":
        for child in parsed.dependents(head, "prep", "advmod"):
            for inner in parsed.dependents(child, "pobj"):
                return inner.lemma
    return ""
