package events

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/moderato-live/moderato/ent/token"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/digest"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// RightsInterval is how often the rights of listeners are looked at again: one
	// that ends is noticed within 2 s.
	RightsInterval = time.Second
	askedAtOnce    = 500
)

// Rights keeps watch over what listeners may hear of, for all of a process with a
// few statements.
type Rights struct {
	Store *store.Store
	Log   *slog.Logger

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// listener is who listens, and to what.
type listener struct {
	caller *auth.Caller
	only   uid.ID // zero for every channel that the caller may hear of

	mu       sync.Mutex
	channels map[uid.ID]bool // nil for every channel
	ended    error
	over     chan struct{} // closed with ended
}

// admit finds out what a caller may hear of now, and keeps it up to date until
// leave.
func (r *Rights) admit(ctx context.Context, caller *auth.Caller, only uid.ID) (*listener, error) {
	l := &listener{caller: caller, only: only, over: make(chan struct{})}
	if err := r.refresh(ctx, []*listener{l}); err != nil {
		return nil, err
	}
	if l.ended != nil {
		return nil, l.ended
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listeners == nil {
		r.listeners = map[*listener]struct{}{}
	}
	r.listeners[l] = struct{}{}
	return l, nil
}

func (r *Rights) leave(l *listener) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.listeners, l)
}

// Refresh looks at the rights of all listeners again. When the store cannot say,
// they stay as they are for the time.
func (r *Rights) Refresh(ctx context.Context) error {
	r.mu.Lock()
	all := make([]*listener, 0, len(r.listeners))
	for l := range r.listeners {
		all = append(all, l)
	}
	r.mu.Unlock()
	for some := range slices.Chunk(all, askedAtOnce) {
		if err := r.refresh(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rights) refresh(ctx context.Context, some []*listener) error {
	invalid, err := r.invalidTokens(ctx, some)
	if err != nil {
		return r.Store.Classify(err)
	}
	channels, err := r.channelsOf(ctx, some)
	if err != nil {
		return r.Store.Classify(err)
	}
	for _, l := range some {
		if reason := invalid[l.caller.Token]; reason != nil {
			l.end(reason)
			continue
		}
		switch {
		case l.caller.ActsAsUser():
			l.set(channels[l.caller.UserID])
		case !l.only.IsZero() && !channels[l.only][l.only]:
			l.end(fault.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND))
		}
	}
	return nil
}

// invalidTokens are those of the listeners' tokens that are not good now.
func (r *Rights) invalidTokens(ctx context.Context, some []*listener) (map[digest.SHA256]error, error) {
	invalid := map[digest.SHA256]error{}
	ids := make([]digest.SHA256, len(some))
	for i, l := range some {
		ids[i] = l.caller.Token
		invalid[ids[i]] = fault.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	rows, err := r.Store.Read.Token.Query().Where(token.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, err
	}
	now, err := r.Store.Clock.Now(ctx, r.Store.Read)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		invalid[row.ID] = auth.CheckValidity(row.RevokedAt, row.ExpiresAt, now)
	}
	return invalid, nil
}

// channelsOf are the channels that users own or moderate, of those for whom the
// listeners act. One that a backend names is its owner's, if it exists.
func (r *Rights) channelsOf(ctx context.Context, some []*listener) (map[uid.ID]map[uid.ID]bool, error) {
	channels := map[uid.ID]map[uid.ID]bool{}
	var users []any
	for _, l := range some {
		id := l.caller.UserID
		if !l.caller.ActsAsUser() {
			id = l.only
		}
		if !id.IsZero() && channels[id] == nil {
			channels[id] = map[uid.ID]bool{}
			users = append(users, id)
		}
	}
	if len(users) == 0 {
		return channels, nil
	}
	in := " IN (" + store.Placeholders(len(users)) + ")"
	err := store.QueryEach(ctx, r.Store.Read, `
		SELECT id, id FROM channels WHERE id`+in+`
		UNION ALL
		SELECT r.user_id, r.channel_id FROM roles r
		WHERE r.user_id`+in+` AND r.role = 'moderator'
			AND NOT EXISTS (SELECT 1 FROM bans b WHERE b.channel_id = r.channel_id AND b.user_id = r.user_id)`,
		append(slices.Clone(users), users...),
		func(scan func(...any) error) error {
			var userID, channelID uid.ID
			err := scan(&userID, &channelID)
			if err == nil {
				channels[userID][channelID] = true
			}
			return err
		})
	return channels, err
}

// set gives the listener the channels that their user may hear of, or ends them.
func (l *listener) set(channels map[uid.ID]bool) {
	if !l.only.IsZero() && !channels[l.only] {
		reason := moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR
		if l.only == l.caller.UserID {
			reason = moderatov1.Reason_REASON_CHANNEL_NOT_FOUND
		}
		l.end(fault.New(reason))
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.channels = channels
}

func (l *listener) end(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.ended = reason
		close(l.over)
	}
}

// mayHear tells whether the listener may hear of a channel now.
func (l *listener) mayHear(channelID uid.ID) bool {
	if !l.only.IsZero() && channelID != l.only {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.caller.ActsAsUser() {
		return l.channels[channelID]
	}
	return true
}

// err is why the listener was ended; nil while they are not.
func (l *listener) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}
