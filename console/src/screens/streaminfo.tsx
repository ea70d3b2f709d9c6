import { useEffect, useState } from 'preact/hooks'
import { actions } from '../actions'
import { useDesk, useReadOnly } from '../desk'
import { useStored } from '../model/store'
import { Button, Empty, Field, Problem, Progress, SearchField } from '../ui/basics'
import { Dialog } from '../ui/dialog'
import { useList, useLoad } from '../ui/load'
import { Waiting } from '../ui/page'

interface Info {
  title: string
  lang: string
  category: { id: number; name: string }
}

const languages = ['ar', 'bg', 'ca', 'cs', 'da', 'de', 'el', 'en', 'es', 'et', 'fi', 'fr', 'he', 'hi', 'hr',
  'hu', 'id', 'it', 'ja', 'ko', 'lt', 'lv', 'ms', 'nl', 'no', 'pl', 'pt', 'pt-BR', 'ro', 'ru', 'sk', 'sl', 'sr', 'sv', 'th', 'tl', 'tr', 'uk', 'vi', 'zh', 'zh-Hant']
const names = new Intl.DisplayNames('en', { type: 'language' })
const nameOf = (tag: string): string => (tag && names.of(tag)) || tag
const byName = languages.map((tag) => [tag, nameOf(tag)] as const).sort((a, b) => a[1].localeCompare(b[1]))
const maxTitle = 140

/** StreamInfo changes what viewers read about the stream. What others change meanwhile appears in it. */
export function StreamInfo() {
  const { client, channel, store } = useDesk()
  const { title: told, category: toldCategory } = useStored(store, (state) => state.stream)
  const readOnly = useReadOnly()
  const info = useLoad(async (signal): Promise<Info> => {
    const { rows: [row] } = await client.channels.listChannels({ slug: [channel.username], type: 'all' }, { signal })
    if (!row) throw new Error('The channel was not found.')
    return { title: row.title, lang: row.lang, category: row.category }
  }, [channel.id, told, toldCategory])
  const [edited, setEdited] = useState<Partial<Info>>({})
  const [choosing, setChoosing] = useState(false)
  useEffect(() => setEdited((before) => (info.data ? different(before, info.data) : before)), [info.data])
  const saved = info.data
  if (!saved) return <Waiting of={info} />
  const { title, lang, category } = { ...saved, ...edited }
  const isChanged = Object.keys(different(edited, saved)).length > 0
  const length = [...title].length // the server counts code points too
  const problem = !title.trim() ? 'Viewers need a title.' : length > maxTitle ? `A title has at most ${maxTitle} characters, and this one has ${length}.` : undefined
  const save = (value: Info) => (options: object): Promise<unknown> =>
    client.channels.updateInfo({ channelId: channel.id, title: value.title.trim(), lang: value.lang, categoryId: value.category.id }, options).then(info.reload)
  return (
    <form class="box inside stack form" onSubmit={(event) => (event.preventDefault(), void actions.run('Saving the stream info', 'Saved the stream info', save({ title, lang, category }), () => save(saved)))}>
      <Field label="Title" problem={problem} hint={`${length} of ${maxTitle} characters`}>
        {(attributes) => <input class="input" {...attributes} value={title} onInput={(event) => setEdited({ ...edited, title: event.currentTarget.value })} />}
      </Field>
      <Field label="Language">{(attributes) => (
        <select class="input" {...attributes} value={lang} onChange={(event) => setEdited({ ...edited, lang: event.currentTarget.value })}>
          {!languages.includes(lang) && <option value={lang} selected>{nameOf(lang)}</option>}
          {byName.map(([tag, name]) => <option value={tag} selected={tag === lang}>{name}</option>)}
        </select>
      )}</Field>
      <div class="field"><span class="label">Category</span><p class="row"><strong>{category.name}</strong><Button little onClick={() => setChoosing(true)}>Change<span class="hidden-text"> the category</span></Button></p></div>
      <p class="row"><Button type="submit" kind="main" disabled={!isChanged || !!problem || readOnly}>Save</Button>{isChanged && <Button onClick={() => setEdited({})}>Discard</Button>}</p>
      {choosing && <CategoryDialog onChoose={(chosen) => (setEdited({ ...edited, category: chosen }), setChoosing(false))} onClose={() => setChoosing(false)} />}
    </form>
  )
}

/** different returns the edited fields that differ from what is saved. */
function different(edited: Partial<Info>, saved: Info): Partial<Info> {
  const { category } = edited
  return Object.fromEntries(Object.entries(edited).filter(([name, value]) =>
    name === 'category' ? category?.id !== saved.category.id : (value as string).trim() !== saved[name as 'title' | 'lang']))
}

function CategoryDialog({ onChoose, onClose }: { onChoose: (category: Info['category']) => void; onClose: () => void }) {
  const { client } = useDesk()
  const [term, setTerm] = useState('')
  const list = useList((cursor, signal) => client.channels.listCategories({ limit: 30, ...(term && { term }), ...(cursor && { cursor }) }, { signal }), [term])
  return (
    <Dialog title="Choose a category" onClose={onClose}>
      <SearchField label="Search categories" value={term} onSearch={setTerm} />
      {list.error ? <Problem error={list.error} onRetry={list.reload} /> : list.slow && <Progress />}
      {list.rows?.length === 0 && <Empty icon="search" title="No category matches" />}
      <ul class="lines">{list.rows?.map(({ id, name }) => <li key={id}><button type="button" class="channel-link" onClick={() => onChoose({ id, name })}>{name}</button></li>)}</ul>
      {list.more && <Button busy={list.loadingMore} onClick={list.more}>More</Button>}
    </Dialog>
  )
}
