from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Callable, Mapping, Optional, Sequence
from urllib.parse import quote

from ._decode import camel, decode
from ._errors import ModeratoError
from ._events import EventStream
from ._paging import Listing
from ._transport import Options, Transport

Query = Mapping[str, Any]


class Resource:
    """A group of operations."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _get(self, path: str, query: Query, kind: Any, options: Optional[Options]) -> Any:
        data, _ = self._transport.call("GET", path, query=query, options=options)
        return decode(kind, data)

    def _list(
        self, path: str, query: Query, kind: Any, row: Any, limit: int, options: Optional[Options]
    ) -> Listing[Any, Any]:
        def fetch(cursor: Optional[str], limit: Optional[int]) -> Any:
            page = dict(query)
            if cursor:
                page["cursor"] = cursor
            if page["limit"] is None:
                page["limit"] = limit
            return self._transport.call("GET", path, query=page, options=options)

        return Listing(fetch, kind, row, limit)

    def _send(self, method: str, path: str, body: Query, kind: Any, options: Optional[Options]) -> Any:
        values = {name: _encode(value) for name, value in body.items()}
        data, _ = self._transport.call(method, path, body=values, options=options)
        return decode(kind, data)


class EventsResource(Resource):
    """The operations about events, with the stream."""

    def listen(
        self,
        *,
        channel_id: Optional[str] = None,
        type: Optional[Sequence[str]] = None,
        cursor: Optional[str] = None,
        idle_timeout: float = 40,
        on_disconnect: Optional[Callable[[ModeratoError], None]] = None,
        on_missed: Optional[Callable[[int], None]] = None,
    ) -> EventStream:
        """Open a stream of events.

        When it returns, the server has confirmed the stream: no later event is missed.

        Without `channel_id` the stream has the events of every channel that the user owns or
        moderates; without `type`, all types that the caller may hear. `cursor` is that of the
        last event that you handled; without it, the stream begins now. After `idle_timeout`
        seconds of silence the stream connects again; the server sends something every 15 s.
        `on_disconnect` is called when the connection breaks, and `on_missed` when chat messages
        were lost, because they were not received fast enough.
        """
        return EventStream(
            self._transport,
            channel_id=channel_id,
            type=type,
            cursor=cursor,
            idle_timeout=idle_timeout,
            on_disconnect=on_disconnect,
            on_missed=on_missed,
        )


def segment(value: str) -> str:
    """Return a value as a segment of a path."""
    return quote(value, safe="")


def _encode(value: Any) -> Any:
    """Return a value as JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        members = ((camel(f.name), getattr(value, f.name)) for f in fields(value))
        return {name: _encode(member) for name, member in members if member is not None}
    return list(value) if isinstance(value, (list, tuple)) else value
