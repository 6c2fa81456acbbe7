"""Chromium, for the tests of the pages and for their benchmarks."""

import shutil
from contextlib import contextmanager

NAMES = ("chromium", "chromium-browser", "google-chrome")
SOFTWARE_GL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")  # WebGL without a card


def chromium():
    """Return the path of a Chromium, None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def started(*arguments, timeout=None):
    """Start Chromium by Playwright and close it in the end.

    Parameters
    ----------
    arguments : options of Chromium, besides those that it needs to run without a sandbox
    timeout : milliseconds that it may take to start; None for the default of Playwright
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", *arguments], timeout=timeout
        )
        yield found
        found.close()
