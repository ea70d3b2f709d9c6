package demo

import "github.com/moderato-live/moderato/internal/uid"

// The clients.
const (
	dashboardClient = "demo-dashboard"
	chatClient      = "demo-chat"
	// ViewersClient is the client through which the viewers act.
	ViewersClient = "demo-viewers"
)

// Cast holds the users and clients of the commands that the demo prints.
type Cast struct {
	// Owner owns the first channel.
	Owner Person
	// Moderator is a moderator of the first channel.
	Moderator Person
	// Viewer has no role in any channel.
	Viewer Person
	// Raider spams in the owner's channel, and is not banned yet.
	Raider Person
	// Client is the client to which Owner, Moderator and Viewer granted
	// users.read.
	Client string
	// ServiceClient is the client of one of the platform's own backends.
	ServiceClient string
}

// People returns the demo's cast, which is the same at every start.
func People() Cast {
	people := makePeople()
	return Cast{
		Owner:         people[0].Person,
		Moderator:     people[moderatorIndex].Person,
		Viewer:        people[viewerIndex].Person,
		Raider:        people[raiderIndex].Person,
		Client:        dashboardClient,
		ServiceClient: chatClient,
	}
}

// Ban is a ban that the demo applies through the service, after the import. It
// deletes the messages of User in Channel.
type Ban struct{ Channel, Moderator, User uid.ID }

// Bans returns the demo's bans, two to four in each channel, which are the same at
// every start. A banned user holds no role and is not in the cast.
func Bans() []Ban {
	w := makeWorld()
	bans := make([]Ban, 0, len(w.bans))
	for _, b := range w.bans {
		bans = append(bans, Ban{Channel: w.people[b.channel].ID, Moderator: w.people[b.moderator].ID, User: w.people[b.user].ID})
	}
	return bans
}

// SignInUser is a user as whom one can sign in to the demo.
type SignInUser struct {
	Person

	// Role is what the user is in the first channel: owner, moderator or viewer.
	Role string
}

// SignInUsers returns the users as whom one can sign in.
func SignInUsers() []SignInUser {
	cast := People()
	return []SignInUser{{cast.Owner, "owner"}, {cast.Moderator, moderator}, {cast.Viewer, "viewer"}}
}

// SignedInPath is the path to which the demo's client returns from a sign-in.
const SignedInPath = "/demo/signed-in"
