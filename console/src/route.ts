import { useEffect, useState } from 'preact/hooks'

export type Screen = 'chat' | 'queue' | 'raid' | 'rules' | 'log' | 'people' | 'plots' | 'away' | 'settings'

/** A place in the console, which stands behind the # of the address: #/lena/log?query=ada */
export interface Route {
  /** The username of the channel; empty for the list of channels. */
  channel: string
  screen: Screen
  /** The part of a screen, such as the tab. */
  part: string
  query: URLSearchParams
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [channel = '', screen = 'chat', part = ''] = path.split('/').map(decode)
  return { channel, screen: (screen || 'chat') as Screen, part, query: new URLSearchParams(query) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

export function hrefOf(route: { channel: string; screen?: Screen; part?: string; query?: Record<string, string> }): string {
  const parts = [route.channel, route.screen ?? 'chat', route.part ?? ''].filter((part, i) => part || i === 0)
  const query = new URLSearchParams(Object.entries(route.query ?? {}).filter(([, value]) => value))
  return `#/${parts.map(encodeURIComponent).join('/')}${query.size ? `?${query}` : ''}`
}

export function go(route: Parameters<typeof hrefOf>[0], replace = false): void {
  if (replace) {
    history.replaceState(null, '', hrefOf(route))
    dispatchEvent(new HashChangeEvent('hashchange'))
  } else location.hash = hrefOf(route)
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const change = (): void => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  return route
}
