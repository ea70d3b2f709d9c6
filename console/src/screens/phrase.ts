/**
 * suggestPhrase returns the longest run of words that all messages share, or else the first
 * message: what a sweep of a raid should look for.
 */
export function suggestPhrase(texts: string[]): string {
  const [first = [], ...others] = texts.map((text) => text.trim().split(/\s+/))
  for (let length = first.length; length > 0; length--) {
    for (let start = 0; start + length <= first.length; start++) {
      const run = first.slice(start, start + length)
      if (others.every((words) => contains(words, run))) return cut(run.join(' '))
    }
  }
  return cut(texts[0]?.trim() ?? '')
}

function contains(words: string[], run: string[]): boolean {
  return words.some((_, start) => run.every((word, i) => words[start + i]?.toLowerCase() === word.toLowerCase()))
}

const cut = (phrase: string): string => [...phrase].slice(0, 100).join('')
