import type { GetProfileResponse } from '@moderato-live/client'
import { session } from '../api/session'
import type { OwnChannel } from '../desk'
import { hrefOf } from '../route'
import { Avatar, Button, Empty, Note } from '../ui/basics'

/** Channels lists the channels that the user may moderate, live ones first. */
export function Channels({ profile, channels, unknown }: { profile: GetProfileResponse; channels: OwnChannel[]; unknown: string }) {
  return (
    <main class="page channels-page">
      <div class="page-inside">
        <div class="page-head">
          <img src="icon.svg" alt="" width="32" height="32" />
          <h1>Channels</h1>
          <span class="muted">{profile.displayName}</span>
          <Button icon="exit" onClick={() => void session.signOut()}>Sign out</Button>
        </div>
        {unknown && <Note kind="warn">You neither own nor moderate a channel named “{unknown}”.</Note>}
        {channels.length === 0 && <Empty icon="moderator" title="No channels yet">When a channel makes you a moderator, it appears here.</Empty>}
        <ul class="channel-list">
          {channels.map((channel) => (
            <li>
              <a class="box channel-box" href={hrefOf({ channel: channel.username })}>
                <Avatar size="large" user={channel} />
                <span class="grow">
                  <span class="row"><strong class="cut">{channel.displayName}</strong><span class="chip">{channel.role === 'owner' ? 'Owner' : 'Moderator'}</span></span>
                  <span class="cut muted block">{channel.stream.title || 'No title'}</span>
                </span>
                <span class={`live-mark ${channel.stream.isLive ? 'on' : ''}`}>{channel.stream.isLive ? 'Live' : 'Offline'}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </main>
  )
}
