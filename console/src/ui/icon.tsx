// Icons on a grid of 16 × 16, drawn with lines.
const paths = {
  chat: 'M2.5 3.5h11v7.5h-6l-3 2.5v-2.5h-2z',
  raid: 'M8 1.5l5.5 2v4c0 3.5-2.3 5.8-5.5 7-3.2-1.2-5.5-3.5-5.5-7v-4zM8 5v3.5M8 11v.1',
  queue: 'M2.5 9h3l1 2h3l1-2h3M2.5 9l2-6h7l2 6v4.5h-11z',
  rules: 'M2.5 4l1.2 1.2L6 3M2.5 8.5l1.2 1.2L6 7.5M8.5 4.5h5M8.5 9h5M2.5 13h11',
  log: 'M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3',
  people: 'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c.3-2.5 2-4 4.5-4s4.2 1.5 4.5 4M11 3a2.3 2.3 0 0 1 0 4.3M12 9.8c1.5.5 2.3 1.8 2.5 3.7',
  plots: 'M2 13.5h12M3.5 11V7.5M7 11V3.5M10.5 11V6M13.5 11V8.5',
  away: 'M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5',
  settings: 'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM5.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  more: 'M3 8h.1M8 8h.1M13 8h.1',
  ban: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 3.8l8.4 8.4',
  mute: 'M2.5 6v4h2.5l3.5 3V3L5 6zM11 6.2l3 3.6M14 6.2l-3 3.6',
  trash: 'M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.6L12 4M6.7 6.5v4.5M9.3 6.5v4.5',
  undo: 'M5.5 3L2.5 6l3 3M2.5 6H10a3.5 3.5 0 0 1 0 7H6',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3L14 14',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  check: 'M2.5 8.5l3.5 3.5 7.5-8',
  warning: 'M8 2l6.5 11.5h-13zM8 6.5v3M8 11.5v.1',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5v.1',
  down: 'M4 6l4 4 4-4',
  left: 'M10 3L5 8l5 5',
  send: 'M2 8l12-5.5-4.5 11.5-2-5z',
  pin: 'M10 2l4 4-3 1-2.5 2.5-.5 3L3.5 8l3-.5L9 5zM5.5 10.5L2 14',
  owner: 'M2 5l3 2.5L8 3l3 4.5L14 5l-1 7.5H3z',
  moderator: 'M13.5 2.5l-.5 3-6 6-2.5-2.5 6-6zM3 8.5l4.5 4.5M5 10.5l-3 3',
  vip: 'M4 3h8l2.5 3.5L8 14 1.5 6.5zM1.5 6.5h13',
  og: 'M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z',
  subscriber: 'M8 13.5C3 10.5 2 8 2 6.2A3 3 0 0 1 8 5a3 3 0 0 1 6 1.2c0 1.8-1 4.3-6 7.3z',
  link: 'M6.5 9.5l3-3M7 4.5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5L7.5 13a2.8 2.8 0 0 1-4-4L5 7.5',
  download: 'M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11',
  upload: 'M8 10.5v-8M4.5 5.5L8 2l3.5 3.5M2.5 13.5h11',
  plus: 'M8 3v10M3 8h10',
  exit: 'M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.1M6.7 6.5h.1M9.3 6.5h.1M12 6.5h.1M5 9.5h6',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.2l2 1.3',
  flag: 'M3.5 14V2.5M3.5 3h8l-1.5 2.7L11.5 8.5h-8',
  refresh: 'M13.5 8A5.5 5.5 0 1 1 11.7 4M13.5 2v3h-3',
} as const

export type IconName = keyof typeof paths

/** Icon shows a picture that repeats what the text beside it says. A title replaces that text. */
export function Icon({ name, title, class: extra = '' }: { name: IconName; title?: string; class?: string }) {
  return (
    <svg class={`icon-mark ${extra}`} viewBox="0 0 16 16" {...(title ? { role: 'img', 'aria-label': title } : { 'aria-hidden': true })}>
      {title && <title>{title}</title>}
      <path d={paths[name]} />
    </svg>
  )
}
