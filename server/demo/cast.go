package demo

import "github.com/moderato-live/moderato/server/uid"

// The clients.
const (
	dashboardClient = "demo-dashboard"
	chatClient      = "demo-chat"
)

// Cast is who acts in the commands that the demo prints.
type Cast struct {
	// Owner has the first channel.
	Owner Person
	// Moderator moderates it.
	Moderator Person
	// Viewer has no role anywhere.
	Viewer Person
	// Raider spams in the owner's channel, and is not banned yet.
	Raider Person
	// Client is the client to which Owner, Moderator and Viewer granted
	// users.read.
	Client string
	// ServiceClient is one of the platform's own backends.
	ServiceClient string
}

// People is the demo's cast, the same at every start.
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

// Ban is a ban that the demo applies through the service, after the import: it
// deletes the messages that User has in Channel.
type Ban struct{ Channel, Moderator, User uid.ID }

// Bans are the demo's bans, two to four in each channel, the same at every
// start. Who is banned holds no role and is not of the cast.
func Bans() []Ban {
	w := makeWorld()
	bans := make([]Ban, 0, len(w.bans))
	for _, b := range w.bans {
		bans = append(bans, Ban{Channel: w.people[b.channel].ID, Moderator: w.people[b.moderator].ID, User: w.people[b.user].ID})
	}
	return bans
}
