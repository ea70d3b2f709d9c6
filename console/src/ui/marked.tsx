import type { Span } from '@moderato-live/client'
import { withoutEmotes } from '../format'
import { partsOf } from '../model/rules'

/** Marked is a text of a user in which the parts that a rule found are marked. */
export const Marked = ({ text, spans }: { text: string; spans: readonly Span[] }) =>
  <bdi class="user-text">{partsOf(text, spans).map((part, i) => (i % 2 ? <mark>{part}</mark> : withoutEmotes(part)))}</bdi>
