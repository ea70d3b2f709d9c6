// Package validate converts the fields of a request to values, and collects everything
// that is wrong with the fields in one error.
package validate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

const (
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

// Add adds a violation, unless the field has one. Violations beyond apierr.MaxViolations are
// dropped, and long field names are truncated, so that the cost of an error does not depend
// on the number of mistakes in a request.
func (f *Fields) Add(field, description string) {
	if len(f.violations) == apierr.MaxViolations {
		return
	}
	field = apierr.Truncate(f.prefix+field, maxFieldName)
	if !slices.ContainsFunc(f.violations, func(v apierr.Violation) bool { return v.Field == field }) {
		f.violations = append(f.violations, apierr.Violation{Field: field, Description: description})
	}
}

// Exclude adds the violations of two fields of which a request may have one.
func (f *Fields) Exclude(one, other string) {
	f.Add(one, apierr.TogetherPrefix+other)
	f.Add(other, apierr.TogetherPrefix+one)
}

// AtMost reports whether a list is no longer than its bound, and adds a violation if it has
// more. A caller checks the length of a list before the values, and does not read the
// values of a list that is too long.
func (f *Fields) AtMost(field string, length int) bool {
	limit := int(f.bounds(field).GetMaxItems())
	isTooLong := limit > 0 && length > limit
	if isTooLong {
		f.Add(field, fmt.Sprintf("must have at most %d values", limit))
	}
	return !isTooLong
}

// Count reports whether a list has as many values as its bounds allow, and adds a
// violation if it has not. A caller does not read the values of a list that is too long.
func (f *Fields) Count(field string, length int) bool {
	bounds := f.bounds(field)
	isAllowed := length >= int(bounds.GetMinItems()) && length <= int(bounds.GetMaxItems())
	if !isAllowed {
		f.Add(field, fmt.Sprintf("must have %d to %d values", bounds.GetMinItems(), bounds.GetMaxItems()))
	}
	return isAllowed
}

// Element returns the Fields of an element of a list of messages. Include adds its
// violations.
func (f *Fields) Element(list string, index int, m proto.Message) *Fields {
	element := Of(m)
	element.In(fmt.Sprintf("%s%s[%d]", f.prefix, list, index))
	return element
}

// Include adds the violations of an element of a list.
func (f *Fields) Include(element *Fields) {
	f.violations = append(f.violations, element.violations[:min(len(element.violations), apierr.MaxViolations-len(f.violations))]...)
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

// Identifier validates a required text of the characters that the contract declares,
// such as a username.
func (f *Fields) Identifier(field, value string) string {
	bounds := f.bounds(field)
	least, most := int(bounds.GetMinLength()), int(bounds.GetMaxLength())
	switch {
	case value == "":
		f.Add(field, required)
	case len(value) < least || len(value) > most || !within(value, bounds.GetCharacters()):
		f.Add(field, fmt.Sprintf("must be %d to %d of %s", least, most, bounds.GetCharacters()))
	}
	return value
}

// within reports whether a text consists of characters as Bounds declares them.
func within(value, characters string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool {
		for ranges := range strings.FieldsSeq(characters) {
			// Ranges and single characters are ASCII; "a-z" has its ends first and last.
			if rune(ranges[0]) <= r && r <= rune(ranges[len(ranges)-1]) {
				return false
			}
		}
		return true
	})
}

// Mention validates a required username as people write it. It removes white space
// around the username and one @ before it.
func (f *Fields) Mention(field, value string) string {
	return f.Identifier(field, strings.TrimPrefix(strings.TrimSpace(value), "@"))
}

// Text validates a text within its bounds and without control characters. It returns the
// text trimmed and in Unicode NFC.
func (f *Fields) Text(field, value string) string {
	return f.text(field, value, "")
}

// GivenText is Text for an optional text that was given. It must not be blank.
func (f *Fields) GivenText(field, value string) string {
	if strings.TrimSpace(value) == "" { // another text without a visible character: see text
		f.Add(field, fmt.Sprintf("must be %d to %d characters", f.bounds(field).GetMinLength(), f.MaxLength(field)))
		return ""
	}
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
	case length < least || (most > 0 && length > most):
		f.Add(field, fmt.Sprintf("must be %d to %d characters", least, most))
	case strings.ContainsFunc(value, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune(allowedControls, r)
	}):
		f.Add(field, "must not contain control characters")
	case length > 0 && textmatch.IsBlank(value):
		f.Add(field, "must have a visible character")
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
		if tag, err := language.Parse(value); err == nil && len(tag.String()) <= f.MaxLength(field) {
			return tag.String()
		}
	}
	f.Add(field, "must be a BCP 47 language tag, such as en or pt-BR")
	return ""
}

// URL validates an http or https URL, which may be empty.
func (f *Fields) URL(field, value string) string {
	if value == "" || (len(value) <= f.MaxLength(field) && isWebAddress(value)) {
		return value
	}
	f.Add(field, fmt.Sprintf("must be an http or https address of at most %d characters", f.MaxLength(field)))
	return ""
}

// RequiredURL is like URL, but reports a missing one as such.
func (f *Fields) RequiredURL(field, value string) string {
	if value == "" {
		f.Add(field, required)
	}
	return f.URL(field, value)
}

// MaxLength returns the declared maximum length of a text.
func (f *Fields) MaxLength(field string) int { return int(f.bounds(field).GetMaxLength()) }

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

// Choice validates that value is one of the values that the contract declares.
func (f *Fields) Choice(field, value string) string {
	return f.choice(field, field, value)
}

// ChoiceOf is Choice for a value of a list. A violation names the place of the value.
func (f *Fields) ChoiceOf(list string, index int, value string) string {
	return f.choice(list, fmt.Sprintf("%s[%d]", list, index), value)
}

func (f *Fields) choice(field, path, value string) string {
	choices := f.bounds(field).GetValues()
	if slices.Contains(choices, value) {
		return value
	}
	f.Add(path, "must be one of "+strings.Join(choices, ", "))
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
