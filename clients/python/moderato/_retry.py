from __future__ import annotations

import random
import time
from typing import Callable, Optional, TypeVar

from ._errors import APIConnectionError, ModeratoError

T = TypeVar("T")

#: The longest `Retry-After` that is waited for, in seconds.
PATIENCE = 60


def retry_delay(error: ModeratoError, attempt: int, is_idempotent: bool) -> Optional[float]:
    """Return after how many seconds a failed call is repeated, or None if it must not be.

    Attempts are counted from 0. A call that the server refused before it did anything is
    always repeated. Any other call may have had its effect, so it is repeated only if a
    repetition changes nothing.
    """
    is_refused = error.code == "OVERLOADED" or (error.status == 429 and error.code != "STREAM_LIMIT_REACHED")
    is_transient = isinstance(error, APIConnectionError) or (error.status or 0) >= 500
    if not is_refused and not (is_transient and is_idempotent):
        return None
    if error.retry_after is None:
        return backoff(attempt)
    return None if error.retry_after > PATIENCE else error.retry_after + random.uniform(0, 0.25)


def backoff(attempt: int) -> float:
    """Return a delay in seconds that doubles with each attempt, up to 30 s."""
    longest = min(30.0, 0.5 * 2.0 ** min(attempt, 10))
    return random.uniform(longest / 2, longest)


def with_retries(call: Callable[[], T], retries: int, is_idempotent: bool) -> T:
    """Return what a call returns, and repeat it after transient failures."""
    attempt = 0
    while True:
        try:
            return call()
        except ModeratoError as error:
            delay = retry_delay(error, attempt, is_idempotent) if attempt < retries else None
            if delay is None:
                raise
        time.sleep(delay)
        attempt += 1
