package moderation

import (
	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// refuseChannel returns TARGET_IS_CHANNEL if the target is the channel's owner. Requests
// can name the owner by id or by username.
func refuseChannel(channelID, userID uid.ID) error {
	if userID == channelID {
		return apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return nil
}

// person is what an event says about the user whom it is about.
type person struct{ username, displayName, avatarURL string }

// personColumns are the columns of a person in the table u of users.
const personColumns = "u.username, u.display_name, u.avatar_url"

func personOf(u *ent.User) person { return person{u.Username, u.DisplayName, u.AvatarURL} }

func (p person) proto(id uid.ID) *moderatov1.Person {
	return &moderatov1.Person{Id: id.String(), Username: p.username, DisplayName: p.displayName, AvatarUrl: p.avatarURL}
}
