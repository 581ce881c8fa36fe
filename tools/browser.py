"""Make sure that there is a browser for the tests of pages, where that is possible.

    python tools/browser.py

Chromium of the system is used. If it is missing, root installs Debian's package; in all other cases
a message says that the tests of pages will be skipped. The exit code is always 0.
"""

from __future__ import annotations

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 600  # seconds


def find() -> str | None:
    """Return the path of a browser."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def install() -> bool:
    """Install Debian's package, and return whether that succeeded."""
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        command = ["apt-get", "-qq", *arguments]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        if done.returncode != 0 and arguments != ["update"]:
            return False
    return True


def main() -> None:
    """Find or install a browser, or say that there is none."""
    if find() is None:
        print("installing Chromium for the tests of pages")
        install()
    if find() is None:
        print(
            "NOT TESTED: the review pages. Chromium was not found and could not be installed;\n"
            "    install it (apt install chromium) to run tests/web/test_browser.py"
        )


if __name__ == "__main__":
    main()
