package watch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// errUnconfirmed ends a stream whose listener could not be confirmed.
var errUnconfirmed = errors.New("the token or the rights of the listener could not be confirmed")

// Listener is a caller who listens to events, and what the caller hears at present. Rights
// keeps it up to date, from Admit until Leave.
type Listener struct {
	wish *hearing.Wish

	mu        sync.Mutex
	mayHear   map[uid.ID]bool  // nil for every channel
	types     []eventtype.Type // what the caller may hear there, with the live types
	selection *Selection       // mayHear in order, with types; nil for every event
	tokenAt   time.Time        // when the token was last valid
	version   int64            // the version of the user's rights that mayHear has
	rightsAt  time.Time        // the time as of which the rights are known
	readAt    time.Time        // when the channels were last read
	changedAt time.Time        // when the rights changed: older results are outdated
	confirmed chan struct{}    // closed and replaced at each confirmation
	ended     error
	over      chan struct{} // closed when ended is set

	// changed is called with mu held when the channels change; nil for none.
	changed func(channels []uid.ID, everywhere bool)
}

func newListener(wish *hearing.Wish) *Listener {
	return &Listener{wish: wish, version: unknownVersion, confirmed: make(chan struct{}), over: make(chan struct{})}
}

// confirmToken records that the token was valid at a time.
func (l *Listener) confirmToken(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokenAt = at
	l.tell()
}

// confirmVersion records that the rights of the listener's user have a version at a
// time. It reports whether the listener knows the channels of that version, and whether
// they were read so long ago that they should be read again.
func (l *Listener) confirmVersion(at time.Time, version int64) (isKnown, isOld bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.version != version {
		return false, false
	}
	if at.After(l.rightsAt) {
		l.rightsAt = at
		l.tell()
	}
	return true, version != noVersion && at.Sub(l.readAt) > maxAge
}

// confirmRights records the channels and types that the caller may hear as of a time, and
// the version of the rights that the channels have; nil is every channel. It ignores a
// result that is older than the recorded one, or than the latest change.
func (l *Listener) confirmRights(at time.Time, version int64, channels []uid.ID, types []eventtype.Type) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.Before(l.rightsAt) || at.Before(l.changedAt) {
		return
	}
	l.rightsAt, l.readAt, l.version = at, at, version
	l.tell()
	l.types = types
	types = eventtype.Kept(types) // a selection is of the events that are kept
	if channels == nil && !l.wish.Caller.ActsAsUser() {
		if l.selection == nil && !hearing.IsEverything(types) {
			l.selection = &Selection{Types: types}
		}
		return
	}
	slices.SortFunc(channels, func(a, b uid.ID) int { return slices.Compare(a[:], b[:]) })
	// The types of a listener are one of two lists, the shorter of which is a part of the
	// other.
	if l.selection != nil && slices.Equal(l.selection.Channels, channels) && len(l.selection.Types) == len(types) {
		return
	}
	l.selection = &Selection{Channels: channels, Types: types}
	l.mayHear = make(map[uid.ID]bool, len(channels))
	for _, id := range channels {
		l.mayHear[id] = true
	}
	l.tellChannels()
}

// tell wakes the goroutines that wait for a confirmation. The caller must hold mu.
func (l *Listener) tell() {
	close(l.confirmed)
	l.confirmed = make(chan struct{})
}

// Present returns what the listener hears at present; nil is everything.
func (l *Listener) Present() *Selection {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.selection
}

// May reports whether the listener hears events of a type in a channel. While the token or
// the rights are not confirmed it waits. After maxPause it returns an error.
func (l *Listener) May(ctx context.Context, channelID uid.ID, kind eventtype.Type) (bool, error) {
	if only := l.wish.ChannelID; !only.IsZero() && channelID != only {
		return false, nil
	}
	var giveUp <-chan time.Time
	for {
		isFresh, may, confirmed := l.look(channelID, kind)
		if isFresh {
			return may, nil
		}
		if giveUp == nil {
			timer := time.NewTimer(maxPause)
			defer timer.Stop()
			giveUp = timer.C
		}
		select {
		case <-confirmed:
		case <-giveUp:
			return false, unconfirmed()
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// look returns what the listener knows about its right to hear a type.
func (l *Listener) look(channelID uid.ID, kind eventtype.Type) (isFresh, may bool, confirmed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.tokenAt
	if l.rightsAt.Before(at) {
		at = l.rightsAt
	}
	may = (l.mayHear == nil || l.mayHear[channelID]) && (l.selection == nil || slices.Contains(l.types, kind))
	return time.Since(at) < maxUnconfirmed, may, l.confirmed
}

func unconfirmed() error {
	return &apierr.Error{
		Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second, Cause: errUnconfirmed,
		Message: "Your rights could not be confirmed in time. Connect again, and go on from the last id or cursor.",
	}
}

// outdate pauses the listener until its channels are read again. It does not rely on the
// version, which a server of an earlier version of Moderato does not increase.
func (l *Listener) outdate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rightsAt, l.changedAt, l.version = time.Time{}, time.Now(), unknownVersion
}

func (l *Listener) end(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.ended = reason
		close(l.over)
	}
}

// Over returns a channel that is closed when the listener ends, because its token or its
// right ended.
func (l *Listener) Over() <-chan struct{} { return l.over }

// Err returns the reason why the listener ended, as a new call would return it; nil while
// it has not ended.
func (l *Listener) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}
