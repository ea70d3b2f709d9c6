// Package textmatch finds chat messages by phrase or pattern, although their authors
// disguise them. It compares texts after NFKC, case folding and the removal of invisible
// characters, and equates characters that look alike, as Unicode Technical Standard 39 has
// them, so that the phrase "free sub" finds "ｆrее ѕub".
//
// What the comparison adds to the standards:
//
//   - The relation of look-alikes is closed over case within ASCII: I looks like l, so i, I,
//     l, L, 1 and | are the same. "mall" and "mail" are therefore the same phrase. Numbers
//     remain: 101 is not "lol".
//   - A message may have rn for the m of a phrase.
//   - Accents and other marks of Latin, Greek and Cyrillic letters are removed, so "año" and
//     "ano" are the same, and so are the vowel points and the tatweel of Arabic and the points of
//     Hebrew. Marks of other scripts distinguish letters and remain.
//   - Small capitals, and letters in negative circles and squares, are Latin letters.
//   - Letters that are blank are spaces.
//   - The outlined letters and digits of Unicode 16 are Latin ones.
//   - Any white space, punctuation and symbols may stand between the words of a phrase.
//
// A Matcher does not guess at what does not look alike: letters replaced with other digits and
// symbols (fr33 $ub), spaced, dotted or repeated letters (f r e e, freeee), and flags as letters.
// Phrases, which finds many phrases at the same time, guesses if it is asked to: see
// PhrasesBuilder.Add.
package textmatch

// Matcher finds messages. It can be used concurrently.
type Matcher interface {
	// Match reports whether a message matches. Its time is linear in the length of the
	// message.
	Match(text string) bool
	// Steps returns how many steps, of some nanoseconds each, Match takes at most for each
	// byte of the FoldedLength of a message.
	Steps() int
	// Size returns about how many bytes of memory the Matcher has.
	Size() int
}

// MaxLength is the maximum length of a phrase and of a pattern in characters.
const MaxLength = 500
