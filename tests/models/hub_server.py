"""A small loopback server that answers as the Hugging Face hub does, from a folder of models."""

import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlparse

COMMIT = "c" * 40


class HubServer:
    """A local hub.

    `models` maps ids to folders; `slow` is the delay in seconds before each 64 kB of a file; `seen`
    lists (method, path). `tags` maps ids to the tags of models that are no BERT.
    """

    def __init__(
        self,
        models: dict[str, Path],
        *,
        slow: float = 0.0,
        tags: dict[str, tuple[str, ...]] | None = None,
    ):
        self.seen: list[tuple[str, str]] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                hub.answer(self, body=True)

            def do_HEAD(self):
                hub.answer(self, body=False)

            def log_message(self, *_):
                pass

        self.models, self.slow, self.tags = models, slow, tags or {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    def answer(self, request, *, body: bool) -> None:
        path = unquote(urlparse(request.path).path)
        self.seen.append((request.command, path))
        if path == "/api/models":
            return self._search(request)
        if path.startswith("/api/models/"):
            return self._about(request, path)
        for id, folder in self.models.items():
            if path.startswith(f"/{id}/resolve/"):
                file = folder / path.split("/resolve/", 1)[1].split("/", 1)[1]
                if file.is_file():
                    return self._file(request, file.read_bytes(), body=body)
        _send(request, 404, b"{}", {"X-Error-Code": "EntryNotFound"})

    def _search(self, request) -> None:
        """Models whose id contains the words of the query and that have the tag of its filter."""
        query = parse_qs(urlparse(request.path).query)
        words, tag = query.get("search", [""])[0], query.get("filter", [""])[0]
        known = {id: self.tags.get(id, ("bert",)) for id in self.models if words in id}
        known["other/unknown"] = ("diffusers",)
        found = [
            {"_id": id, "id": id, "downloads": 7, "tags": [*tags, "license:mit"], "private": False}
            for id, tags in known.items()
            if not tag or tag in tags
        ]
        return _send(request, 200, json.dumps(found).encode(), {"Content-Type": "application/json"})

    def _about(self, request, path: str) -> None:
        id = path.removeprefix("/api/models/").split("/revision/")[0]
        if id not in self.models:
            return _send(
                request, 404, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"}
            )
        files = sorted(path for path in self.models[id].iterdir() if path.is_file())
        config = (
            json.loads((self.models[id] / "config.json").read_text())
            if (self.models[id] / "config.json").is_file()
            else {}
        )
        about = {
            "_id": "1",
            "id": id,
            "sha": COMMIT,
            "private": False,
            "gated": False,
            "tags": ["license:apache-2.0"],
            "config": {"model_type": config.get("model_type", "")},
            "siblings": [{"rfilename": file.name, "size": file.stat().st_size} for file in files],
        }
        return _send(request, 200, json.dumps(about).encode(), {"Content-Type": "application/json"})

    def _file(self, request, content: bytes, *, body: bool) -> None:
        start = int(request.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        headers = {
            "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "X-Repo-Commit": COMMIT,
            "Accept-Ranges": "bytes",
        }
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        _head(request, 206 if start else 200, len(content) - start, headers)
        for at in range(start, len(content) if body else start, 65536):
            time.sleep(self.slow)
            try:
                request.wfile.write(content[at : at + 65536])
            except OSError:
                return  # the other side went away: cancelled


def _head(request, status: int, length: int, headers: dict) -> None:
    request.send_response(status)
    for name, value in {**headers, "Content-Length": length}.items():
        request.send_header(name, str(value))
    request.end_headers()


def _send(request, status: int, content: bytes, headers: dict) -> None:
    _head(request, status, len(content), headers)
    if request.command == "GET":
        request.wfile.write(content)
