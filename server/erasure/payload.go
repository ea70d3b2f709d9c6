package erasure

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// anonymous returns an event's payload without a user. The user's id becomes
// users.Deleted. If the payload is about the user, the user's names become those of
// users.Deleted, and the text and the address that they sent become empty.
func anonymous(payload string, id uid.ID, isAbout bool) (string, error) {
	var fields map[string]any
	decoder := json.NewDecoder(strings.NewReader(payload))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return "", err
	}
	for name, value := range fields {
		text, isText := value.(string)
		switch {
		case !isText:
		case text == id.String():
			fields[name] = users.Deleted.String()
		case !isAbout:
		case strings.HasSuffix(strings.ToLower(name), "displayname"):
			fields[name] = users.DeletedDisplayName
		case name == "username" || name == "userSlug":
			fields[name] = users.DeletedUsername
		case name == "message" || name == "address":
			fields[name] = ""
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}
