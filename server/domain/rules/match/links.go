package match

import (
	"bytes"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// Links is the kind of rules about links.
const Links Kind = "links"

// Mode says which links a rule is about.
type Mode string

// The modes of links.
const (
	AllLinks    Mode = "all"
	ListedLinks Mode = "listed" // those to the blocked domains
)

func links(r *Rule, b *builder) {
	if r.Mode != AllLinks && r.Mode != ListedLinks {
		b.add("mode", "must be %s or %s", AllLinks, ListedLinks)
	}
	if r.Mode == ListedLinks && len(r.Blocked) == 0 {
		b.add("blockDomains", "is required")
	}
	l := &linked{all: r.Mode == AllLinks, allowed: b.domains("allowDomains", r.Allowed), blocked: b.domains("blockDomains", r.Blocked)}
	for _, host := range l.blocked {
		l.alike = append(l.alike, looks(host))
	}
	slices.Sort(l.alike)
	l.alike = slices.Clone(slices.Compact(l.alike))
	b.addMatcher(l)
}

// linked matches texts with links.
type linked struct {
	all              bool
	allowed, blocked []string // sorted
	alike            []string // what the blocked domains look like; sorted
}

// domains returns some domains as they are compared, and reports those that are none.
func (b *builder) domains(field string, domains []string) []string {
	if !b.count(field, len(domains), 0, maxDomains) {
		return nil
	}
	var valid []string
	for i, d := range domains {
		if host, ok := parseDomain(d); ok {
			valid = append(valid, host)
		} else {
			b.addEach(field, i, "must be a domain, such as example.com")
		}
	}
	slices.Sort(valid)
	return slices.Clone(slices.Compact(valid))
}

func (l *linked) find(t *textmatch.Text) (spans []textmatch.Span, matches bool) {
	for _, link := range l.links(t.Plain()) {
		if l.isMeant(link.host) {
			spans, matches = append(spans, t.PlainSpan(link.start, link.end)), true
		}
	}
	return spans, matches
}

// links returns the links that the rule compares. If only the blocked domains matter, any " dot " may
// be a dot: no other text looks like one of them.
func (l *linked) links(text []byte) []link {
	if l.all || !bytes.Contains(text, []byte("dot")) {
		return findLinks(text, spelledDot)
	}
	return append(findLinks(text, nil), findLinks(text, anyDot)...)
}

// isMeant reports whether the rule is about links to a host. A domain is allowed only as it is
// written, and blocked also if another looks like it.
func (l *linked) isMeant(host string) bool {
	host = canonical(host)
	if isIn(l.allowed, host) {
		return false
	}
	return l.all || isIn(l.blocked, host) || isIn(l.alike, looks(host))
}

// isIn reports whether a host or a domain that it is in is in a sorted list.
func isIn(domains []string, host string) bool {
	for len(domains) > 0 {
		if _, found := slices.BinarySearch(domains, host); found {
			return true
		}
		_, parent, isSub := strings.Cut(host, ".")
		if !isSub {
			break
		}
		host = parent
	}
	return false
}

func (l *linked) steps() int { return 4 }

func (l *linked) size() int {
	n := 100
	for _, domains := range [][]string{l.allowed, l.blocked, l.alike} {
		for _, d := range domains {
			n += 16 + len(d)
		}
	}
	return n
}
