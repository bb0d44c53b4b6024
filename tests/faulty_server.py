"""A server on loopback that answers as a test says, also wrongly."""

import json
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JSON = {"Content-Type": "application/json"}


def completion(text, **more):
    return {"choices": [{"text": text, "finish_reason": "stop", **more}], "usage": {}}


def cut(handler):
    """Half of a reply, then the end of the connection."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"te')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)


def slow(seconds):
    def answer(handler):
        time.sleep(seconds)
        send(handler, 200, JSON, json.dumps(completion("late")).encode())

    return answer


def trickling(handler):
    """A reply that never ends, one byte at a time."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def events(*parts, end=True):
    """A reply that is sent in parts: objects, or lines or bytes as they are."""

    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for part in parts:
            line = part if isinstance(part, str | bytes) else json.dumps(part)
            sent = line if isinstance(line, bytes) else line.encode()
            handler.wfile.write(b"data: " + sent + b"\n\n")
            handler.wfile.flush()
        if end:
            handler.wfile.write(b"data: [DONE]\n\n")

    return answer


def send(handler, status, headers, body):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


class FaultyServer:
    """`address`, and `requests` as (path, body, headers)."""

    def __init__(self, answer):
        """`answer(number, path, body)`: an object, (status, headers, bytes), or what writes it."""
        self.requests = []
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(inner):
                length = int(inner.headers.get("Content-Length") or 0)
                body = json.loads(inner.rfile.read(length) or b"{}")
                with lock:
                    number = len(self.requests)
                    self.requests.append((inner.path, body, inner.headers))
                reply = answer(number, inner.path, body)
                inner.close_connection = True
                try:
                    if callable(reply):
                        reply(inner)
                    elif isinstance(reply, tuple):
                        send(inner, *reply)
                    else:
                        send(inner, 200, JSON, json.dumps(reply).encode())
                except OSError:
                    pass  # the client has closed the connection

            do_GET = do_POST = handle_any

            def log_message(inner, *_values):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def faulty_server(answer):
    server = FaultyServer(answer)
    try:
        yield server
    finally:
        server.close()
