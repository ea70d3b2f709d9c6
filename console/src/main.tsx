import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { session } from './api/session'
import { App } from './app'
import { Welcome } from './screens/welcome'
import './style/tokens.css'
import './style/base.css'
import './style/shell.css'
import './style/chat.css'
import './style/screens.css'
import './style/people.css'
import './style/work.css'
import 'uplot/dist/uPlot.min.css'

function Root() {
  const [state, setState] = useState(session.state)
  useEffect(() => {
    const stop = session.subscribe(() => setState(session.state))
    void session.start()
    return stop
  }, [])
  return state === 'signed-in' ? <App /> : <Welcome state={state} />
}

const root = document.getElementById('app')!
root.replaceChildren()
render(<Root />, root)
