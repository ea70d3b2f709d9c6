package watch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/uid"
)

// errUnconfirmed ends a stream whose listener could not be confirmed.
var errUnconfirmed = errors.New("the token or the rights of the listener could not be confirmed")

// listener holds the caller of a stream, and what the caller may receive.
type listener struct {
	caller *authn.Caller
	only   uid.ID        // the channel; zero for every channel that the caller may receive
	types  []outbox.Type // all, unless the caller chose some

	mu        sync.Mutex
	mayHear   map[uid.ID]bool // nil for every channel
	selection *Selection      // mayHear in order, with types; nil for every event
	tokenAt   time.Time       // when the token was last valid
	version   int64           // the version of the user's rights that mayHear has
	rightsAt  time.Time       // the time as of which the rights are known
	readAt    time.Time       // when the channels were last read
	changedAt time.Time       // when the rights changed: older results are outdated
	confirmed chan struct{}   // closed and replaced at each confirmation
	ended     error
	over      chan struct{} // closed when ended is set

	// changed is called with mu held when the channels change; nil for none.
	changed func(channels []uid.ID, everywhere bool)
}

func newListener(caller *authn.Caller, only uid.ID, types []outbox.Type) *listener {
	return &listener{caller: caller, only: only, types: types, version: unknownVersion, confirmed: make(chan struct{}), over: make(chan struct{})}
}

// confirmToken records that the token was valid at a time.
func (l *listener) confirmToken(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokenAt = at
	l.tell()
}

// confirmVersion records that the rights of the listener's user have a version at a
// time. It reports whether the listener knows the channels of that version, and whether
// they were read so long ago that they should be read again.
func (l *listener) confirmVersion(at time.Time, version int64) (isKnown, isOld bool) {
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

// confirmRights records the channels that the caller may receive as of a time, and the
// version of the rights that they have; nil is every channel. It ignores a result that is
// older than the recorded one, or than the latest change.
func (l *listener) confirmRights(at time.Time, version int64, channels []uid.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.Before(l.rightsAt) || at.Before(l.changedAt) {
		return
	}
	l.rightsAt, l.readAt, l.version = at, at, version
	l.tell()
	if channels == nil && !l.caller.ActsAsUser() {
		if l.selection == nil && len(l.types) < len(outbox.Types()) {
			l.selection = &Selection{Types: l.types}
		}
		return
	}
	slices.SortFunc(channels, func(a, b uid.ID) int { return slices.Compare(a[:], b[:]) })
	if l.selection != nil && slices.Equal(l.selection.Channels, channels) {
		return
	}
	l.selection = &Selection{Channels: channels, Types: l.types}
	l.mayHear = make(map[uid.ID]bool, len(channels))
	for _, id := range channels {
		l.mayHear[id] = true
	}
	l.tellChannels()
}

// tell wakes the goroutines that wait for a confirmation. The caller must hold mu.
func (l *listener) tell() {
	close(l.confirmed)
	l.confirmed = make(chan struct{})
}

// present returns what the listener may receive at present; nil is everything.
func (l *listener) present() *Selection {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.selection
}

// may reports whether the listener may receive events of a channel. While the token or
// the rights are not confirmed it waits. After maxPause it returns an error.
func (l *listener) may(ctx context.Context, channelID uid.ID) (bool, error) {
	if !l.only.IsZero() && channelID != l.only {
		return false, nil
	}
	var giveUp <-chan time.Time
	for {
		isFresh, may, confirmed := l.look(channelID)
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

func (l *listener) look(channelID uid.ID) (isFresh, may bool, confirmed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.tokenAt
	if l.rightsAt.Before(at) {
		at = l.rightsAt
	}
	return time.Since(at) < maxUnconfirmed, l.mayHear == nil || l.mayHear[channelID], l.confirmed
}

func unconfirmed() error {
	return &apierr.Error{
		Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second, Cause: errUnconfirmed,
		Message: "Your rights could not be confirmed in time. Connect again, and go on from the last id or cursor.",
	}
}

// outdate pauses the listener until its channels are read again. It does not rely on the
// version, which a server of an earlier version of Moderato does not increase.
func (l *listener) outdate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rightsAt, l.changedAt, l.version = time.Time{}, time.Now(), unknownVersion
}

func (l *listener) end(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.ended = reason
		close(l.over)
	}
}

// err returns the reason why the listener was ended; nil while it is not.
func (l *listener) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}
