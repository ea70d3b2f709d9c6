package moderation

import (
	"strings"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// parseTarget reads the user whom a request is about from two fields, one for the id and
// one for the username. A request must have exactly one of them. A username may have a
// leading @, as in chat.
func parseTarget(f *validate.Fields, idField, id, nameField, name string) users.Key {
	switch {
	case id == "" && name == "":
		f.Add(idField, "is required, or "+nameField+" instead")
	case id != "" && name != "":
		f.Exclude(idField, nameField)
	case id != "":
		return users.Key{ID: f.UUID(idField, id)}
	default:
		return users.Key{Slug: strings.ToLower(f.Mention(nameField, name))}
	}
	return users.Key{}
}

// refuseChannel returns TARGET_IS_CHANNEL if the target is the channel's owner. Requests
// can name the owner by id or by username.
func refuseChannel(channelID, userID uid.ID) error {
	if userID == channelID {
		return apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return nil
}
