package textmatch

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// TestEveryCharacter checks what the generated table and the shortcuts of the lookups
// promise, for every character that Unicode has.
func TestEveryCharacter(t *testing.T) {
	t.Parallel()
	marks := []*unicode.RangeTable{unicode.Mn, unicode.Me}
	assigned := []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || !unicode.In(r, assigned...) {
			continue
		}
		text := string(r)
		folded := Fold(text)
		if again := Fold(folded); again != folded {
			t.Errorf("%U folds to %+q, which folds to %+q", r, folded, again)
		}
		if len(folded) > 11*len(text) {
			t.Errorf("%U folds to %d bytes", r, len(folded))
		}
		if isMark(r) != unicode.In(r, marks...) {
			t.Errorf("isMark(%U) = %t", r, isMark(r))
		}
		if r >= utf8.RuneSelf && isSeparator(r) != unicode.In(r, unicode.Z, unicode.P, unicode.S) {
			t.Errorf("isSeparator(%U) = %t", r, isSeparator(r))
		}
		if hasNoCase(r) && (unicode.ToLower(r) != r || unicode.ToUpper(r) != r) {
			t.Errorf("%U has case", r)
		}
		if p := norm.NFKC.PropertiesString(text); isInert(r) && (!norm.NFKC.IsNormalString(text) || !p.BoundaryBefore() || isInvisible(r)) {
			t.Errorf("%U is not inert", r)
		}
		if visible, inert := appendVisible(nil, text); inert && len(visible) > 0 && !isSpace(r) && string(visible) != norm.NFKC.String(text) {
			t.Errorf("%U is visible as %q", r, visible)
		}
		if replacement(r) != "" && norm.NFKC.String(text) != text {
			t.Errorf("%U is replaced but not in NFKC", r)
		}
	}
}

// TestInvisibleCharacters compares the shortcuts of isInvisible with the definition of
// Default_Ignorable_Code_Point.
func TestInvisibleCharacters(t *testing.T) {
	t.Parallel()
	for r := rune(0xA0); r < 0xE1000; r++ {
		if r == 0x20000 {
			r = 0xE0000 // between are ideographs and unassigned planes
		}
		want := unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
			!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		if !isSpace(r) && isInvisible(r) != want {
			t.Errorf("isInvisible(%U) = %t", r, !want)
		}
	}
}
