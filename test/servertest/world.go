package servertest

import (
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// The users of the World. A channel has the id of its owner.
var (
	// Owner has a channel, which Moderator moderates.
	Owner     = uid.MustParse("0b6f0001-0000-4000-8000-00000000000a")
	Moderator = uid.MustParse("0b6f0002-0000-4000-8000-00000000000b")
	// Viewer and Raider have neither a role nor a channel.
	Viewer = uid.MustParse("0b6f0003-0000-4000-8000-00000000000c")
	Raider = uid.MustParse("0b6f0004-0000-4000-8000-00000000000d")
	// Other has another channel, which Moderator moderates as well.
	Other = uid.MustParse("0b6f0005-0000-4000-8000-00000000000e")
	// Nobody is an id that no user has.
	Nobody = uid.MustParse("0b6fffff-0000-4000-8000-0000000000ff")
)

// The clients of the World.
const (
	Dashboard      = "dashboard"       // of an external developer; Viewer granted it users.read
	OtherDashboard = "other-dashboard" // of an external developer; no user granted it anything
	ChatServer     = "chat-server"     // an internal backend
)

// World returns the data with which most tests start.
func World() []*platformv1.Record {
	user := func(id uid.ID, username, displayName string) *platformv1.Record {
		return &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{
			Id: id.String(), Username: username, DisplayName: displayName,
			AvatarUrl: "https://img.example.com/" + username + ".png",
		}}}
	}
	channel := func(id uid.ID, title string) *platformv1.Record {
		return &platformv1.Record{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{
			Id: id.String(), Title: title, Lang: "en",
		}}}
	}
	moderator := func(channel uid.ID) *platformv1.Record {
		return &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: channel.String(), UserId: Moderator.String(), Role: "moderator",
		}}}
	}
	client := func(id, name string, service bool) *platformv1.Record {
		return &platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{
			Id: id, Name: name, Service: service,
		}}}
	}
	return []*platformv1.Record{
		user(Owner, "Ines", "Inês Carvalho"),
		user(Moderator, "tomasz_wrona", "Tomasz Wrona"),
		user(Viewer, "amara.okafor", "Amara Okafor"),
		user(Raider, "LootGoblin77", `Loot "Goblin" 77`),
		user(Other, "zoe-l", "Zoë Lindqvist"),
		channel(Owner, "Any% until it works"),
		channel(Other, "Pixel art evening"),
		moderator(Owner), moderator(Other),
		client(Dashboard, "Dashboard", false),
		client(OtherDashboard, "Other dashboard", false),
		client(ChatServer, "Chat server", true),
		{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
			ClientId: Dashboard, UserId: Viewer.String(), Scopes: []string{authn.UsersRead},
		}}},
	}
}
