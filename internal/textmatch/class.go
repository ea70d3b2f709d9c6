package textmatch

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxClassesWidth bounds how many characters the classes of a pattern have, counted
	// once for each range that is written: the parser folds the case of each character of
	// each range, also where ranges overlap.
	maxClassesWidth = 1 << 18
	// namedWidth is what a class of Unicode such as \p{L} counts. Its folded form is known,
	// but has hundreds of ranges.
	namedWidth = 1 << 14
	// firstCased and lastCased are the first and the last character that have a case. The
	// parser folds no others.
	firstCased, lastCased = 'A', 0x1E943
)

// classesWidth returns how many characters from firstCased to lastCased the classes of a
// pattern have. It also counts what only looks like a range, so that it need not know where
// a class begins, and agrees with the parser of regular expressions at least to within 60
// characters for each range.
func classesWidth(pattern string) int {
	width := 0
	for i := range len(pattern) {
		switch rest := pattern[i+1:]; {
		case pattern[i] == '-':
			width += int(max(0, min(upperBound(rest), lastCased)-max(lowerBound(pattern[:i]), firstCased)+1))
		case pattern[i] == '\\' && rest != "" && (rest[0] == 'p' || rest[0] == 'P'):
			width += namedWidth
		}
	}
	return width
}

// lowerBound returns the character with which a range begins, before its hyphen. Of an
// escape other than \x{…} it returns the last character, which is at most 60 above what the
// escape stands for or 'A'.
func lowerBound(before string) rune {
	if hex, isClosed := strings.CutSuffix(before, "}"); isClosed {
		start := strings.LastIndex(hex, `\x{`)
		if start >= 0 && (start-len(strings.TrimRight(hex[:start], `\`)))%2 == 0 { // the backslash is not escaped
			if r, err := strconv.ParseInt(hex[start+len(`\x{`):], 16, 32); err == nil {
				return rune(r)
			}
		}
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return r
}

// upperBound returns the character with which a range ends, after its hyphen, or one that
// is larger.
func upperBound(after string) rune {
	if hex, isHex := strings.CutPrefix(after, `\x{`); isHex {
		hex, _, _ = strings.Cut(hex, "}")
		if r, err := strconv.ParseInt(hex, 16, 32); err == nil {
			return rune(r)
		}
		return utf8.MaxRune
	}
	if strings.HasPrefix(after, `\`) {
		return 0xFF // no other escape stands for a larger character
	}
	r, _ := utf8.DecodeRuneInString(after)
	return r
}

// isNegated reports whether a class has all characters from one on, which those of
// negated classes have.
func isNegated(class []rune) bool { return len(class) > 0 && class[len(class)-1] == utf8.MaxRune }

// lowerImages returns the small letters of the capital ASCII letters in a class, which a
// part of a pattern that distinguishes case may have alone.
func lowerImages(class []rune) []rune {
	var images []rune
	for r := 'A'; r <= 'Z'; r++ {
		if small := r + 'a' - 'A'; contains(class, r) && !contains(class, small) {
			images = append(images, small)
		}
	}
	return images
}

// lookAlikeImages returns what the characters of a class are replaced with in messages,
// where that is one character that the class does not have.
func lookAlikeImages(class []rune) []rune {
	var images []rune
	for i := 0; i < len(class); i += 2 {
		for r := max(class[i], utf8.RuneSelf); r <= min(class[i+1], lastReplaced); r++ {
			to := replacement(r)
			image, length := utf8.DecodeRuneInString(to)
			if to != "" && length == len(to) && !contains(class, image) && !slices.Contains(images, image) {
				images = append(images, image)
			}
		}
	}
	return images
}

// contains reports whether a class, whose ranges are in order, has a character.
func contains(class []rune, r rune) bool {
	n, found := slices.BinarySearch(class, r)
	return found || n%2 == 1
}
