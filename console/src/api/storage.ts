/** stored returns a value that this browser stores; null if it has none, or blocks storage. */
export function stored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** store stores a value, or removes it, and reports whether the browser allows that. */
export function store(key: string, value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
    return true
  } catch {
    return false
  }
}
