"""A headless browser over a folder of pages, served on this machine only."""

import shutil
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["CHROMIUM", "open_page", "serve"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    "--headless",
    "--no-sandbox",  # the pages are our own; root has no sandbox
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    # Whatever a page asks of another machine fails at once.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def serve(folder):
    """Serve a folder on a free port of 127.0.0.1; return the server."""
    handler = partial(_Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def open_page(address, profile, *options):
    """Return the document of a page after its scripts have run.

    Parameters
    ----------
    address : str
    profile : path
        An empty folder for the browser.
    options : str
        Further options, such as ``--window-size=390,844 --screenshot=page.png``.
    """
    command = [
        CHROMIUM,
        *OPTIONS,
        f"--user-data-dir={profile}",
        "--virtual-time-budget=20000",
        *options,
        "--dump-dom",
        address,
    ]
    done = subprocess.run(command, capture_output=True, timeout=300, check=True)
    return done.stdout.decode("utf-8")
