// The server's clock. The browser's clock may be wrong by hours, so it only measures how
// much time has passed.

let offset = -Infinity

/**
 * heard learns the time from the header Date of a response. The header is cut to the second,
 * so the latest estimate is the best one.
 */
export function heard(date: string | null): void {
  const at = Date.parse(date ?? '')
  if (!Number.isNaN(at)) offset = Math.max(offset, at - performance.now())
}

/** now returns the server's time in milliseconds. */
export function now(): number {
  return offset === -Infinity ? Date.now() : offset + performance.now()
}
