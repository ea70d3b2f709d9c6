import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { session } from './api/session'
import { App } from './app'
import { useWatched } from './model/watched'
import { Welcome } from './screens/welcome'
import './style/tokens.css'
import './style/base.css'
import './style/shell.css'
import './style/chat.css'
import './style/screens.css'
import './style/people.css'
import './style/work.css'
import './style/rules.css'

function Root() {
  useWatched(session)
  useEffect(() => void session.start(), [])
  return session.state === 'signed-in' ? <App /> : <Welcome state={session.state} />
}

const root = document.getElementById('app')!
root.replaceChildren()
render(<Root />, root)
