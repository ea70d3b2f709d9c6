package textmatch

import (
	_ "embed"
	"strings"
	"unicode/utf8"
)

// lookAlikes has a line for each text with which characters beyond ASCII are replaced: the
// text, a tab, and the characters.
//
//go:embed lookalikes.txt
var lookAlikes string

// pageBits is the number of low bits of a character that select its entry in a page.
const pageBits = 7

type page [1 << pageBits]string

// pages has the replacements of all characters; nil is a page without any.
var pages = readLookAlikes(lookAlikes)

// lastReplaced is the last character that may have a replacement.
var lastReplaced = rune(len(pages)<<pageBits - 1)

func readLookAlikes(data string) []*page {
	var pages []*page
	for line := range strings.Lines(data) {
		to, characters, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		to = strings.Map(withoutDecoration, to)
		for _, r := range characters {
			n := int(r >> pageBits)
			for len(pages) <= n {
				pages = append(pages, nil)
			}
			if pages[n] == nil {
				pages[n] = new(page)
			}
			pages[n][r&(1<<pageBits-1)] = to
		}
	}
	return pages
}

// withoutDecoration removes decorations from a text, with strings.Map.
func withoutDecoration(r rune) rune {
	if isDecoration(r) {
		return -1
	}
	return r
}

// replacement returns the text with which a look-alike beyond ASCII is replaced. It returns
// "" for other characters.
func replacement(r rune) string {
	if r < utf8.RuneSelf || r > lastReplaced || pages[r>>pageBits] == nil {
		return ""
	}
	return pages[r>>pageBits][r&(1<<pageBits-1)]
}
