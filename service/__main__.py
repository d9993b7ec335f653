"""``python -m service`` is ``groundkeeper serve``."""

from __future__ import annotations

import sys

from service.cli import main

if __name__ == "__main__":
    sys.argv[1:] = sys.argv[1:] or ["serve"]
    main()
