from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Union

from ._auth import Tokens
from ._event import Event
from ._events import EventStream

_REMEMBERED = 1000


class FileState:
    """What a program must not forget when it restarts: its tokens, and which events it has handled.

    It is a file that only its owner may read, because it has the tokens. Each change
    replaces the file as a whole, so that a crash leaves the former or the new one. Two
    programs need two files. ::

        state = FileState("bot.json")
        moderato = Moderato(
            base_url=url, client_id="my-bot", tokens=state.tokens, on_tokens=state.save_tokens
        )
        for event in state.events(lambda cursor: moderato.events.listen(cursor=cursor)):
            print(event.type)
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._state: Dict[str, Any] = {}
        try:
            self._state = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            pass

    @property
    def tokens(self) -> Optional[Tokens]:
        """The tokens that were saved last; None before the first sign-in."""
        text = self._state.get("tokens")
        return Tokens.from_json(text) if text else None

    def save_tokens(self, tokens: Tokens) -> None:
        """Save tokens: pass this method as `on_tokens`."""
        self._save(tokens=tokens.to_json())

    @property
    def cursor(self) -> Optional[str]:
        """Where the events that were handled end; None before the first."""
        return self._state.get("cursor")

    def events(self, listen: Callable[[Optional[str]], EventStream]) -> Iterator[Event]:
        """Yield the events that were not handled yet, each once.

        `listen` opens the stream at a cursor. An event counts as handled when the loop
        asks for the next one: if the program ends before, the event comes again.
        """
        with listen(self.cursor) as stream:
            for event in stream:
                handled: List[str] = self._state.get("handled", [])
                if event.metadata.message_id in handled:
                    continue
                yield event
                handled = [*handled, event.metadata.message_id][-_REMEMBERED:]
                self._save(cursor=event.cursor, handled=handled)

    def _save(self, **changes: Any) -> None:
        with self._lock:
            self._state.update(changes)
            temporary = self._path.with_name(self._path.name + ".new")
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(self._state, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self._path)
