// Package validate converts the fields of a request to values, and collects everything
// that is wrong with the fields in one error.
package validate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
)

// Bounds of texts, in characters.
const (
	MaxUsername = 40
	MaxName     = 140
	MaxURL      = 2048
	MaxClientID = 64
	MaxLanguage = 35

	// maxFieldName is the length in bytes at which a violation truncates the name of a
	// field. Names that the contract defines are shorter; names in a caller's own
	// objects may be longer.
	maxFieldName = 128

	// maxLanguageText bounds a tag as given, which may be longer than its canonical form.
	maxLanguageText = 255
)

// MaxInteger is the bound up to which a google.protobuf.Struct holds every integer
// exactly, because its numbers are doubles.
const MaxInteger = 1<<53 - 1

const (
	nameAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
	slugAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789_.-"

	required = "is required"
	notUUID  = "must be a UUID in its 36-character form"
)

// Fields collects the violations of one request. Field names are those of the REST
// facade.
type Fields struct {
	message    protoreflect.FullName // whose declared bounds apply; empty for none
	prefix     string
	violations []apierr.Violation
}

// Of returns the Fields of a request or record. The bounds of its fields are those that
// the contract declares with the option bounds.
func Of(m proto.Message) *Fields {
	return &Fields{message: m.ProtoReflect().Descriptor().FullName()}
}

// In sets a prefix for the names of the fields that follow, for a nested message.
func (f *Fields) In(prefix string) { f.prefix = prefix + "." }

// Add adds a violation. Violations beyond apierr.MaxViolations are dropped, and long
// field names are truncated, so that the cost of an error does not depend on the number
// of mistakes in a request.
func (f *Fields) Add(field, description string) {
	if len(f.violations) < apierr.MaxViolations {
		f.violations = append(f.violations, apierr.Violation{
			Field: apierr.Truncate(f.prefix+field, maxFieldName), Description: description,
		})
	}
}

// AtMost reports whether a list is no longer than its bound, and adds a violation if it has
// more. A caller checks the length of a list before the values, and does not read the
// values of a list that is too long.
func (f *Fields) AtMost(field string, length int) bool {
	limit := int(f.bounds(field).GetMaxItems())
	if length > limit {
		f.Add(field, fmt.Sprintf("must have at most %d values", limit))
	}
	return length <= limit
}

// Err returns INVALID_ARGUMENT with the collected violations, or nil if there are none.
func (f *Fields) Err() error {
	if len(f.violations) == 0 {
		return nil
	}
	return apierr.Invalid(f.violations...)
}

// UUID parses a required UUID.
func (f *Fields) UUID(field, value string) uid.ID {
	if value == "" {
		f.Add(field, required)
		return uid.ID{}
	}
	return f.OptionalUUID(field, value)
}

// OptionalUUID parses a UUID that may be empty.
func (f *Fields) OptionalUUID(field, value string) uid.ID {
	if value == "" {
		return uid.ID{}
	}
	id, err := uid.Parse(value)
	if err != nil || id.IsZero() { // later code takes the nil UUID to mean "not given"
		f.Add(field, notUUID)
	}
	return id
}

// Username validates a required username.
func (f *Fields) Username(field, value string) string {
	return f.word(field, value, MaxUsername, nameAlphabet, "A-Z a-z 0-9 _ . -")
}

// Mention validates a required username as people write it. It removes white space
// around the username and one @ before it.
func (f *Fields) Mention(field, value string) string {
	return f.Username(field, strings.TrimPrefix(strings.TrimSpace(value), "@"))
}

// ClientID validates the required id of a client.
func (f *Fields) ClientID(field, value string) string {
	return f.word(field, value, MaxClientID, nameAlphabet, "A-Z a-z 0-9 _ . -")
}

// Slug validates a required name that is part of a URL.
func (f *Fields) Slug(field, value string) string {
	return f.word(field, value, MaxName, slugAlphabet, "a-z 0-9 _ . -")
}

func (f *Fields) word(field, value string, most int, alphabet, described string) string {
	switch {
	case value == "":
		f.Add(field, required)
	case len(value) > most || !within(value, alphabet):
		f.Add(field, fmt.Sprintf("must be 1 to %d of %s", most, described))
	}
	return value
}

func within(value, alphabet string) bool {
	for _, r := range value {
		if !strings.ContainsRune(alphabet, r) {
			return false
		}
	}
	return true
}

// Text validates a text within its bounds and without control characters. It returns the
// text trimmed and in Unicode NFC.
func (f *Fields) Text(field, value string) string {
	return f.text(field, value, "")
}

// Message validates a chat message. It is like Text, but the message may contain tabs
// and line feeds.
func (f *Fields) Message(field, value string) string {
	return f.text(field, value, "\t\n")
}

func (f *Fields) text(field, value, allowedControls string) string {
	least, most := int(f.bounds(field).GetMinLength()), int(f.bounds(field).GetMaxLength())
	if !utf8.ValidString(value) {
		f.Add(field, "must be valid UTF-8")
		return ""
	}
	value = norm.NFC.String(strings.TrimSpace(value))
	length := utf8.RuneCountInString(value)
	switch {
	case length == 0 && least > 0:
		f.Add(field, required)
	case length < least || length > most:
		f.Add(field, fmt.Sprintf("must be %d to %d characters", least, most))
	case strings.ContainsFunc(value, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune(allowedControls, r)
	}):
		f.Add(field, "must not contain control characters")
	}
	return value
}

// RequiredLanguage is like Language, but reports a missing tag as such.
func (f *Fields) RequiredLanguage(field, value string) string {
	if value == "" {
		f.Add(field, required)
		return ""
	}
	return f.Language(field, value)
}

// Language parses a BCP 47 tag and returns its canonical form.
func (f *Fields) Language(field, value string) string {
	if value != "" && len(value) <= maxLanguageText { // parsing time grows with the square of the length
		if tag, err := language.Parse(value); err == nil && len(tag.String()) <= MaxLanguage {
			return tag.String()
		}
	}
	f.Add(field, "must be a BCP 47 language tag, such as en or pt-BR")
	return ""
}

// URL validates an http or https URL, which may be empty.
func (f *Fields) URL(field, value string) string {
	if value == "" || (len(value) <= MaxURL && isWebAddress(value)) {
		return value
	}
	f.Add(field, fmt.Sprintf("must be an http or https address of at most %d characters", MaxURL))
	return ""
}

// Limit validates the size of a page. It returns the declared default if value is nil.
func (f *Fields) Limit(field string, value *int32) int {
	bounds := f.bounds(field)
	if value == nil {
		return int(bounds.GetDefaultValue())
	}
	if int64(*value) < bounds.GetMin() || int64(*value) > bounds.GetMax() {
		f.Add(field, fmt.Sprintf("must be between %d and %d", bounds.GetMin(), bounds.GetMax()))
	}
	return int(*value)
}

// Number validates a number within its bounds.
func (f *Fields) Number(field string, value int64) int64 {
	bounds := f.bounds(field)
	switch {
	case bounds.GetMax() == 0 && value < bounds.GetMin():
		f.Add(field, fmt.Sprintf("must be %d or more", bounds.GetMin()))
	case bounds.GetMax() != 0 && (value < bounds.GetMin() || value > bounds.GetMax()):
		f.Add(field, fmt.Sprintf("must be %d to %d", bounds.GetMin(), bounds.GetMax()))
	}
	return value
}

// Time converts a point in time, and reports whether a valid one is given. A Timestamp
// can contain any number of seconds, so it may be out of range.
func (f *Fields) Time(field string, value *timestamppb.Timestamp) (at instant.Instant, isGiven bool) {
	if value == nil {
		return 0, false
	}
	if !value.IsValid() {
		f.Add(field, "must be a time in the years 1 to 9999")
		return 0, false
	}
	return instant.OfProto(value), true
}

// RequiredTime is like Time, but adds a violation if value is nil.
func (f *Fields) RequiredTime(field string, value *timestamppb.Timestamp) (at instant.Instant, isGiven bool) {
	if value == nil {
		f.Add(field, required)
	}
	return f.Time(field, value)
}

// ActivityType validates the type of an activity.
func (f *Fields) ActivityType(field, value string) string {
	return f.Choice(field, value, "follower", "subscriber", "gift", "thanks", "vote")
}

// Choice validates that value is one of choices.
func (f *Fields) Choice(field, value string, choices ...string) string {
	for _, c := range choices {
		if value == c {
			return value
		}
	}
	f.Add(field, "must be one of "+strings.Join(choices, ", "))
	return ""
}

// ChannelAndUser parses the two required UUIDs of a request about a user in a channel.
func ChannelAndUser(req interface {
	GetChannelId() string
	GetUserId() string
}) (channelID, userID uid.ID, err error) {
	var f Fields
	channelID = f.UUID("channelId", req.GetChannelId())
	userID = f.UUID("userId", req.GetUserId())
	return channelID, userID, f.Err()
}
