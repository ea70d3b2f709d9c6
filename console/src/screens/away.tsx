import type { Route } from '../route'

export function Away(_: { route?: Route }) {
  return null
}
