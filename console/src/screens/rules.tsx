import { useReadOnly } from '../desk'
import type { Route } from '../route'
import { Note } from '../ui/basics'
import { Page } from '../ui/page'
import { ModeSettings } from './modes'
import { Parts, type Part } from './people'
import { RuleList } from './rulelist'
import { RuleVersions } from './ruleversions'
import { ShieldPreset } from './shield'

const parts: Part[] = [{ part: 'rules', name: 'Rules' }, { part: 'modes', name: 'Settings' }, { part: 'shield', name: 'Shield' }, { part: 'versions', name: 'Versions' }]

/** Rules is what the channel allows in its chat. */
export function Rules({ route }: { route: Route }) {
  const readOnly = useReadOnly()
  const Shown = { modes: ModeSettings, shield: ShieldPreset, versions: RuleVersions }[route.part] ?? RuleList
  return (
    <Page title="Chat rules" beside={<Parts route={route} parts={parts} label="Chat rules" />}>
      {readOnly && <Note kind="danger">You no longer moderate this channel, so its rules may be out of date.</Note>}
      <Shown route={{ ...route, part: route.part || 'rules' }} key={route.part} />
    </Page>
  )
}
