package match

import (
	"bytes"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// link is a link in a text: where it is up to the end of its host, and the host.
type link struct {
	start, end int
	host       string
}

// findLinks finds the links in a text in the plain form: those with a scheme or www., and hosts
// whose last label is a top-level domain of the public list or of RFC 2606. spelled matches the dots that
// are spelled out; it may be nil.
func findLinks(text []byte, spelled *regexp.Regexp) (links []link) {
	if !bytes.ContainsAny(text, ".%。") && !bytes.Contains(text, []byte("dot")) && !bytes.Contains(text, []byte("://")) {
		return nil
	}
	r := reveal(text, spelled)
	for i := 0; i < len(r.text); {
		end := hostEnd(r.text, i)
		if end == i {
			_, size := utf8.DecodeRune(r.text[i:])
			i += size
			continue
		}
		if rest, isScheme := bytes.CutPrefix(r.text[end:], []byte("://")); isScheme {
			start := end + len("://")
			host, length := hostOf(rest)
			links = append(links, link{r.at[i], r.at[start+length], host})
			i = pathEnd(r.text, start+length)
			continue
		}
		if host := strings.Trim(string(r.text[i:end]), ".-_"); isHost(host) {
			from := i + bytes.Index(r.text[i:end], []byte(host))
			links = append(links, link{r.at[from], r.at[from+len(host)], host})
			end = pathEnd(r.text, end)
		}
		i = end
	}
	return links
}

// hostEnd returns where the characters of hosts end that begin at a position.
func hostEnd(text []byte, from int) int {
	n := bytes.IndexFunc(text[from:], func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && !unicode.In(r, unicode.L, unicode.M, unicode.N)
	})
	if n < 0 {
		return len(text)
	}
	return from + n
}

// hostOf returns the host of what follows a scheme, after the name of a user and before a port, and
// how long both are.
func hostOf(rest []byte) (host string, length int) {
	length = len(rest)
	if i := bytes.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`/\?#<>"'`, r) }); i >= 0 {
		length = i
	}
	authority := string(rest[:length])
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	authority, _, _ = strings.Cut(authority, ":")
	return strings.Trim(authority, ".,;!*_)]}"), length
}

// pathEnd returns where the path of a link ends that may begin at a position, or where another
// link begins in it.
func pathEnd(text []byte, from int) int {
	if from == len(text) || !strings.ContainsRune(`:/\?#`, rune(text[from])) {
		return from
	}
	path := text[from:]
	if i := bytes.IndexFunc(path, unicode.IsSpace); i >= 0 {
		path = path[:i]
	}
	scheme := bytes.Index(path, []byte("://"))
	if scheme < 0 {
		return from + len(path)
	}
	before := bytes.LastIndexFunc(path[:scheme], func(r rune) bool { return !unicode.IsLetter(r) })
	return from + before + 1
}

// isHost reports whether a text is a host that is a link without a scheme.
func isHost(host string) bool {
	labels := strings.Split(host, ".")
	if len(labels) < 2 || len(host) > 253 || slices.Contains(labels, "") {
		return false
	}
	return labels[0] == "www" || isTopLevel(labels[len(labels)-1])
}

// isTopLevel reports whether a label is a top-level domain. A suffix of more labels shows those
// that have rules only for their subdomains.
func isTopLevel(label string) bool {
	switch label {
	case "test", "example", "invalid", "localhost": // RFC 2606
		return true
	}
	_, isListed := publicsuffix.PublicSuffix("a.a." + canonical(label))
	return isListed
}

// canonical returns a host in ASCII.
func canonical(host string) string {
	ascii, err := idna.Punycode.ToASCII(host)
	if err != nil {
		return host
	}
	return ascii
}

// looks returns what a host looks like.
func looks(host string) string {
	shown, err := idna.Punycode.ToUnicode(host)
	if err != nil {
		shown = host
	}
	return strings.ReplaceAll(textmatch.Fold(shown), "rn", "m")
}

// parseDomain returns a domain of a rule in ASCII.
func parseDomain(domain string) (string, bool) {
	t := textmatch.NewText(domain)
	defer t.Release()
	host := string(t.Plain())
	isWrong := func(label string) bool { return label == "" || label[0] == '-' || label[len(label)-1] == '-' }
	if len(host) > 253 || hostEnd([]byte(host), 0) != len(host) || slices.ContainsFunc(strings.Split(host, "."), isWrong) {
		return "", false
	}
	ascii, err := idna.Punycode.ToASCII(host)
	return ascii, err == nil
}

// revealed is a text in which dots are dots, and where each byte comes from; at has one element
// more.
type revealed struct {
	text []byte
	at   []int
}

var (
	// dotInBrackets is a dot as people write it for other people. anyDot is one that is spelled out,
	// and spelledDot one before a top-level domain that is no common word.
	dotInBrackets = regexp.MustCompile(`\s*[(\[{<]\s*(?:dot|\.)\s*[)\]}>]\s*|[。｡]`)
	anyDot        = regexp.MustCompile(`(\s+dot\s+)`)
	spelledDot    = regexp.MustCompile(`(\s+dot\s+)(?:com|net|org|info|biz|gg|tv|io|ly|xyz|ru|co|shop|site|online|club|top|link|app|dev)\b`)
)

// reveal replaces percent-encoding and dots, also those that are spelled out.
func reveal(text []byte, spelled *regexp.Regexp) revealed {
	r := revealed{text: text, at: make([]int, len(text)+1)}
	for i := range r.at {
		r.at[i] = i
	}
	for range 3 { // %252e is %2e
		if !bytes.Contains(r.text, []byte("%")) {
			break
		}
		r = r.replace(percentEncoded.FindAllSubmatchIndex(r.text, -1), decode)
	}
	dot := func([]byte) []byte { return []byte(".") }
	if bytes.ContainsAny(r.text, "([{<。") {
		r = r.replace(dotInBrackets.FindAllSubmatchIndex(r.text, -1), dot)
	}
	if spelled != nil && bytes.Contains(r.text, []byte("dot")) {
		r = r.replace(spelled.FindAllSubmatchIndex(r.text, -1), dot)
	}
	return r
}

// percentEncoded is a character in percent-encoding.
var percentEncoded = regexp.MustCompile(`%[2-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-4](?:%[89ab][0-9a-f]){3}`)

// decode returns a character in percent-encoding as the plain form of a text has it.
func decode(encoded []byte) []byte {
	decoded, err := hex.DecodeString(strings.ReplaceAll(string(encoded), "%", ""))
	if err != nil || !utf8.Valid(decoded) {
		return encoded
	}
	t := textmatch.NewText(string(decoded))
	defer t.Release()
	return bytes.Clone(t.Plain())
}

// replace replaces matches, or their first groups.
func (r revealed) replace(matches [][]int, with func(match []byte) []byte) revealed {
	if len(matches) == 0 {
		return r
	}
	replaced := revealed{}
	from := 0
	for _, m := range matches {
		start, end := m[len(m)-2], m[len(m)-1]
		put := with(r.text[start:end])
		replaced.text = append(append(replaced.text, r.text[from:start]...), put...)
		replaced.at = append(replaced.at, r.at[from:start]...)
		for range put {
			replaced.at = append(replaced.at, r.at[start])
		}
		from = end
	}
	replaced.text = append(replaced.text, r.text[from:]...)
	replaced.at = append(replaced.at, r.at[from:]...)
	return replaced
}
