import { useState } from 'preact/hooks'
import { actions } from '../actions'
import { useDesk } from '../desk'
import { Icon } from '../ui/icon'

/** FindUser opens the card of a user by name, also if they are not in the chat. */
export function FindUser() {
  const { client, openCard } = useDesk()
  const [name, setName] = useState('')
  const find = async (): Promise<void> => {
    const username = name.trim().replace(/^@/, '')
    if (!username) return
    const user = await actions.run(`Looking for ${username}`, `Found ${username}`, async () => {
      const [found] = await client.users.listUsers({ username: [username] })
      if (!found) throw new Error('Nobody has this username.')
      return found
    })
    if (!user) return
    setName('')
    openCard(user.id, undefined, user.displayName)
  }
  return (
    <form class="search find-user" onSubmit={(event) => (event.preventDefault(), void find())}>
      <Icon name="search" />
      <input class="input" type="search" data-search aria-label="Username of anybody" placeholder="Find a username" value={name} maxLength={100} autocomplete="off" spellcheck={false}
        onInput={(event) => setName(event.currentTarget.value)} onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()} />
    </form>
  )
}
