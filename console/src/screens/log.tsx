import type { Route } from '../route'

export function Log(_: { route?: Route }) {
  return null
}
