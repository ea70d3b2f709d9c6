package wordlists_test

import (
	"math/rand/v2"
	"strings"
	"unicode"
)

// disguise changes a text so that people still read it. It returns the text unchanged if it does
// not apply.
type disguise func(text string, r *rand.Rand) string

var (
	digits = some(map[rune]rune{'a': '4', 'e': '3', 'i': '1', 'o': '0', 's': '5', 't': '7', 'b': '8', 'g': '9', 'z': '2'})
	signs  = some(map[rune]rune{'a': '@', 's': '$', 'i': '!', 'e': '€'})
	alike  = pairs("a", "а", "c", "с", "e", "е", "i", "і", "j", "ј", "o", "о", "p", "р", "s", "ѕ", "x", "х", "y", "у",
		"а", "a", "с", "c", "е", "e", "о", "o", "р", "p", "х", "x", "у", "y")
)

func upper(text string, _ *rand.Rand) string { return strings.ToUpper(text) }

// disguises are those that are always found, and evasions those that are found with evasions.
var (
	disguises = map[string]disguise{
		"fullwidth":    letters('a', '！'+'a'-'!', 'A', '！'+'A'-'!'),
		"mathematical": letters('a', '𝐚', 'A', '𝐀'),
		"circled":      letters('a', 'ⓐ', 'A', 'Ⓐ'),
		"outlined": func(text string, r *rand.Rand) string {
			return letters('A', 0x1CCD6)(strings.ToUpper(text), r)
		},
		"upper case":     upper,
		"zero-width":     after("\u200b", unicode.IsLetter),
		"struck":         after("\u0336", unicode.IsLetter),
		"tatweel":        after("ـ", func(r rune) bool { return unicode.Is(unicode.Arabic, r) }),
		"dots for space": replaced(" ", "."),
		"Markdown":       replaced(" ", "** __"),
		"Cyrillic":       alike,
	}
	evasions = map[string]disguise{
		"digits":          digits,
		"signs":           signs,
		"repeated":        repeated,
		"spaced":          between(" "),
		"dotted":          between("."),
		"dashed":          between("-"),
		"starred":         between("*"),
		"underscored":     between("_"),
		"first bold":      firstBold,
		"dotted digits":   chain(digits, between(".")),
		"spaced capitals": chain(upper, between(" ")),
		"wide repeated":   chain(repeated, letters('a', '！'+'a'-'!')),
		"struck signs":    chain(signs, after("\u0336", unicode.IsLetter)),
		"repeated digits": chain(digits, repeated),
		"Cyrillic spaced": chain(alike, between(" ")),
		"a word dotted":   oneWord(between(".")),
		"a word spaced":   oneWord(between(" ")),
		"a word dashed":   oneWord(chain(digits, between("-"))),
	}
)

// chain applies two disguises, if the first applies.
func chain(first, second disguise) disguise {
	return func(text string, r *rand.Rand) string {
		if once := first(text, r); once != text {
			return second(once, r)
		}
		return text
	}
}

// letters replaces the 26 letters from one on with those from another on, for each pair.
func letters(pairs ...rune) disguise {
	return func(text string, _ *rand.Rand) string {
		return strings.Map(func(r rune) rune {
			for i := 0; i < len(pairs); i += 2 {
				if first := pairs[i]; first <= r && r < first+26 {
					return pairs[i+1] + r - first
				}
			}
			return r
		}, text)
	}
}

func replaced(old, with string) disguise {
	return func(text string, _ *rand.Rand) string { return strings.ReplaceAll(text, old, with) }
}

func pairs(oldnew ...string) disguise {
	return func(text string, _ *rand.Rand) string { return strings.NewReplacer(oldnew...).Replace(text) }
}

// after puts a text after some characters.
func after(inserted string, of func(rune) bool) disguise {
	return func(text string, _ *rand.Rand) string {
		var b strings.Builder
		for _, r := range text {
			b.WriteRune(r)
			if of(r) {
				b.WriteString(inserted)
			}
		}
		return b.String()
	}
}

// between puts a text between the letters of words, with their marks.
func between(inserted string) disguise {
	return func(text string, _ *rand.Rand) string {
		var b strings.Builder
		var last rune
		for _, r := range text {
			if unicode.In(r, unicode.L, unicode.N) && unicode.In(last, unicode.L, unicode.M, unicode.N) {
				b.WriteString(inserted)
			}
			b.WriteRune(r)
			last = r
		}
		return b.String()
	}
}

// oneWord disguises one of several words.
func oneWord(of disguise) disguise {
	return func(text string, r *rand.Rand) string {
		words := strings.Fields(text)
		if len(words) < 2 {
			return text
		}
		i := r.IntN(len(words))
		words[i] = of(words[i], r)
		return strings.Join(words, " ")
	}
}

// some replaces some letters, each with a chance of a half, and one at least.
func some(with map[rune]rune) disguise {
	return func(text string, r *rand.Rand) string {
		rs := []rune(text)
		var may []int
		for i, c := range rs {
			if with[unicode.ToLower(c)] != 0 {
				may = append(may, i)
			}
		}
		if len(may) == 0 {
			return text
		}
		always := may[r.IntN(len(may))]
		for _, i := range may {
			if i == always || r.IntN(2) == 0 {
				rs[i] = with[unicode.ToLower(rs[i])]
			}
		}
		return string(rs)
	}
}

// repeated repeats a letter, so that there are three to seven of it.
func repeated(text string, r *rand.Rand) string {
	rs := []rune(text)
	var may []int
	for i, c := range rs {
		if unicode.IsLetter(c) && (i+1 == len(rs) || !unicode.Is(unicode.M, rs[i+1])) {
			may = append(may, i)
		}
	}
	if len(may) == 0 {
		return text
	}
	i := may[r.IntN(len(may))]
	return string(rs[:i]) + strings.Repeat(string(rs[i]), 2+r.IntN(5)) + string(rs[i:])
}

// firstBold marks the first letter up.
func firstBold(text string, _ *rand.Rand) string {
	rs := []rune(text)
	if len(rs) < 2 || !unicode.IsLetter(rs[0]) || !unicode.IsLetter(rs[1]) {
		return text
	}
	return "**" + string(rs[0]) + "**" + string(rs[1:])
}
