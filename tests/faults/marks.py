"""What the long forms are marked with: they only run when asked for, and may take their time."""

import pytest

HOURS = 12
LONG = (pytest.mark.faults_long, pytest.mark.timeout(HOURS * 3600))
