package main

// smallCapitals are the small capitals of phonetic alphabets in the order of the Latin
// alphabet; there is none for X. They are not all in confusables.txt, but they are a
// common disguise.
var smallCapitals = map[rune]string{
	'ᴀ': "a", 'ʙ': "b", 'ᴄ': "c", 'ᴅ': "d", 'ᴇ': "e", 'ꜰ': "f", 'ɢ': "g", 'ʜ': "h", 'ɪ': "i",
	'ᴊ': "j", 'ᴋ': "k", 'ʟ': "l", 'ᴍ': "m", 'ɴ': "n", 'ᴏ': "o", 'ᴘ': "p", 'ꞯ': "q", 'ʀ': "r",
	'ꜱ': "s", 'ᴛ': "t", 'ᴜ': "u", 'ᴠ': "v", 'ᴡ': "w", 'ʏ': "y", 'ᴢ': "z",
}

// The negative circled and negative squared letters, each A to Z. NFKC replaces only the
// positive ones.
const (
	negativeCircledA = '🅐'
	negativeSquaredA = '🅰'
)

// disguised reports whether a character is a Latin letter in a disguise that neither NFKC
// nor confusables.txt covers.
func disguised(r rune) bool {
	_, ok := letterIn(r)
	return ok
}

// letterIn returns the Latin letter in a disguised character.
func letterIn(r rune) (string, bool) {
	if letter, ok := smallCapitals[r]; ok {
		return letter, true
	}
	for _, a := range []rune{negativeCircledA, negativeSquaredA} {
		if r >= a && r < a+26 {
			return string('a' + r - a), true
		}
	}
	return "", false
}
