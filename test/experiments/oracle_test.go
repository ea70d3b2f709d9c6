package experiments_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest/process"
)

// The oracle compares the database and the subscribers with the journal of a load that has
// ended. An acknowledged operation has all its events, each once; one of unknown outcome has
// all or none; one that was refused has none. The rows of each user are those that follow
// from the operations with events. Every subscriber received every event once in the order
// of its channel. And `moderato fsck` finds nothing.

// pair is a user in a channel.
type pair struct{ channel, user uid.ID }

// check runs the oracle.
func (s *site) check(l *load, subscribers []*subscriber) {
	s.t.Helper()
	operations := l.journal.read()
	expected, happened := s.checkEvents(operations)
	s.checkRows(expected)
	s.checkMessages(operations, happened)
	s.checkDeliveries(subscribers)
	if got := process.Run(s.t, nil, "", "fsck", process.DBFlag(s.url)); got.Code != 0 {
		s.t.Errorf("fsck: %s%s", got.Out, got.Err)
	}
}

// checkEvents compares the events with the operations. It returns the state of each target
// that follows, and which operations happened.
func (s *site) checkEvents(operations []*recorded) (expected map[pair]*target, happened map[string]bool) {
	s.t.Helper()
	written := map[string][]string{}
	s.must(s.eachRow("SELECT request_id, type FROM events ORDER BY channel_id, sequence", nil, func(scan func(...any) error) error {
		var request, name string
		err := scan(&request, &name)
		written[request] = append(written[request], name)
		return err
	}))
	expected, happened = map[pair]*target{}, map[string]bool{}
	unknowns, lost := 0, 0
	for _, o := range operations {
		g := expected[pair{o.Channel, o.User}]
		if g == nil {
			g = &target{channel: o.Channel, user: o.User}
			expected[pair{o.Channel, o.User}] = g
		}
		if o.Kind == message {
			continue
		}
		got, want := strings.Join(written[o.ID], " "), eventsOf[o.Kind]
		delete(written, o.ID)
		switch {
		case got != want && (got != "" || o.outcome == done):
			s.t.Errorf("%s of %s in %s is %s and has the events [%s], want [%s]", o.Kind, o.User, o.Channel, o.outcome, got, want)
			lost++
		case got != "" && o.outcome == refused:
			s.t.Errorf("%s of %s in %s was refused and has the events [%s]", o.Kind, o.User, o.Channel, got)
		case o.outcome == unknown:
			unknowns++
		}
		if lost > 20 {
			s.t.Fatal("and more")
		}
		if happened[o.ID] = got != ""; happened[o.ID] {
			g.apply(o.Kind)
		}
	}
	for id, events := range written {
		if id == ownRequest || (id == "" && !slices.ContainsFunc(events, isNoEnd)) {
			continue
		}
		s.t.Errorf("the events %v of the request %q are of no operation", events, id)
	}
	s.t.Logf("%d operations of %d users; the outcome of %d remained unknown", len(operations), len(expected), unknowns)
	return expected, happened
}

// ownRequest is the id of requests that the tests send beside the load.
const ownRequest = "experiment"

// isNoEnd reports whether an event is of no background job.
func isNoEnd(name string) bool { return name != "channel.mute.expire" && name != "channel.unban" }

// checkRows compares the rows of the targets with the expected state.
func (s *site) checkRows(expected map[pair]*target) {
	s.t.Helper()
	actual := map[pair]*target{}
	collect := func(query string, set func(*target)) {
		s.must(s.eachRow(query, nil, func(scan func(...any) error) error {
			var p pair
			err := scan(&p.channel, &p.user)
			if actual[p] == nil {
				actual[p] = &target{channel: p.channel, user: p.user}
			}
			set(actual[p])
			return err
		}))
	}
	collect("SELECT channel_id, user_id FROM bans", func(g *target) { g.isBanned = true })
	collect("SELECT channel_id, user_id FROM mutes", func(g *target) { g.isMuted = true })
	collect("SELECT channel_id, user_id FROM follows", func(g *target) { g.follows = true })
	collect("SELECT channel_id, user_id FROM roles WHERE role = 'moderator'", func(g *target) { g.isModerator = true })
	for p, want := range expected {
		got := actual[p]
		if got == nil {
			got = &target{channel: p.channel, user: p.user}
		}
		if *got != *want {
			s.t.Errorf("the rows of %s, want %s", got, want)
		}
	}
	for p, got := range actual {
		if expected[p] == nil && slices.Contains(s.channels, p.channel) && slices.Contains(s.users, p.user) {
			s.t.Errorf("no operation named the user with the rows of %s", got)
		}
	}
}

// checkMessages checks that acknowledged messages are listed, unless a later ban or mute of
// their sender hides them, and that refused or hidden ones are not.
func (s *site) checkMessages(operations []*recorded, happened map[string]bool) {
	s.t.Helper()
	hidden := map[string]bool{}
	posts := map[pair][]string{}
	for _, o := range operations {
		p := pair{o.Channel, o.User}
		switch {
		case o.Kind == message:
			posts[p] = append(posts[p], o.ID)
		case (o.Kind == ban || o.Kind == mute) && happened[o.ID]:
			for _, id := range posts[p] {
				hidden[id] = true
			}
			posts[p] = nil
		}
	}
	listed := map[string]bool{}
	for _, channel := range s.channels {
		s.list(channel, listed)
	}
	for _, o := range operations {
		if o.Kind != message {
			continue
		}
		if o.outcome == done && !hidden[o.ID] && !listed[o.ID] {
			s.t.Errorf("the message %s was acknowledged and is lost", o.ID)
		}
		if listed[o.ID] && (hidden[o.ID] || o.outcome == refused) {
			s.t.Errorf("the message %s is listed: it is hidden (%t), or it is %s", o.ID, hidden[o.ID], o.outcome)
		}
	}
}

// list adds the messages of a channel.
func (s *site) list(channel uid.ID, listed map[string]bool) {
	s.t.Helper()
	const pages = 1000 // far more than a list has
	limit, cursor := int32(100), ""
	api := platformv1.NewChatServiceClient(s.conn)
	for range pages {
		r, err := api.ListMessages(s.backend.Context(), &platformv1.ListMessagesRequest{ChannelId: channel.String(), Limit: &limit, Cursor: cursor})
		s.must(err)
		for _, m := range r.GetMessages() {
			listed[m.GetId()] = true
		}
		if cursor = r.GetNextCursor(); cursor == "" {
			return
		}
	}
	s.t.Errorf("the list of the messages of %s has no end", channel)
}

// checkDeliveries waits until the subscribers received all events, and ends them.
func (s *site) checkDeliveries(subscribers []*subscriber) {
	s.t.Helper()
	want, err := s.stored()
	s.must(err)
	for _, sub := range subscribers {
		began := time.Now()
		if !eventually(patience, func() bool { return maps.Equal(sub.has(), want) }) {
			s.t.Errorf("%s: %s", sub.name, difference(sub.has(), want))
		}
		sub.end()
		s.t.Logf("%s: %d streams, %d events again, complete after %s", sub.name, sub.streams, sub.repeats, time.Since(began).Round(time.Millisecond))
	}
}

// difference describes how a subscriber's events differ from those in the database.
func difference(got, want map[string]received) string {
	var all []string
	for channel, w := range want {
		switch g := got[channel]; {
		case g.Sequence != w.Sequence:
			all = append(all, channel+" has another number of events")
		case g != w:
			all = append(all, channel+" has other events, or another order")
		}
	}
	return strings.Join(all, ", ")
}

// eachRow reads rows; the connection may have been lost with the database.
func (s *site) eachRow(query string, args []any, each func(scan func(...any) error) error) error {
	return store.QueryEach(context.Background(), s.store.Read, query, args, each)
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
