"""Shares of time, and the figures at the end."""

from pathlib import Path

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    from fuzz.runner import SHARE

    SHARE["tests"] = max(1, sum(HERE in Path(item.path).parents for item in items))


def pytest_terminal_summary(terminalreporter):
    from fuzz.attempt import TALLY

    figures = ", ".join(f"{count} {what}" for what, count in sorted(TALLY.items()))
    if figures:
        terminalreporter.write_line(f"hostile input: {figures}")
