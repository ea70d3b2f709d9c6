package textmatch

import (
	"bytes"
	"unicode/utf8"
	"unsafe"
)

// Phrases finds any number of phrases in a text at the same time. It can be used concurrently.
type Phrases struct {
	searcher searcher
	entries  []entry
	runs     []run   // of the keys of disguised phrases
	words    []words // of phrases with separators
	uses     use     // of all entries
	steps    int
}

// Found is a phrase in a text.
type Found struct {
	// ID is that with which the phrase was added.
	ID   uint32
	Span Span
}

// use says in which texts the key of an entry is looked for.
type use uint8

const (
	usePlain    use = 1 << iota // the plain form
	useMerged                   // the merged form
	useExact                    // with the separators as they are: a phrase such as c++ has some
	useSkeleton                 // the skeleton
	anyStart                    // the phrase may begin within a word
	anyEnd
)

// entry is a spelling of a phrase.
type entry struct {
	id     uint32
	more   uint32 // where its runs begin, or which words it has
	length uint16 // of the key
	use    use
}

// keyed is an entry with its key, which only the automaton has later.
type keyed struct {
	entry

	key []byte
}

// PhrasesBuilder collects phrases.
type PhrasesBuilder struct {
	p     Phrases
	keyed []keyed
}

// Add adds a phrase. With evasions, it is also found if digits or signs replace letters, if letters
// are repeated three times or more, and if they are spaced, dotted or marked up. The errors are
// those of Phrase.
func (b *PhrasesBuilder) Add(id uint32, phrase string, evasions bool) error {
	m, err := parsePhrase(phrase)
	if err != nil {
		return err
	}
	b.addWords(id, m.plain, usePlain)
	for _, w := range m.merged {
		b.addWords(id, w, useMerged)
	}
	if evasions {
		b.addSkeletons(id, phrase)
	}
	return nil
}

// addWords adds a spelling of a phrase.
func (b *PhrasesBuilder) addWords(id uint32, w words, of use) {
	if w.anyStart {
		of |= anyStart
	}
	if w.anyEnd {
		of |= anyEnd
	}
	e := keyed{entry{id: id, use: of}, bytes.Join(w.parts, []byte(" "))}
	for _, part := range w.parts {
		if bytes.ContainsFunc(part, isSeparator) {
			e.key, e.use, e.more = w.parts[0], of|useExact, uint32(len(b.p.words))
			b.p.words = append(b.p.words, w)
			break
		}
	}
	b.add(e)
}

// add adds an entry, or what it adds to the last one.
func (b *PhrasesBuilder) add(e keyed) {
	e.length = uint16(len(e.key))
	if last := len(b.keyed) - 1; last >= 0 && e.use&(useExact|useSkeleton) == 0 {
		if l := &b.keyed[last]; l.id == e.id && l.use&(useExact|useSkeleton) == 0 && bytes.Equal(l.key, e.key) {
			l.use |= e.use
			return
		}
	}
	b.keyed = append(b.keyed, e)
}

// Build returns the Phrases. The builder is not used any more.
func (b *PhrasesBuilder) Build() *Phrases {
	p := b.p // a copy, so that the builder is not kept
	p.searcher = newSearcher(b.keyed)
	p.entries = make([]entry, len(b.keyed))
	for i, k := range b.keyed {
		p.entries[i] = k.entry
		p.uses |= k.use
	}
	p.runs, p.words = exact(p.runs), exact(p.words)
	p.steps = p.passes() + p.searcher.depth(p.weight)
	return &p
}

// exact returns a copy that takes no more memory than it needs.
func exact[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }

// passes returns how many passes over a text there are at most.
func (p *Phrases) passes() int {
	n := 2
	if p.uses&useExact != 0 {
		n += 2
	}
	if p.uses&useSkeleton != 0 {
		n += 2
	}
	return n
}

// weight returns how many steps some entries take where their key is found.
func (p *Phrases) weight(entries, to uint32) int {
	n := 0
	for _, e := range p.entries[entries:to] {
		switch {
		case e.use&useSkeleton != 0:
			n += int(e.length)
		case e.use&useExact != 0:
			n += len(p.words[e.more].parts)
		default:
			n++
		}
	}
	return n
}

// Steps returns how many steps Find takes at most for each byte of a folded text.
func (p *Phrases) Steps() int { return p.steps }

// Size returns about how many bytes of memory the Phrases have.
func (p *Phrases) Size() int {
	n := int(unsafe.Sizeof(*p)) + p.searcher.size() + len(p.entries)*int(unsafe.Sizeof(entry{})) + 2*len(p.runs)
	for _, w := range p.words {
		n += int(unsafe.Sizeof(w))
		for _, part := range w.parts {
			n += partSize + len(part)
		}
	}
	return n
}

// Find calls found for each phrase in a text. It may call it more than once for the same part.
func (p *Phrases) Find(t *Text, found func(Found)) {
	if bytes.Equal(t.form(plainForm), t.form(mergedForm)) {
		p.findIn(t, plainForm, usePlain|useMerged, found)
	} else {
		p.findIn(t, mergedForm, useMerged, found)
		p.findIn(t, plainForm, usePlain, found)
	}
	if p.uses&useSkeleton != 0 {
		p.findDisguised(t, found)
	}
}

// findIn finds phrases in a form.
func (p *Phrases) findIn(t *Text, of form, as use, found func(Found)) {
	text := t.form(of)
	p.searcher.searchWords(text, func(end int, from, to uint32) {
		for _, e := range p.entries[from:to] {
			if e.use&as == 0 || e.use&useExact != 0 {
				continue
			}
			if start := startOf(text, end, int(e.length)); e.isWhole(text, start, end) {
				found(Found{e.id, t.span(of, start, end)})
			}
		}
	})
	if p.uses&useExact == 0 {
		return
	}
	p.searcher.search(text, func(end int, from, to uint32) {
		for _, e := range p.entries[from:to] {
			if e.use&as == 0 || e.use&useExact == 0 {
				continue
			}
			start := end - int(e.length)
			if end := p.words[e.more].endAt(text, start); end >= 0 && e.isWhole(text, start, end) {
				found(Found{e.id, t.span(of, start, end)})
			}
		}
	})
}

// isWhole reports whether a part of a text begins and ends as the phrase may.
func (e *entry) isWhole(text []byte, start, end int) bool {
	return (e.use&anyStart != 0 || isStart(text, start)) && (e.use&anyEnd != 0 || isEnd(text, end))
}

// startOf returns where a key of some length begins that ends at a position of a text. Each run of
// separators is one space of the key.
func startOf(text []byte, end, length int) int {
	for ; length > 0; length-- {
		r, size := utf8.DecodeLastRune(text[:end])
		if !isSeparator(r) {
			end -= size
			length -= size - 1
			continue
		}
		for size > 0 && isSeparator(r) {
			end -= size
			r, size = utf8.DecodeLastRune(text[:end])
		}
	}
	return end
}
