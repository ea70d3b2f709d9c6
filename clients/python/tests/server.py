"""A server that responds with what a test gives it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from moderato import Moderato, Tokens


class Server:
    """Responds to each request with the next of `responses`: status, data and headers,
    the text of a stream, or how it fails: "silence" or "broken"; or a function that returns
    one of these."""

    def __init__(self, *responses: Any) -> None:
        self.responses = list(responses)
        self.requests: list[dict[str, Any]] = []
        self._silent = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def respond(self) -> None:
                server.respond(self)

            do_GET = do_POST = do_DELETE = respond

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: Any) -> None:
        self._silent.set()
        self._http.shutdown()
        self._http.server_close()

    def client(self, **options: Any) -> Moderato:
        return Moderato(base_url=self.url, client_id="bot", tokens=Tokens("mdu_1", "mdr_1"), **options)

    def respond(self, to: BaseHTTPRequestHandler) -> None:
        url = urlsplit(to.path)
        text = to.rfile.read(int(to.headers.get("content-length", 0))).decode()
        self.requests.append(
            {
                "method": to.command,
                "path": url.path,
                "query": parse_qs(url.query),
                "body": text,
                "key": to.headers.get("idempotency-key"),
                "token": to.headers.get("authorization"),
            }
        )
        response = self.responses.pop(0)
        if callable(response):
            response = response()
        if response == "silence":
            self._silent.wait()
        elif response == "broken":
            to.close_connection = True
        elif isinstance(response, str):
            to.send_response(200)
            to.end_headers()
            to.wfile.write(response.replace("(silence)", "").encode())
            if response.endswith("(silence)"):
                to.wfile.flush()
                self._silent.wait()
        else:
            status, data, headers = (*response, {})[:3]
            to.send_response(status)
            for name, value in headers.items():
                to.send_header(name, value)
            to.end_headers()
            envelope = {"success": status < 300, "message": "text", "data": data}
            to.wfile.write(json.dumps(data if url.path.startswith("/oauth2") else envelope).encode())
