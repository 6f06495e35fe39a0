"""A hub that listens on this machine, and one file that it has."""

from __future__ import annotations

import hashlib
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

URI = "hf:tea/pot-GGUF/sub/pot-q8_0.gguf"
COMMIT = "c0ffee" + "0" * 34
CONTENT = b"GGUF" + bytes(range(256)) * 4000
DIGEST = hashlib.sha256(CONTENT).hexdigest()

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""


class FakeHub:
    """One file of one repository, and what is to go wrong with it.

    Attributes:
        content: what is sent, whatever the digest says.
        cuts: for each download, bytes after which the connection breaks; then it holds.
        reset: break by a reset, not by closing.
        stalls: bytes after which the next download stands still.
        ranges: whether a part of the file can be asked for.
        refuses: status and error code of every answer, if set.
        storage: address that keeps the file, if not this one.
        seen: method, path and headers of each request.
    """

    def __init__(self):
        self.content, self.digest = CONTENT, DIGEST
        self.commit = COMMIT
        self.cuts = []
        self.reset = False
        self.stalls = None
        self.closed = threading.Event()
        self.ranges = True
        self.refuses = None
        self.busy = 0
        self.storage = None
        self.seen = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # headers and body together, or each waits for the other's receipt

            def do_HEAD(self):
                outer.answer(self)

            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                """Who asked has gone: what some tests do on purpose."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def downloads(self):
        return [headers for method, _, headers in self.seen if method == "GET"]

    def answer(self, request):
        self.seen.append((request.command, request.path, dict(request.headers)))
        common = {
            "X-Repo-Commit": self.commit,
            "X-Linked-Etag": f'"{self.digest}"',
            "X-Linked-Size": str(len(CONTENT)),
            "ETag": f'"{self.digest}"',
        }
        if self.refuses:
            status, code = self.refuses
            self.headers(request, status, {"X-Error-Code": code})
        elif request.command == "HEAD":
            self.headers(request, 200, common, length=len(self.content))
        elif self.storage:
            self.headers(request, 302, {"Location": self.storage + request.path})
        elif self.busy:
            self.busy -= 1
            self.headers(request, 503)
        else:
            self.send(request, common)

    def send(self, request, common):
        wanted = request.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.ranges else 0
        rest = self.content[start:]
        self.headers(request, 206 if wanted and self.ranges else 200, common, length=len(rest))
        if self.stalls:
            stalls, self.stalls = self.stalls, None
            request.wfile.write(rest[:stalls])
            request.wfile.flush()
            self.closed.wait(LONG)
        elif self.cuts:
            request.wfile.write(rest[: self.cuts.pop(0)])
            request.wfile.flush()
            if self.reset:
                linger = struct.pack("ii", 1, 0)
                request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            request.close_connection = True
        else:
            request.wfile.write(rest)

    @staticmethod
    def headers(request, status, headers=(), *, length=0):
        request.send_response(status)
        for name, value in dict(headers).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(length))
        request.end_headers()


def blob(cache):
    return cache / "models--tea--pot-GGUF" / "blobs" / DIGEST


def part(cache):
    return blob(cache).with_name(f"{DIGEST}.incomplete")


def fetched_by_the_hubs_own_tools(fake, cache):
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils import silent_tqdm

    return hf_hub_download(
        "tea/pot-GGUF",
        "sub/pot-q8_0.gguf",
        cache_dir=cache,
        endpoint=fake.address,
        tqdm_class=silent_tqdm,
    )


def nobody():
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"
