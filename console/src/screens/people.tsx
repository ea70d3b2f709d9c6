import type { Route } from '../route'

export function People(_: { route?: Route }) {
  return null
}
