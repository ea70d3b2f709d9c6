package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// LineError is the error of a line of an import: the line, counted from 1, and the reason.
type LineError struct {
	Line int
	Err  error
	// Record is the JSON of the record, from which values are reported; empty if it is not
	// known.
	Record []byte
}

// Error returns the line and the reason as text.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason()) }

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// Reason returns the reason as text for people, with fields and their values.
func (e *LineError) Reason() string {
	kind, fields := e.fields()
	var refused *apierr.Error
	if !errors.As(e.Err, &refused) {
		return e.Err.Error() + value(fields, e.Err.Error())
	}
	if len(refused.Violations) == 0 {
		return subject(kind, fields, refused.Reason) + refused.Text()
	}
	violations := make([]string, len(refused.Violations))
	for i, v := range refused.Violations {
		violations[i] = qualified(kind, v.Field) + " " + v.Description
		if value, ok := valueOf(fields, v.Field); ok {
			violations[i] += ", not " + value
		}
	}
	return strings.Join(violations, "; ") + "."
}

// fields returns the kind of the record and its fields; nothing if the JSON is not known.
func (e *LineError) fields() (kind string, fields map[string]any) {
	var record map[string]map[string]any
	if json.Unmarshal(e.Record, &record) != nil || len(record) != 1 {
		return "", nil
	}
	for kind, fields = range record {
	}
	return kind, fields
}

// named lists the fields that name what a reason did not find.
var named = map[moderatov1.Reason][]string{
	moderatov1.Reason_REASON_USER_NOT_FOUND:     {"userId", "creatorId", "moderatorId", "raiderId", "username"},
	moderatov1.Reason_REASON_CHANNEL_NOT_FOUND:  {"channelId"},
	moderatov1.Reason_REASON_CATEGORY_NOT_FOUND: {"categoryId", "parentId"},
	moderatov1.Reason_REASON_CLIENT_NOT_FOUND:   {"clientId"},
	moderatov1.Reason_REASON_USERNAME_TAKEN:     {"username"},
	moderatov1.Reason_REASON_MESSAGE_NOT_FOUND:  {"messageId", "replyToMessageId"},
	moderatov1.Reason_REASON_BEING_DELETED:      {"userId", "channelId"},
}

// subject returns the fields that a reason is about, with their values. Without any, it is
// about the record's own id.
func subject(kind string, fields map[string]any, reason moderatov1.Reason) string {
	var all []string
	for _, field := range named[reason] {
		if value, ok := valueOf(fields, field); ok {
			all = append(all, qualified(kind, field)+" "+value)
		}
	}
	if value, ok := valueOf(fields, "id"); ok && len(all) == 0 {
		all = append(all, qualified(kind, "id")+" "+value)
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, ", ") + ": "
}

// namedField finds the field that the error of a line that cannot be read begins with.
var namedField = regexp.MustCompile(`^\w+\.([\w.\[\]]+) `)

// value returns the value of the field that an error of the parser names, as a remark.
func value(fields map[string]any, text string) string {
	match := namedField.FindStringSubmatch(text)
	if match == nil {
		return ""
	}
	value, ok := valueOf(fields, match[1])
	if !ok {
		return ""
	}
	return " (it is " + value + ")"
}

func qualified(kind, field string) string {
	if kind == "" || field == "" {
		return kind + field
	}
	return kind + "." + field
}

// maxShown is how many characters of a value are reported.
const maxShown = 80

var pathPart = regexp.MustCompile(`[^.\[\]]+`)

// valueOf returns a value of a record as JSON, by a path such as info.userId or scopes[0].
func valueOf(fields map[string]any, path string) (text string, ok bool) {
	var value any = fields
	for _, part := range pathPart.FindAllString(path, -1) {
		switch v := value.(type) {
		case map[string]any:
			if value, ok = v[part]; !ok {
				return "", false
			}
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return "", false
			}
			value = v[i]
		default:
			return "", false
		}
	}
	encoded, err := json.Marshal(value)
	if err != nil || slices.Equal(encoded, []byte("null")) || value == any("") {
		return "", false
	}
	if text = string(encoded); len([]rune(text)) > maxShown {
		text = string([]rune(text)[:maxShown]) + "…"
	}
	return text, true
}
