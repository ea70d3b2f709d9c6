package authn_test

import (
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/rpc/authn"
)

// Tokens with checksums that another program computed.
const (
	knownUserToken    = "mdu_A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q54NN499"
	knownAppToken     = "mda_0000000000000000000000000000003Wu2jC"
	knownServiceToken = "mds_zyxwvutsrqponmlkjihgfedcba98763MsLpQ"
)

// digits are the base 62 digits in the order of math/big.
const bigDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// sealed returns a body with its checksum, computed in a different way than the package
// does.
func sealed(body string) string {
	sum := new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))).Text(62)
	swapped := strings.Map(func(r rune) rune { // in tokens, upper case comes first
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, sum)
	return body + strings.Repeat("0", 6-len(swapped)) + swapped
}

func TestTokenHasPrefixSecretAndChecksum(t *testing.T) {
	form := regexp.MustCompile(`^(mdu|mda|mds)_[0-9A-Za-z]{36}$`)
	for kind, prefix := range map[authn.Kind]string{authn.User: "mdu_", authn.App: "mda_", authn.Service: "mds_"} {
		seen := map[string]bool{}
		digits := map[rune]bool{}
		for range 500 {
			text, err := authn.NewTokenText(kind)
			if err != nil {
				t.Fatal(err)
			}
			body := text[:len(text)-6]
			if !form.MatchString(text) || !strings.HasPrefix(text, prefix) || sealed(body) != text || seen[text] {
				t.Fatalf("got %q, want %s, 30 random characters and their checksum", text, prefix)
			}
			if err := authn.CheckToken(text); err != nil {
				t.Errorf("CheckToken(%q): %v", text, err)
			}
			seen[text] = true
			for _, r := range body[len(prefix):] {
				digits[r] = true
			}
		}
		if len(digits) != len(bigDigits) {
			t.Errorf("%s tokens use %d different characters, want %d", kind, len(digits), len(bigDigits))
		}
	}
}

func TestCheckTokenAcceptsForeignTokens(t *testing.T) {
	for _, text := range []string{
		knownUserToken, knownAppToken, knownServiceToken,
		sealed("mdu_" + strings.Repeat("z", 31)), // a longer secret, for future tokens
		sealed("mds_" + strings.Repeat("x", 245)),
	} {
		if err := authn.CheckToken(text); err != nil {
			t.Errorf("CheckToken(%q): %v", text, err)
		}
	}
}

// damagedTokens returns invalid tokens by their defect.
func damagedTokens() map[string]string {
	good := knownUserToken
	return map[string]string{
		"nothing":               "",
		"prefix only":           "mdu_",
		"no prefix":             good[4:],
		"an unknown prefix":     sealed("mdx_" + good[4:34]),
		"a prefix in capitals":  sealed("MDU_" + good[4:34]),
		"another kind's prefix": "mds_" + good[4:],
		"no checksum":           good[:34],
		"one character less":    good[:len(good)-1],
		"one character more":    good + "0",
		"a secret too short":    sealed("mdu_" + strings.Repeat("a", 29)),
		"more than 255 bytes":   sealed("mdu_" + strings.Repeat("x", 246)),
		"a hyphen in it":        sealed("mdu_" + good[4:20] + "-" + good[21:34]),
		"an umlaut in it":       sealed("mdu_" + good[4:20] + "ü" + good[21:34]),
		"a space in it":         sealed("mdu_" + good[4:20] + " " + good[21:34]),
		"a line feed after it":  good + "\n",
		"a zero byte after it":  good + "\x00",
		"all capitals":          strings.ToUpper(good),
		"two tokens":            good + good,
		"a JWT":                 "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	}
}

func TestCheckTokenRejectsDamagedTokens(t *testing.T) {
	damaged := damagedTokens()
	for _, good := range []string{knownUserToken, knownAppToken, knownServiceToken} {
		for i := range good {
			for _, c := range bigDigits + "_-" {
				if string(c) != good[i:i+1] {
					damaged[good[:i]+"["+string(c)+"]"+good[i+1:]] = good[:i] + string(c) + good[i+1:]
				}
			}
			if i > 0 && good[i-1] != good[i] {
				damaged["swapped at "+good[:i]] = good[:i-1] + good[i:i+1] + good[i-1:i] + good[i+1:]
			}
		}
	}
	for name, text := range damaged {
		err := authn.CheckToken(text)
		if err == nil {
			t.Errorf("%s: CheckToken(%q): got no error", name, text)
		} else if text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error reveals the token: %v", name, err)
		}
	}
}

// FuzzCheckToken checks that a text is accepted if and only if it has a known prefix,
// base 62 after it and the right checksum.
func FuzzCheckToken(f *testing.F) {
	for _, seed := range []string{knownUserToken, knownAppToken, knownServiceToken} {
		f.Add(seed)
	}
	for _, seed := range damagedTokens() {
		f.Add(seed)
	}
	form := regexp.MustCompile(`\A(mdu|mda|mds)_[0-9A-Za-z]{36,251}\z`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{text, sealed(text), sealed("mdu_" + text)} {
			err := authn.CheckToken(text)
			good := form.MatchString(text) && sealed(text[:len(text)-6]) == text
			if good != (err == nil) {
				t.Errorf("CheckToken(%q): got %v, want good: %t", text, err, good)
			}
		}
	})
}
