from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Generic, Iterator, List, Mapping, Optional, Tuple, TypeVar
from urllib.parse import parse_qs, urlsplit

from ._decode import decode

Data = TypeVar("Data")
Row = TypeVar("Row")

#: Requests a page: the arguments are the cursor and the limit.
Fetch = Callable[[Optional[str], Optional[int]], Tuple[Any, Mapping[str, str]]]


@dataclass(frozen=True)
class Page(Generic[Row]):
    """A page of a list."""

    rows: List[Row]
    cursor: str
    """The cursor of the next page; empty on the last page."""


class Listing(Generic[Data, Row]):
    """A list that is read when it is used.

    Iterate over it for all rows, page by page, or `fetch` the response of one call::

        for follower in moderato.channels.list_followers():
            print(follower.display_name)
        print(moderato.channels.list_clips(channel_id=channel_id).fetch().count)
    """

    def __init__(self, fetch: Fetch, data: Any, row: Any, limit: int) -> None:
        self._fetch = fetch
        self._data = data
        self._row = row
        self._limit = limit

    def fetch(self) -> Data:
        """Make one call, and return its response."""
        data, _ = self._fetch(None, None)
        return decode(self._data, data)  # type: ignore[no-any-return]

    def pages(self) -> Iterator[Page[Row]]:
        """Iterate over the pages."""
        cursor: Optional[str] = None
        while cursor != "":
            data, headers = self._fetch(cursor, self._limit)
            rows = _rows_of(data)
            cursor = _next_cursor(data, headers)
            yield Page([decode(self._row, row) for row in rows], cursor)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over all rows."""
        for page in self.pages():
            yield from page.rows


def _rows_of(data: Any) -> Any:
    """Return the rows or messages of a page."""
    if isinstance(data, list):
        return data
    return data["rows"] if "rows" in data else data["messages"]


def _next_cursor(data: Any, headers: Mapping[str, str]) -> str:
    """Find the cursor in the data or, if these are the rows themselves, in the header Link."""
    if not isinstance(data, list):
        return str(data["pagination"]["cursor"])
    link = re.search(r'<([^>]*)>; *rel="next"', headers.get("Link") or "")
    return parse_qs(urlsplit(link[1]).query).get("cursor", [""])[0] if link else ""
