import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "export: needs the extra 'export' (torch); make test-export")
