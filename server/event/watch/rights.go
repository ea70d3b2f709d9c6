package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/moderato-live/moderato/ent/token"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// tokensInterval is how often the tokens of listeners are checked, and
	// rightsInterval is how often their rights are. A token or right that ends is
	// noticed within 2 s.
	tokensInterval = 500 * time.Millisecond
	rightsInterval = 750 * time.Millisecond
	// askedAtOnce bounds the listeners that one statement checks.
	askedAtOnce = 500
	// usersAtOnce bounds the users whose channels one statement lists.
	usersAtOnce = 20
	// askTimeout bounds a check. Meanwhile its listeners are not confirmed, and are soon
	// paused.
	askTimeout = time.Second
	// maxUnconfirmed is how long a listener receives events without a confirmation of
	// the token and of the rights.
	maxUnconfirmed = 2 * time.Second
	// maxPause is how long a listener is paused before the stream ends.
	maxPause = 3 * time.Second
	// maxReading is how long a check of all listeners may begin to read channels. The
	// listeners whose channels it has not read by then are not confirmed; a later
	// check reads them.
	maxReading = 500 * time.Millisecond
)

// Rights monitors what listeners may receive, for all listeners of a process. It fails
// closed: a listener that cannot be confirmed receives nothing.
type Rights struct {
	Store *store.Store
	Log   *slog.Logger
	// MaxChannels is how many channels a listener that names no channel may have; 0 is
	// DefaultMaxChannels.
	MaxChannels int

	mu        sync.Mutex
	listeners map[*Listener]struct{}
}

// DefaultMaxChannels is the default of Rights.MaxChannels.
const DefaultMaxChannels = 1000

func (r *Rights) maxChannels() int { return cmp.Or(r.MaxChannels, DefaultMaxChannels) }

// Admit checks what a caller may hear at present, and keeps the result up to date until
// Leave. The error says which right is missing.
func (r *Rights) Admit(ctx context.Context, wish *hearing.Wish) (*Listener, error) {
	l := newListener(wish)
	if err := r.checkTokens(ctx, []*Listener{l}); err != nil {
		return nil, err
	}
	if err := r.checkRights(ctx, []*Listener{l}); err != nil {
		return nil, err
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listeners == nil {
		r.listeners = map[*Listener]struct{}{}
	}
	r.listeners[l] = struct{}{}
	return l, nil
}

// Leave ends the checks of a listener.
func (r *Rights) Leave(l *Listener) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.listeners, l)
}

// Jobs returns the jobs that check the tokens and the rights of the listeners of this
// server. They are two jobs, so that a slow check of one does not delay the other.
func (r *Rights) Jobs() []jobs.Job {
	return []jobs.Job{
		{Name: "check the tokens of listeners", Interval: tokensInterval, Run: jobs.All(r.checkAllTokens)},
		{Name: "check the rights of listeners", Interval: rightsInterval, Run: jobs.All(r.checkAllRights)},
	}
}

func (r *Rights) checkAllRights(ctx context.Context) error { return r.checkRights(ctx, r.all()) }

func (r *Rights) checkAllTokens(ctx context.Context) error {
	var failed error
	for some := range slices.Chunk(r.all(), askedAtOnce) {
		failed = errors.Join(failed, r.checkTokens(ctx, some))
	}
	return failed
}

func (r *Rights) all() []*Listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.listeners))
}

// checkTokens ends the listeners whose token is no longer valid.
func (r *Rights) checkTokens(ctx context.Context, some []*Listener) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	began := time.Now()
	invalid, err := r.invalidTokens(ctx, some)
	if err != nil {
		return r.Store.Classify(err)
	}
	for _, l := range some {
		if reason := invalid[l.wish.Caller.Token]; reason != nil {
			l.end(reason)
		} else {
			l.confirmToken(began)
		}
	}
	return nil
}

// invalidTokens returns, by token, why the token of a listener is not valid at present.
// A valid token has no error.
func (r *Rights) invalidTokens(ctx context.Context, some []*Listener) (map[digest.SHA256]error, error) {
	invalid := map[digest.SHA256]error{}
	for _, l := range some {
		invalid[l.wish.Caller.Token] = apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	rows, err := r.Store.Read.Token.Query().Where(token.IDIn(slices.Collect(maps.Keys(invalid))...)).All(ctx)
	if err != nil {
		return nil, err
	}
	now, err := r.Store.Clock.Now(ctx, r.Store.Read)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		invalid[row.ID] = authn.CheckValidity(row.RevokedAt, row.ExpiresAt, now)
	}
	return invalid, nil
}

// errBehind is the error of a check that did not read the channels of all listeners.
var errBehind = errors.New("the channels of some listeners could not be read in time; they wait")

// checkRights checks what listeners may hear. For a listener that named a channel, it
// checks that channel. For a listener that named none, it checks whether the rights of
// the user changed, and reads the user's channels only if they did. A check that fails
// does not affect the listeners of the other checks.
func (r *Rights) checkRights(ctx context.Context, listeners []*Listener) error {
	var failed error
	var named []*Listener
	var changed, old []changedListener
	for some := range slices.Chunk(listeners, askedAtOnce) {
		began := time.Now()
		var unnamed []*Listener
		for _, l := range some {
			switch {
			case !l.wish.ChannelID.IsZero():
				named = append(named, l)
			case l.wish.Caller.ActsAsUser():
				unnamed = append(unnamed, l)
			default: // a backend hears everything
				l.confirmRights(began, noVersion, nil, l.wish.Widest())
			}
		}
		more, aged, err := r.checkVersions(ctx, unnamed, began)
		changed, old = append(changed, more...), append(old, aged...)
		failed = errors.Join(failed, err)
	}
	failed = errors.Join(failed, r.checkNamed(ctx, named))
	changed = append(changed, old[:min(len(old), rereadAtOnce)]...)
	return r.Store.Classify(errors.Join(failed, r.readChannels(ctx, changed)))
}
