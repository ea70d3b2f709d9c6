import type { Route } from '../route'

export function Raid(_: { route?: Route }) {
  return null
}
