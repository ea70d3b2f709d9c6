import type { GetChatRulesResponse, GetProfileResponse, Moderato } from '@moderato-live/client'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Names } from './model/names'
import type { Stream } from './model/state'
import { useStored, type Store } from './model/store'
import type { Loaded } from './ui/load'

/** A channel that the user owns or moderates. */
export interface OwnChannel {
  id: string
  username: string
  displayName: string
  role: 'owner' | 'moderator'
  avatarUrl: string
  stream: Stream
}

/** Desk is what every screen of a channel works with. */
export interface Desk {
  client: Moderato
  profile: GetProfileResponse
  channels: OwnChannel[]
  channel: OwnChannel
  /** Reads the channels again: which the user moderates, and which are live. */
  reloadChannels: () => void
  store: Store
  names: Names
  /** The rules of the chat, of which every screen knows the names. */
  rules: Loaded<GetChatRulesResponse>
  /** The user whose card is open. */
  userId: string | undefined
  /**
   * openCard shows the card of a user, optionally with a form in it; undefined closes it. With
   * the user's name, the form is there before the card has been read.
   */
  openCard: (userId: string | undefined, form?: 'ban' | 'mute', displayName?: string) => void
}

export const DeskContext = createContext<Desk>(undefined as unknown as Desk)
export const useDesk = (): Desk => useContext(DeskContext)

/** useReadOnly reports whether the user lost the right to moderate the channel. */
export const useReadOnly = (): boolean => useStored(useDesk().store, (state) => state.connection.rightLost)

/** ruleName names a rule, which may be deleted since, or not be read yet. */
export const ruleName = (rules: Loaded<GetChatRulesResponse>, id: string): string =>
  rules.data?.rules.find(({ ruleId }) => ruleId === id)?.name ?? (rules.data ? 'a former rule' : 'a rule')
