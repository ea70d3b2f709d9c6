from __future__ import annotations

import random
import time
from typing import Callable, Optional, TypeVar

from ._errors import APIConnectionError, ModeratoError

T = TypeVar("T")

#: The longest `Retry-After` that is waited for, in seconds.
PATIENCE = 60


def retry_delay(error: ModeratoError, attempt: int) -> Optional[float]:
    """Return after how many seconds a failed call is repeated, or None if that is of no use.

    Attempts are counted from 0. The call must be a read or have an idempotency key, because
    the failed attempt may have had its effect.
    """
    is_early = error.code == "IDEMPOTENCY_KEY_IN_USE" or (
        error.status == 429 and error.code != "STREAM_LIMIT_REACHED"
    )
    is_unknown = isinstance(error, APIConnectionError) or (error.status or 0) >= 500
    if not is_early and not is_unknown:
        return None
    if error.retry_after is None:
        return backoff(attempt)
    return None if error.retry_after > PATIENCE else error.retry_after + random.uniform(0, 0.25)


def backoff(attempt: int) -> float:
    """Return a delay in seconds that doubles with each attempt, up to 30 s."""
    longest = min(30.0, 0.5 * 2.0 ** min(attempt, 10))
    return random.uniform(longest / 2, longest)


def with_retries(call: Callable[[], T], retries: int) -> T:
    """Return what a call returns, and repeat it after transient failures."""
    attempt = 0
    while True:
        try:
            return call()
        except ModeratoError as error:
            delay = retry_delay(error, attempt) if attempt < retries else None
            if delay is None:
                raise
        time.sleep(delay)
        attempt += 1
