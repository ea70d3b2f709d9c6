import { useState } from 'preact/hooks'
import { actions, messageOf } from '../actions'
import { useDesk } from '../desk'
import { Icon } from '../ui/icon'
import { patience } from '../ui/load'

const usernamePattern = /^[\w.-]{1,40}$/

/** FindUser opens the card of a user: of who is in the chat by a part of the name, of anybody by the username. */
export function FindUser() {
  const { client, store, openCard } = useDesk()
  const [name, setName] = useState('')
  const [isSlow, setSlow] = useState(false)
  const find = async (): Promise<void> => {
    const wanted = name.trim().replace(/^@/, '')
    if (!wanted) return
    const timer = setTimeout(() => setSlow(true), patience)
    const isIn = (text: string): boolean => text.toLowerCase().includes(wanted.toLowerCase())
    try {
      const [exact] = usernamePattern.test(wanted) ? await client.users.listUsers({ username: [wanted] }) : []
      const found = exact ?? store.state.messages.findLast(({ sender }) => isIn(sender.displayName) || isIn(sender.username))?.sender
      if (!found) return actions.report(`Nobody has the username “${wanted}”, and nobody in the chat a name with it.`)
      setName('')
      openCard(found.id, undefined, found.displayName)
    } catch (error) {
      actions.report(messageOf(error))
    } finally {
      clearTimeout(timer)
      setSlow(false)
    }
  }
  return (
    <form class="search find-user" onSubmit={(event) => (event.preventDefault(), void find())}>
      {isSlow ? <span class="spinner" role="status" aria-label="Looking for the user" /> : <Icon name="search" />}
      <input class="input" type="search" data-search aria-label="Username of anybody, or a name from the chat" placeholder="Find a user" value={name} maxLength={100} autocomplete="off" spellcheck={false}
        onInput={(event) => setName(event.currentTarget.value)} onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()} />
    </form>
  )
}
