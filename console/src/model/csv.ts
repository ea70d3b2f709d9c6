// Lists of users as text: what an export writes, and what an import reads.

/** csvOf returns a table as CSV that spreadsheets open as it is, without running formulas. */
export const csvOf = (rows: readonly (readonly string[])[]): string => `\ufeff${rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')}`

function cell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return safe !== value || /[",;\r\n]/.test(value) ? `"${safe.replaceAll('"', '""')}"` : value
}

/** A user of a list, as the API takes them. */
export type Target = { userId: string } | { username: string }

export interface ReadList {
  users: Target[]
  /** Lines that can be neither a username nor a user id. */
  problems: { line: number; text: string }[]
  duplicates: number
  /** The first line, if it names the column. */
  header: string
  /** How many lines have something in them. */
  lines: number
}

/** The most users that one import reads. */
export const maxLines = 100_000

const headers = /^(user[ _-]?names?|users?|user[ _-]?id|names?|logins?|slugs?|ids?|banned[ _-]?users?|display[ _-]?names?|chatters?)$/i
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const username = /^[A-Za-z0-9_.-]{1,40}$/

/** readList reads a list with one user a line: plain text, or the first column of a CSV. */
export function readList(text: string): ReadList {
  const list: ReadList = { users: [], problems: [], duplicates: 0, header: '', lines: 0 }
  const known = new Set<string>()
  for (const { line, first } of records(text.replace(/^\ufeff/, ''))) {
    // The apostrophe is what an export puts before a name that looks like a formula.
    const name = first.trim().replace(/^'(?=[=+\-@])/, '').replace(/^@\s*/, '')
    if (!first.trim()) continue
    list.lines++
    if (list.lines === 1 && headers.test(name)) list.header = name
    else if (!username.test(name)) list.problems.push({ line, text: first.trim() })
    else if (known.has(name.toLowerCase())) list.duplicates++
    else {
      known.add(name.toLowerCase())
      list.users.push(uuid.test(name) ? { userId: name } : { username: name })
    }
  }
  return list
}

/** records returns the first field of each record. A quoted field can have line breaks in it. */
function* records(text: string): Generator<{ line: number; first: string }> {
  // A quoted field is not long, so that a stray quote does not swallow the lines after it.
  const field = /(?:"((?:[^"]|""){0,2000})")?([^,;\t\r\n]*)(\r\n|[,;\t\r\n]|$)/y
  let [line, own] = [1, 1]
  let first: string | undefined
  while (field.lastIndex < text.length) {
    const [, quoted, plain, end] = field.exec(text)!
    first ??= quoted?.replaceAll('""', '"') ?? plain!
    if (quoted) line += quoted.split(/\r\n|\n|\r/).length - 1
    if (end && ',;\t'.includes(end)) continue
    yield { line: own, first }
    own = ++line
    first = undefined
  }
  if (first !== undefined) yield { line: own, first }
}

/** textOf returns the text of a file. Spreadsheets also save UTF-16, which a mark tells. */
export function textOf(bytes: Uint8Array): string {
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(mark).decode(bytes)
}
