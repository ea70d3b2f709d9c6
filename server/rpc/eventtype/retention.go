package eventtype

import (
	"fmt"
	"slices"
	"strings"
	"time"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
)

const (
	day = 24 * time.Hour
	// The log of bans and roles is kept longest.
	keepModeration = 730 * day
	keepAudience   = 90 * day
)

// Retention holds how long events are kept, by type; 0 is forever.
type Retention map[Type]time.Duration

// DefaultRetention returns the default: two years for the actions of moderators and
// owners, and 90 days for those of the audience and for streams.
func DefaultRetention() Retention {
	r := Retention{}
	for _, t := range types {
		if t.GetLive() {
			continue
		}
		r[Type(t.GetName())] = keepModeration
		if t.GetOrigin() == optionsv1.Origin_ORIGIN_AUDIENCE {
			r[Type(t.GetName())] = keepAudience
		}
	}
	return r
}

// ParseRetention returns a copy of base with the changes in text: TYPE=DURATION,
// separated by commas or spaces. The type `default` changes every type. A duration is a
// Go duration, or a number of days: 90d.
func ParseRetention(base Retention, text string) (Retention, error) {
	r := Retention{}
	for kind, keep := range base {
		r[kind] = keep
	}
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		name, value, _ := strings.Cut(part, "=")
		keep, err := ParseDays(value)
		switch {
		case err != nil || keep < 0:
			return nil, fmt.Errorf("%q: must be TYPE=DURATION, such as channel.follow=30d or channel.ban=0", part)
		case name == "default":
			for kind := range r {
				r[kind] = keep
			}
		case !slices.Contains(Types(), name):
			return nil, fmt.Errorf("%q: there is no type %q; there are %s", part, name, strings.Join(Types(), ", "))
		default:
			r[Type(name)] = keep
		}
	}
	return r, nil
}

// ParseDays parses a Go duration, or a number of days: 90d.
func ParseDays(text string) (time.Duration, error) {
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		hours, err := time.ParseDuration(number + "h")
		if hours > (1<<63-1)/24 {
			return 0, fmt.Errorf("%s is too long", text)
		}
		return 24 * hours, err
	}
	return time.ParseDuration(text)
}
