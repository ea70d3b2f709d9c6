/** What the server wrote into the page. */
export interface PageSettings {
  /** Origins from which pictures of users may be loaded, beside this one. */
  pictureOrigins: string[]
  /** Whether users can sign in at this server. */
  signIn: boolean
  /** The users as whom one click signs in; only in the demo. */
  demoUsers: { id: string; name: string; role: string }[]
}

const content = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content ?? ''

export const settings: PageSettings = {
  pictureOrigins: content('picture-origins').split(' ').filter(Boolean),
  signIn: content('sign-in') !== 'off',
  demoUsers: JSON.parse(content('demo') || '[]') as PageSettings['demoUsers'],
}

const allowed = new Set([location.origin, ...settings.pictureOrigins])

/** picture returns the URL of a picture if the page may load it. */
export function picture(url: string | undefined): string | undefined {
  if (!url) return undefined
  try {
    const parsed = new URL(url, location.origin)
    return allowed.has(parsed.origin) ? parsed.href : undefined
  } catch {
    return undefined
  }
}
