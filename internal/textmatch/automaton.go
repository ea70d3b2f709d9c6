package textmatch

import (
	"bytes"
	"slices"
	"sort"
	"unicode/utf8"
	"unsafe"
)

// automaton finds any number of keys in one pass over a text, as Aho and Corasick describe it. Its
// nodes are in the order of their depth, so that the children of a node follow each other, and a
// node takes seven bytes if there are fewer than 65,536 of them: the automata of libraries, with a
// table for each node, take a hundred times as much.
type automaton[N uint16 | uint32] struct {
	labels []byte // of the edge that leads to a node
	first  []N    // the first child of each node; that of the next node is the end
	fail   []N    // the node of the longest suffix
	ending []N    // the node of the longest suffix, or the node itself, that is the end of a key; or 0
	root   [256]N
	// ends are the nodes that are the end of a key, in order, and from is where the entries of each begin.
	ends []N
	from []uint32
}

// searcher is an automaton of some size.
type searcher interface {
	// search calls found for each key in a text, with where it ends in the text, and with the
	// entries that have this key.
	search(text []byte, found func(end int, entries, to uint32))
	// searchWords is search in a text of which each run of separators is one space.
	searchWords(text []byte, found func(end int, entries, to uint32))
	size() int
	// depth returns the most that entries can weigh together that end at the same position of a text.
	depth(weight func(entries, to uint32) int) int
}

// newSearcher returns a searcher for the keys of some entries, which it sorts.
func newSearcher(entries []keyed) searcher {
	slices.SortStableFunc(entries, func(a, b keyed) int { return bytes.Compare(a.key, b.key) })
	nodes := 1
	var last []byte
	for _, e := range entries {
		common := 0
		for common < len(last) && common < len(e.key) && last[common] == e.key[common] {
			common++
		}
		nodes += len(e.key) - common
		last = e.key
	}
	if nodes < 1<<16 {
		return newAutomaton[uint16](entries, nodes)
	}
	return newAutomaton[uint32](entries, nodes)
}

// branch is a node while the automaton is made: the entries whose keys begin with its text.
type branch struct{ from, to, depth int }

func newAutomaton[N uint16 | uint32](entries []keyed, nodes int) *automaton[N] {
	a := &automaton[N]{
		labels: make([]byte, 1, nodes), first: make([]N, 0, nodes+1), fail: make([]N, nodes), ending: make([]N, nodes),
	}
	branches := make([]branch, 1, nodes)
	branches[0] = branch{0, len(entries), 0}
	sorted := make([]keyed, 0, len(entries))
	for node := 0; node < len(branches); node++ {
		b := branches[node]
		a.first = append(a.first, N(len(branches)))
		if i := b.from; i < b.to && len(entries[i].key) == b.depth {
			a.ends, a.from = append(a.ends, N(node)), append(a.from, uint32(len(sorted)))
			a.ending[node] = N(node)
			for ; b.from < b.to && len(entries[b.from].key) == b.depth; b.from++ {
				sorted = append(sorted, entries[b.from])
			}
		}
		for i := b.from; i < b.to; {
			c := entries[i].key[b.depth]
			end := i + sort.Search(b.to-i, func(n int) bool { return entries[i+n].key[b.depth] > c })
			a.labels = append(a.labels, c)
			branches = append(branches, branch{i, end, b.depth + 1})
			i = end
		}
	}
	a.first, a.from = append(a.first, N(len(branches))), append(a.from, uint32(len(sorted)))
	copy(entries, sorted)
	a.link()
	a.ends, a.from = exact(a.ends), exact(a.from)
	return a
}

// link finds the suffixes of all nodes, of which those of lower depth come first.
func (a *automaton[N]) link() {
	for child := a.first[0]; child < a.first[1]; child++ {
		a.root[a.labels[child]] = child
	}
	for node := range a.fail {
		for child := a.first[node]; child < a.first[node+1]; child++ {
			if node > 0 {
				a.fail[child] = a.next(a.fail[node], a.labels[child])
			}
			if a.ending[child] == 0 {
				a.ending[child] = a.ending[a.fail[child]]
			}
		}
	}
}

func (a *automaton[N]) next(node N, c byte) N {
	for node != 0 {
		for child, end := a.first[node], a.first[node+1]; child < end; child++ {
			if a.labels[child] == c {
				return child
			}
		}
		node = a.fail[node]
	}
	return a.root[c]
}

// report calls found for all keys that end at a node.
func (a *automaton[N]) report(node N, end int, found func(end int, entries, to uint32)) {
	for node = a.ending[node]; node != 0; node = a.ending[a.fail[node]] {
		i, _ := slices.BinarySearch(a.ends, node)
		found(end, a.from[i], a.from[i+1])
	}
}

func (a *automaton[N]) search(text []byte, found func(end int, entries, to uint32)) {
	var node N
	for i, c := range text {
		if node = a.next(node, c); a.ending[node] != 0 {
			a.report(node, i+1, found)
		}
	}
}

func (a *automaton[N]) searchWords(text []byte, found func(end int, entries, to uint32)) {
	var node N
	inWord := false
	for i := 0; i < len(text); {
		size, separates := 1, false
		if c := text[i]; c < utf8.RuneSelf {
			separates = !isWordByte(c)
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			separates = isSeparator(r)
		}
		end := i + size
		switch {
		case !separates:
			for ; i < end; i++ {
				node = a.next(node, text[i])
			}
			if a.ending[node] != 0 {
				a.report(node, end, found)
			}
		case inWord:
			node = a.next(node, ' ')
		}
		i, inWord = end, !separates
	}
}

func (a *automaton[N]) size() int {
	n := int(unsafe.Sizeof(*a)) + cap(a.labels) + 4*cap(a.from)
	return n + int(unsafe.Sizeof(N(0)))*(cap(a.first)+cap(a.fail)+cap(a.ending)+cap(a.ends))
}

func (a *automaton[N]) depth(weight func(entries, to uint32) int) int {
	most := 0
	sums := make(map[N]int, len(a.ends))
	for i, node := range a.ends { // suffixes have lower numbers
		sums[node] = weight(a.from[i], a.from[i+1]) + sums[a.ending[a.fail[node]]]
		most = max(most, sums[node])
	}
	return most
}
