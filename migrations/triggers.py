"""Triggers that keep the audit log append-only, by name.

They stop accidents, not attackers; verification checks that each exists with exactly this text.
A released trigger is never edited here: a new migration drops it and adds one under a new name.
Each migration makes the triggers of its own group; ``AUDIT_TRIGGERS`` is all there has to be now.
"""


def _named(bodies: dict[str, str]) -> dict[str, str]:
    return {name: f"CREATE TRIGGER {name} {rest}" for name, rest in bodies.items()}


LOG_TRIGGERS = _named(
    {
        "entry_refuses_gap": """BEFORE INSERT ON entry
WHEN NEW.seq IS NOT (SELECT size FROM head WHERE id = 1)
BEGIN SELECT RAISE(ABORT, 'the audit log takes only the next number'); END""",
        "entry_refuses_update": """BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END""",
        "entry_refuses_delete": """BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END""",
        "head_refuses_second": """BEFORE INSERT ON head
WHEN NEW.size IS NOT 0 OR EXISTS (SELECT 1 FROM head) OR EXISTS (SELECT 1 FROM entry)
BEGIN SELECT RAISE(ABORT, 'the audit log has one head, made before its first entry'); END""",
        "head_refuses_jump": """BEFORE UPDATE ON head
WHEN NEW.id IS NOT OLD.id OR NEW.origin IS NOT OLD.origin OR NEW.size IS NOT OLD.size + 1
  OR NOT EXISTS (SELECT 1 FROM entry WHERE seq = OLD.size AND leaf = NEW.leaf)
BEGIN SELECT RAISE(ABORT, 'the head of the audit log moves one entry at a time'); END""",
        "head_refuses_delete": """BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the head of the audit log stays'); END""",
        "body_refuses_late": """BEFORE INSERT ON body
WHEN NEW.seq IS NOT (SELECT size FROM head WHERE id = 1)
BEGIN SELECT RAISE(ABORT, 'a body is stored with its entry'); END""",
        "body_refuses_update": """BEFORE UPDATE ON body
BEGIN SELECT RAISE(ABORT, 'a body is never changed'); END""",
    }
)

TREE_TRIGGERS = _named(
    {
        "node_refuses_disorder": """BEFORE INSERT ON node
WHEN NEW.level NOT BETWEEN 1 AND 53
  OR ((NEW.position + 1) << NEW.level) IS NOT (SELECT size FROM head WHERE id = 1) + 1
  OR length(NEW.hash) IS NOT 32
  OR NEW.level = 1 AND NOT EXISTS (SELECT 1 FROM entry WHERE seq = 2 * NEW.position + 1)
  OR NEW.level > 1 AND NOT EXISTS (
    SELECT 1 FROM node WHERE level = NEW.level - 1 AND position = 2 * NEW.position + 1)
BEGIN SELECT RAISE(ABORT, 'the tree of the audit log grows with its entries'); END""",
        "node_refuses_update": """BEFORE UPDATE ON node
BEGIN SELECT RAISE(ABORT, 'the tree of the audit log is append-only'); END""",
        "node_refuses_delete": """BEFORE DELETE ON node
BEGIN SELECT RAISE(ABORT, 'the tree of the audit log is append-only'); END""",
        "head_refuses_bare": """BEFORE UPDATE ON head
WHEN OLD.size % 2 = 1
  AND NOT EXISTS (SELECT 1 FROM node WHERE level = 1 AND position = OLD.size / 2)
BEGIN SELECT RAISE(ABORT, 'the tree of the audit log grows with its entries'); END""",
    }
)

AUDIT_TRIGGERS = LOG_TRIGGERS | TREE_TRIGGERS
