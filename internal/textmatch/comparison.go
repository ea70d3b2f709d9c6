package textmatch

import (
	"bytes"
	"unicode/utf8"
)

// comparison collects what is different in a text and a phrase.
type comparison struct {
	phrase   int // letters of the phrase
	letters  int // of the text
	replaced int
	word     word // that is compared
	widest   gap  // within words
	isUneven bool // a word is
}

// word is a word of a phrase in a text.
type word struct {
	bases  int // letters that are not marks
	gaps   int // between them
	widest gap
}

// isPlain reports whether nothing separates the letters of a word.
func (w word) isPlain() bool { return w.gaps == 0 && w.bases > 1 }

// isUneven reports whether something separates some letters of a word, but not all. Markup may.
func (w word) isUneven() bool { return w.gaps > 0 && w.gaps != w.bases-1 && w.widest != markup }

// compare compares the letters of a stretch with a run of the phrase.
func (c *comparison) compare(letters []letter, r run, isFirst, isOpen bool) bool {
	length := int(r & runLength)
	if n := len(letters); n != length && (n < length || n < minRepeated && !isOpen) {
		return false
	}
	c.phrase += length
	words, gaps := int(r>>runWords), gapsIn(letters)
	replaced := 0
	for i, l := range letters {
		c.letters++
		if l.isReplaced {
			replaced++
		}
		if l.isMark {
			continue
		}
		switch {
		case isFirst && i == 0:
		case i == 0 && r&runNextWord != 0:
			if l.before == noGap {
				return false
			}
			c.endWord()
		case l.before == noGap:
		case i > 0 && words > 0 && (words >= gaps || c.word.isPlain()):
			words--
			c.endWord()
		default:
			c.word.gaps++
			c.word.widest = max(c.word.widest, l.before)
		}
		c.word.bases++
		if i > 0 && l.before != noGap {
			gaps--
		}
	}
	if r&runDigit == 0 {
		c.replaced += replaced
	}
	return words == 0 && (r&runDigit == 0 || replaced > 0)
}

// gapsIn returns how many gaps are between some letters.
func gapsIn(letters []letter) (n int) {
	for _, l := range letters[1:] {
		if l.before != noGap && !l.isMark {
			n++
		}
	}
	return n
}

func (c *comparison) endWord() {
	c.widest = max(c.widest, c.word.widest)
	c.isUneven = c.isUneven || c.word.isUneven()
	c.word = word{}
}

// isDisguise reports whether what is different disguises a phrase.
func (c *comparison) isDisguise(text []byte) bool {
	c.endWord()
	if c.replaced > 0 && (c.phrase < minDisguised || c.isQuantity(text)) {
		return false
	}
	if c.widest == noGap {
		return true
	}
	least := minDisguised
	if r, _ := utf8.DecodeRune(text); !hasWords(r) && c.widest <= tight {
		least = minTight
	}
	return c.phrase >= least && c.widest < far && !c.isUneven
}

// isQuantity reports whether what has digits or signs for letters is more likely a number, such as
// 5am, $10k and A55.
func (c *comparison) isQuantity(text []byte) bool {
	digits := bytes.ContainsAny(text, "0123456789")
	switch c.letters - c.replaced {
	case 0:
		return digits || c.phrase < minDisguised || len(bytes.Trim(text, string(text[:1]))) == 0
	case 1:
		return digits
	case 2:
		return len(text)-len(bytes.TrimLeft(text, "0123456789")) == c.replaced && c.letters == len(text)
	}
	return false
}
