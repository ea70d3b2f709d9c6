package validate_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// FuzzText checks that accepted text is trimmed NFC of valid length without control
// characters, and that accepting it again does not change it.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"", " ", "hello", "e\u0301", "\u0344", "\u0958", "ậ", "한", "👨‍👩‍👧", "\x00", "\xff", "a\tb\nc", "\u3000x\u00a0", "\u2000",
		strings.Repeat("\u0301", 40), "a" + strings.Repeat("\u0323\u0302", 40), "\u0f73\u0f71", strings.Repeat("\ufdfa", 500),
		" \u0301x", "x\u0085", "\u0085x", "\ufeff", "\u200d", "\u212b", "\U0001d15e",
	} {
		f.Add(seed, uint16(0), uint16(140))
		f.Add(seed, uint16(1), uint16(5))
	}
	f.Fuzz(func(t *testing.T, value string, least, most uint16) {
		for _, read := range []struct {
			name        string
			least, most int
			allowed     string
			read        func(f *validate.Fields, value string) string
		}{
			{"Text", int(least), int(most), "", func(f *validate.Fields, value string) string {
				return f.Bind("text", &optionsv1.Bounds{MinLength: int32(least), MaxLength: int32(most)}).Text("text", value)
			}},
			{"Message", 1, 500, "\t\n", func(f *validate.Fields, value string) string {
				return f.Bind("text", &optionsv1.Bounds{MinLength: 1, MaxLength: 500}).Message("text", value)
			}},
		} {
			var fields validate.Fields
			got := read.read(&fields, value)
			if fields.Err() != nil {
				continue
			}
			if n := utf8.RuneCountInString(got); n < read.least || n > read.most {
				t.Errorf("%s(%q): got %d characters, want %d to %d", read.name, value, n, read.least, read.most)
			}
			if !utf8.ValidString(got) || !norm.NFC.IsNormalString(got) || strings.TrimSpace(got) != got {
				t.Errorf("%s(%q): got %q, which is not trimmed NFC", read.name, value, got)
			}
			for _, r := range got {
				if unicode.IsControl(r) && !strings.ContainsRune(read.allowed, r) {
					t.Errorf("%s(%q): got %q, which has a control character", read.name, value, got)
				}
			}
			var again validate.Fields
			if twice := read.read(&again, got); twice != got || again.Err() != nil {
				t.Errorf("%s(%q): taken again, %q became %q, %v", read.name, value, got, twice, again.Err())
			}
		}
	})
}

// FuzzUsername checks that exactly the names of 1 to 40 allowed characters are accepted.
func FuzzUsername(f *testing.F) {
	for _, seed := range []string{"", "Ines", "a.b-c_9", "inês", "a b", strings.Repeat("a", 40), strings.Repeat("a", 41), "\xff", "a\n", "K"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		good := value != "" && len(value) <= 40
		for i := range len(value) {
			c := value[i]
			good = good && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-')
		}
		var fields validate.Fields
		got := fields.Bind("username", &optionsv1.Bounds{Format: optionsv1.Format_FORMAT_USERNAME}).Identifier("username", value)
		if (fields.Err() == nil) != good {
			t.Errorf("%q: got %v, want good: %t", value, fields.Err(), good)
		}
		if good && got != value {
			t.Errorf("%q: got %q, want it as it is", value, got)
		}
	})
}

// FuzzLanguage checks that an accepted tag fits its column, contains only letters, digits
// and hyphens, and is accepted again unchanged.
func FuzzLanguage(f *testing.F) {
	for _, seed := range []string{
		"", "en", "pt-br", "iw", "zh-min", "zh-min-nan", "i-klingon", "en-GB-oed", "sgn-BE-FR", "de-u-co-phonebk", "en-US-POSIX", "x-a", "x-private",
		"en-t-zh-hant", "und", "root", "mo", "en_US", "-", "a-b-c", "en-a-bbb-a-ccc", "fr-Latn-FR-fonipa-1606nict", "\xff", strings.Repeat("a-", 40),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		bounds := &optionsv1.Bounds{Format: optionsv1.Format_FORMAT_LANGUAGE}
		var fields validate.Fields
		got := fields.Bind("lang", bounds).Language("lang", value)
		if fields.Err() != nil {
			return
		}
		if got == "" || len(got) > 35 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
			t.Errorf("%q: got %q, want 1 to 35 letters, digits and hyphens", value, got)
		}
		var again validate.Fields
		if twice := again.Bind("lang", bounds).Language("lang", got); twice != got || again.Err() != nil {
			t.Errorf("%q: taken again, %q became %q, %v", value, got, twice, again.Err())
		}
	})
}
