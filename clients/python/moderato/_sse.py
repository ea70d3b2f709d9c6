from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional


@dataclass(frozen=True)
class Message:
    """A message of a stream of Server-Sent Events."""

    event: str
    """The type; `message` if the server named none."""
    id: str
    """The last id that the server sent; empty if it sent none."""
    data: Optional[str]
    """The data; None in a message without data, such as a heartbeat."""


class Parser:
    """Assembles the lines of a stream of Server-Sent Events into messages."""

    def __init__(self) -> None:
        self._id = ""
        self._event = ""
        self._data: List[str] = []

    def push(self, line: str) -> Optional[Message]:
        """Take the next line, without its end, and return the message that it completes."""
        if line == "":
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "id" and "\0" not in value:
            self._id = value
        elif name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        return None

    def _dispatch(self) -> Message:
        message = Message(self._event or "message", self._id, "\n".join(self._data) if self._data else None)
        self._event, self._data = "", []
        return message
