from __future__ import annotations

import json
import socket
import uuid
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Any, Mapping, Optional, Protocol, Tuple, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ._errors import APIConnectionError, ModeratoError, error_of
from ._retry import with_retries

#: What fails below HTTP: connections that cannot be made, break or are silent.
BROKEN = (OSError, HTTPException)


@dataclass(frozen=True)
class Options:
    """Options of one call."""

    timeout: Optional[float] = None
    """How long the server may be silent, in seconds; by default as for the client."""
    retries: Optional[int] = None
    """How often the call is repeated after transient failures; by default as for the client."""
    idempotency_key: Optional[str] = None
    """The idempotency key of a change, by default a new UUID. Choose one and store it to repeat
    the call after a restart of your program."""


@dataclass(frozen=True)
class Settings:
    """The settings of a client."""

    base_url: str
    client_id: str
    client_secret: Optional[str]
    timeout: float
    retries: int


class Credentials(Protocol):
    """What calls are authenticated with."""

    def current(self) -> Optional[str]:
        """Return the access token; None if there is none."""
        ...

    def renew(self, refused: str) -> bool:
        """Replace an access token that was refused, and report whether there is another one."""
        ...


class Transport:
    """Sends calls, and repeats them after transient failures."""

    def __init__(self, settings: Settings, credentials: Credentials) -> None:
        self.settings = settings
        self._credentials = credentials

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        options: Optional[Options] = None,
    ) -> Tuple[Any, Mapping[str, str]]:
        """Return the data of a response, and its headers."""
        options = options or Options()
        timeout = self.settings.timeout if options.timeout is None else options.timeout
        retries = self.settings.retries if options.retries is None else options.retries

        headers = {"accept": "application/json"}
        if method != "GET":  # all attempts of a change share its key
            chosen = options.idempotency_key
            headers["idempotency-key"] = str(uuid.uuid4()) if chosen is None else chosen

        def attempt() -> Tuple[Any, Mapping[str, str]]:
            with self.open(method, path, query, body, timeout, headers) as response:
                return answer_of(response).get("data"), cast(Mapping[str, str], response.headers)

        return with_retries(attempt, retries)

    def open(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]],
        body: Optional[Mapping[str, Any]],
        timeout: float,
        headers: Mapping[str, str],
    ) -> HTTPResponse:
        """Send a call once, and return the response if the call succeeded.

        An access token that has expired is renewed.
        """
        url = self.settings.base_url + path + query_text(query or {})
        headers = {"client-id": self.settings.client_id, **headers}
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps({name: value for name, value in body.items() if value is not None}).encode()

        def attempt(token: Optional[str]) -> HTTPResponse:
            authorization = {"authorization": f"Bearer {token}"} if token else {}
            return send(Request(url, data, {**headers, **authorization}, method=method), timeout)

        token = self._credentials.current()
        try:
            return attempt(token)
        except ModeratoError as error:
            if token is None or not is_token_refused(error) or not self._credentials.renew(token):
                raise
        return attempt(self._credentials.current())


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect, which would send the token to another address, or a change as a GET."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = build_opener(_NoRedirects)


def send(request: Request, timeout: float) -> HTTPResponse:
    """Send a request, and return the response if its status is 2xx."""
    try:
        return cast(HTTPResponse, _opener.open(request, timeout=timeout))
    except HTTPError as error:
        with error:
            if 300 <= error.code < 400:
                address = error.headers.get("location")
                message = f"The server redirects to {address}: give the client the address of the API as base_url."
                raise ModeratoError(message, code="REDIRECTED", status=error.code) from None
            raise error_of(error.code, cast(Mapping[str, str], error.headers), receive(error)) from None
    except BROKEN as error:
        raise connection_error(error) from error


def receive(response: Any) -> bytes:
    """Return the body of a response."""
    try:
        return cast(bytes, response.read())
    except BROKEN as error:
        raise connection_error(error) from error


def answer_of(response: Any) -> Mapping[str, Any]:
    """Return the JSON of a response. A response that is not the server's counts as a broken connection."""
    try:
        return cast(Mapping[str, Any], json.loads(receive(response)))
    except ValueError as error:
        raise connection_error(error) from error


def connection_error(error: Exception) -> APIConnectionError:
    """Return the error to report for a connection that failed."""
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, (socket.timeout, TimeoutError)):
        return APIConnectionError("The server sent nothing in time.", code="TIMEOUT")
    return APIConnectionError("The server cannot be reached.", code="CONNECTION_FAILED")


def is_token_refused(error: ModeratoError) -> bool:
    """Report whether a new access token helps."""
    return error.code in ("TOKEN_EXPIRED", "TOKEN_INVALID")


def query_text(query: Mapping[str, Any]) -> str:
    """Return the query of a URL. None is left out."""
    text = urlencode({name: value for name, value in query.items() if value is not None}, doseq=True)
    return "?" + text if text else ""
