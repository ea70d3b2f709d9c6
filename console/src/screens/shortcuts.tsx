import { useState } from 'preact/hooks'
import { Check } from '../ui/basics'
import { Dialog } from '../ui/dialog'
import { areKeysOn, setKeys } from '../ui/keys'

const groups: [string, [string, string][]][] = [
  ['Chat', [
    ['J K', 'Select the next or previous message'], ['Enter', 'Open the card of its sender'], ['D', 'Delete the message'],
    ['B B', 'Ban the sender permanently'], ['B, then Tab', 'Give a reason and a duration first'],
    ['M 1 to M 5', 'Mute for 1 minute, 10 minutes, 1 hour, 1 day, 7 days'], ['A X', 'Approve or deny a held message'], ['Esc', 'Let the chat go on'],
  ]],
  ['Queue', [['A', 'Approve'], ['X', 'Deny'], ['J K', 'Go to the next or previous message'], ['Enter', 'Show the text, then the card of the sender']]],
  ['Lists of people', [['J K', 'Go to the next or previous row'], ['Space', 'Select the row, or with Shift and a click all up to it'], ['Enter', 'Open the card']]],
  ['Everywhere', [
    ['Z', 'Undo the latest change'], ['/', 'Search'], ['?', 'Show this list'],
    ['G C', 'Chat'], ['G Q', 'Queue'], ['G R', 'Raid'], ['G U', 'People'], ['G L', 'Log'], ['G T', 'Chat rules (terms)'], ['G P', 'Plots'],
  ]],
]

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [on, setOn] = useState(areKeysOn())
  return (
    <Dialog title="Keys" onClose={onClose}>
      {groups.map(([name, keys]) => (
        <section class="section">
          <h3>{name}</h3>
          <dl class="facts keys-list">{keys.map(([key, text]) => <><dt><kbd>{key}</kbd></dt><dd>{text}</dd></>)}</dl>
        </section>
      ))}
      <Check label="Use single keys" checked={on} onChange={(value) => (setKeys(value), setOn(value))} />
    </Dialog>
  )
}
