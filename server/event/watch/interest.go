package watch

import (
	"slices"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// Interest says which events concern a listener: those of some types in one channel or in
// every channel, and those that change what the listener may receive. It must not change.
type Interest struct {
	// ChannelID is the channel; zero is every channel.
	ChannelID uid.ID
	// Types are the types of events; nil is every type.
	Types []eventtype.Type
	// UserID is the user for whom the listener acts; zero is none.
	UserID uid.ID
}

// interestOf returns the Interest of a listener that may hear all of its Wish.
func interestOf(wish *hearing.Wish) *Interest {
	return &Interest{ChannelID: wish.ChannelID, Types: eventtype.Kept(wish.Widest()), UserID: wish.Caller.UserID}
}

// everything is the interest of a listener that needs every event.
var everything = &Interest{}

// has reports whether an event has the channel and one of the types.
func (i *Interest) has(e *outbox.Event) bool {
	return (i.ChannelID.IsZero() || i.ChannelID == e.ChannelID) && i.hasType(e.Type)
}

func (i *Interest) hasType(kind eventtype.Type) bool {
	return i.Types == nil || slices.Contains(i.Types, kind)
}

// isRight reports whether an event changes what the listener may receive.
func (i *Interest) isRight(e *outbox.Event) bool {
	return e.TargetID == i.UserID && !i.UserID.IsZero() && changesRights(e.Type)
}

func changesRights(kind eventtype.Type) bool { return kind.GrantsRight() || kind.EndsRight() }

// subscribers holds the subscriptions of a Hub by what concerns them, so that an event
// wakes only these. The Hub's mu guards it.
type subscribers struct {
	all       map[*Subscription]struct{}
	byChannel index // zero for every channel
	byUser    index // zero for none
}

func newSubscribers() subscribers {
	return subscribers{map[*Subscription]struct{}{}, index{}, index{}}
}

func (all *subscribers) add(s *Subscription) {
	all.all[s] = struct{}{}
	if s.interest.Types == nil || len(s.interest.Types) > 0 {
		all.byChannel.add(s.interest.ChannelID, s)
	}
	if !s.interest.UserID.IsZero() {
		all.byUser.add(s.interest.UserID, s)
	}
}

func (all *subscribers) remove(s *Subscription) {
	delete(all.all, s)
	all.byChannel.remove(s.interest.ChannelID, s)
	all.byUser.remove(s.interest.UserID, s)
}

// wakeAll wakes every subscription that has caught up, at a position.
func (all *subscribers) wakeAll(at int64) {
	for s := range all.all {
		s.wake(at)
	}
}

// wakeFor wakes the subscriptions that events concern, at the position before the events.
func (all *subscribers) wakeFor(events []*outbox.Event, before int64) {
	type kind struct {
		channelID uid.ID
		eventType eventtype.Type
	}
	seen := map[kind]bool{}
	wakeFor := func(k kind) {
		if !seen[k] {
			seen[k] = true
			all.wakeForType(k.channelID, k.eventType, before)
		}
	}
	for _, e := range events {
		if changesRights(e.Type) {
			for s := range all.byUser[e.TargetID] {
				s.wake(before)
			}
		}
		wakeFor(kind{e.ChannelID, e.Type})
		wakeFor(kind{uid.ID{}, e.Type})
	}
}

// wakeForType wakes the subscriptions to a type in a channel, zero for those to every
// channel.
func (all *subscribers) wakeForType(channelID uid.ID, kind eventtype.Type, at int64) {
	for s := range all.byChannel[channelID] {
		if s.isCaughtUp && s.interest.hasType(kind) {
			s.wake(at)
		}
	}
}

// index holds subscriptions by an id.
type index map[uid.ID]map[*Subscription]struct{}

func (x index) add(id uid.ID, s *Subscription) {
	if x[id] == nil {
		x[id] = map[*Subscription]struct{}{}
	}
	x[id][s] = struct{}{}
}

func (x index) remove(id uid.ID, s *Subscription) {
	delete(x[id], s)
	if len(x[id]) == 0 {
		delete(x, id)
	}
}
