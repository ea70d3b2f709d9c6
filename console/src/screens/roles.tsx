import type { UserSummary } from '@moderato-live/client'
import { actions } from '../actions'
import { useDesk } from '../desk'
import { Button } from '../ui/basics'

export type Role = 'moderator' | 'vip' | 'og'

export const roleNames: Record<Role, string> = { moderator: 'moderator', vip: 'VIP', og: 'OG' }

/** useRoles returns what gives and takes roles, which only the owner can. */
export function useRoles() {
  const { client, channel } = useDesk()
  const channelId = channel.id
  const give = (user: Named, role: Role) => (options: object): Promise<unknown> =>
    role === 'moderator' ? client.moderation.addModerator({ channelId, userId: user.id }, options)
      : role === 'vip' ? client.channels.addVip({ channelId, userId: user.id }, options) : client.channels.addOg({ channelId, userId: user.id }, options)
  const take = (user: Named, role: Role) => (options: object): Promise<unknown> =>
    role === 'moderator' ? client.moderation.removeModerator({ channelId, userId: user.id }, options)
      : role === 'vip' ? client.channels.removeVip({ channelId, userId: user.id }, options) : client.channels.removeOg({ channelId, userId: user.id }, options)
  return {
    give, take,
    add: (user: Named, role: Role) => actions.run(`Making ${user.displayName} a ${roleNames[role]}`, `${user.displayName} is now a ${roleNames[role]}`, give(user, role), () => take(user, role)),
    remove: (user: Named, role: Role) => actions.run(`Removing ${user.displayName} as ${roleNames[role]}`, `${user.displayName} is no longer a ${roleNames[role]}`, take(user, role), () => give(user, role)),
  }
}

type Named = Pick<UserSummary, 'id' | 'displayName'>

/** RoleButtons gives a user roles, or takes them. */
export function RoleButtons({ user, roles }: { user: Named; roles: readonly string[] }) {
  const change = useRoles()
  return (
    <>
      {(Object.keys(roleNames) as Role[]).map((role) => (roles.includes(role)
        ? <Button little onClick={() => void change.remove(user, role)}>Remove {roleNames[role]}</Button>
        : <Button little onClick={() => void change.add(user, role)}>Make {roleNames[role]}</Button>))}
    </>
  )
}
