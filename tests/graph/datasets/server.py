"""A server of files on loopback that does what it is told: refuse, be busy, break off, go on, change its mind."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any


@dataclass
class Server:
    """What the server is to do, and what it was asked.

    Attributes:
        files: path → content.
        next: path → what to answer next, one after the other: ``404``, ``503``, ``"short"`` (half of what is asked
            for, all of it promised), ``"drop"`` (no answer); when none is left the file is served.
        headers: of answers to be busy and of files.
        ranges: parts are served, and files have an ETag.
        asked: (path, Range header or ``""``) of every request.
        gate: requests wait for it.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    next: dict[str, list[Any]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    url: str = ""


@contextmanager
def serving() -> Iterator[Server]:
    told = Server()
    told.gate.set()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            told.asked.append((self.path, wanted))
            told.gate.wait(300)
            script = told.next.get(self.path, [])
            what = script.pop(0) if script else None
            content = told.files.get(self.path)
            self.close_connection = True
            if what == "drop":
                return
            if isinstance(what, int) or content is None:
                self.send_response(what if isinstance(what, int) else 404)
                for name, value in told.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            mark = f'"{sha256(content).hexdigest()[:16]}"'
            begin = 0
            if told.ranges and wanted and self.headers.get("If-Range") == mark:
                begin = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
            self.send_response(206 if begin else 200)
            if begin:
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            if told.ranges:
                self.send_header("ETag", mark)
            for name, value in told.headers.items():
                self.send_header(name, value)
            body = content[begin:]
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if what == "short" else body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield told
    finally:
        told.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
