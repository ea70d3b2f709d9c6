from __future__ import annotations

import json
import socket
import threading
from http.client import HTTPResponse
from types import TracebackType
from typing import Callable, Generator, Iterator, Optional, Sequence, Type

from ._errors import APIConnectionError, ModeratoError
from ._event import Event, event_of
from ._retry import backoff
from ._sse import Message, Parser
from ._transport import BROKEN, Transport, connection_error, is_token_refused

_TEMPORARY = {"UNAVAILABLE", "OVERLOADED", "WATCHER_TOO_SLOW", "DEADLINE_EXCEEDED", "INTERNAL"}


class EventStream(Iterator[Event]):
    """A stream of events, which connects again by itself and resumes where it was.

    No stored event is missed; an event can come twice, with the same
    `metadata.message_id`. Chat messages are live, and those during a break are missed. ::

        with moderato.events.listen(type=["channel.ban"]) as stream:
            for event in stream:
                print(event.payload.banned_user_display_name)
    """

    def __init__(
        self,
        transport: Transport,
        *,
        channel_id: Optional[str],
        type: Optional[Sequence[str]],
        cursor: Optional[str],
        idle_timeout: float,
        on_disconnect: Optional[Callable[[ModeratoError], None]],
        on_missed: Optional[Callable[[int], None]],
    ) -> None:
        self._transport = transport
        self._query = {"channelId": channel_id, "type[]": type}
        self._cursor = cursor or ""
        self._idle_timeout = idle_timeout
        self._on_disconnect = on_disconnect
        self._on_missed = on_missed
        self._closed = threading.Event()
        self._response: Optional[HTTPResponse] = None
        self._messages: Iterator[Message] = iter(())
        self._connect()
        self._events = self._run()

    @property
    def cursor(self) -> str:
        """Where the stream is.

        It includes the event that was received last, so store it when that event is handled.
        """
        return self._cursor

    def close(self) -> None:
        """End the stream. Another thread may do this while one waits for an event."""
        self._closed.set()
        response = self._response
        if response is not None and not response.closed:
            with socket.fromfd(response.fileno(), socket.AF_INET, socket.SOCK_STREAM) as connection:
                try:
                    connection.shutdown(socket.SHUT_RDWR)  # wakes up a thread that waits
                except OSError:
                    pass  # it was ended already

    def __next__(self) -> Event:
        return next(self._events)

    def __enter__(self) -> EventStream:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()
        self._events.close()

    def _run(self) -> Generator[Event, None, None]:
        failures = 0
        try:
            while not self._closed.is_set():
                try:
                    if self._response is None:
                        self._connect()
                    for message in self._messages:
                        if self._closed.is_set():
                            return
                        failures = 0
                        event = self._received(message)
                        if event is not None:
                            yield event
                    raise APIConnectionError("The connection was closed.", code="CONNECTION_FAILED")
                except ModeratoError as error:
                    self._disconnect()
                    if self._closed.is_set():
                        return
                    if not _is_temporary(error):
                        raise
                    if self._on_disconnect:
                        self._on_disconnect(error)
                    delay = max(error.retry_after or 0, backoff(failures))
                # A server that stops, and a token that ends, are no reason to wait.
                if failures > 0:
                    self._closed.wait(delay)
                failures += 1
        finally:
            self._disconnect()

    def _connect(self) -> None:
        """Connect, and wait until the server has confirmed the stream: no later event is missed."""
        query = {**self._query, "cursor": self._cursor or None}
        self._response = self._transport.open("GET", "/v1/events", query, None, self._idle_timeout, {"accept": "text/event-stream"})
        self._messages = iter(())
        if self._closed.is_set():  # while it connected
            return
        self._messages = _read(self._response)
        first = next(self._messages, None)
        if first is not None:
            self._received(first)

    def _disconnect(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None

    def _received(self, message: Message) -> Optional[Event]:
        """Return the event of a message, if it has one."""
        if message.id:
            self._cursor = message.id
        if message.data is None:
            return None
        data = json.loads(message.data)
        if message.event == "end":
            details = data["data"]
            raise ModeratoError(
                data["message"], code=details["code"], request_id=details.get("requestId"), data=details
            )
        if message.event == "missed" and self._on_missed:
            self._on_missed(data["missedMessages"])
        return event_of(data, self._cursor) if "metadata" in data else None


def _read(response: HTTPResponse) -> Iterator[Message]:
    """Return the messages of a response. Reading fails if the server is silent for too long."""
    parser = Parser()
    while True:
        try:
            line = response.readline()
        except BROKEN as error:
            raise connection_error(error) from error
        except (AttributeError, ValueError):  # as http.client raises when the response is closed
            return
        if not line.endswith(b"\n"):
            return
        message = parser.push(line.decode().rstrip("\r\n"))
        if message is not None:
            yield message


def _is_temporary(error: ModeratoError) -> bool:
    """Report whether a stream that ended with an error is worth another try."""
    if error.status is not None:
        return error.status >= 500 or error.status == 429
    # A new connection renews the token, or fails with the status 401.
    return isinstance(error, APIConnectionError) or error.code in _TEMPORARY or is_token_refused(error)
