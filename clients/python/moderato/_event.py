from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from ._decode import decode
from ._types import EVENT_PAYLOADS, EventMetadata


@dataclass(frozen=True)
class Event:
    """An event."""

    type: str
    """What happened, such as `channel.ban`."""
    payload: Any
    """The details: a `BanEvent` for `channel.ban`. A dict if this version of the library does
    not know the type."""
    metadata: EventMetadata
    cursor: str
    """Where to resume after this event; empty in a delivery without a cursor."""


def event_of(data: Mapping[str, Any], cursor: str) -> Event:
    """Return the event of its JSON form."""
    metadata: EventMetadata = decode(EventMetadata, data["metadata"])
    payload = decode(EVENT_PAYLOADS.get(metadata.subscription_type, dict), data["payload"])
    return Event(metadata.subscription_type, payload, metadata, cursor)
