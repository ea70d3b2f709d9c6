package outbox

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/users"
)

// Anonymous returns an event's payload without a user. The user's id becomes
// users.Deleted. If the payload is about the user, the user's names become those of
// users.Deleted, and the text and the address that they sent become empty. The keys that a
// backend service chose become empty too, because they may contain the id. The same applies
// to an object in the payload that has the user's id. The reason of a ban or mute of the user
// becomes null.
func Anonymous(payload string, id uid.ID, isAbout bool) (string, error) {
	var fields map[string]any
	decoder := json.NewDecoder(strings.NewReader(payload))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return "", err
	}
	anonymize(fields, id, isAbout)
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

func anonymize(fields map[string]any, id uid.ID, isAbout bool) {
	for name, value := range fields {
		switch value := value.(type) {
		case map[string]any, []any:
			anonymizeNested(value, id)
		case string:
			if isAbout && name == "reason" { // a moderator's words about the user
				fields[name] = nil
				continue
			}
			fields[name] = anonymousText(name, value, id, isAbout)
		}
	}
}

// anonymizeNested removes a user from an object, or from the objects in a list.
func anonymizeNested(value any, id uid.ID) {
	switch value := value.(type) {
	case map[string]any:
		sender, _ := value["sender"].(map[string]any) // of a message
		anonymize(value, id, value["id"] == id.String() || sender["id"] == id.String())
	case []any:
		for _, element := range value {
			anonymizeNested(element, id)
		}
	}
}

func anonymousText(name, text string, id uid.ID, isAbout bool) string {
	switch {
	case text == id.String():
		return users.Deleted.String()
	case !isAbout:
		return text
	case strings.HasSuffix(strings.ToLower(name), "displayname"):
		return users.DeletedDisplayName
	case name == "username" || name == "userSlug":
		return users.DeletedUsername
	case name == "message" || name == "address" || name == "avatarUrl" || name == "key" || name == "thanksId":
		return ""
	}
	return text
}
