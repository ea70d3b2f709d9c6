import type { Route } from '../route'

export function Plots(_: { route?: Route }) {
  return null
}
