import type { Route } from '../route'

export function Settings(_: { route?: Route }) {
  return null
}
