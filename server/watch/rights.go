package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moderato-live/moderato/ent/token"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/digest"
	"github.com/moderato-live/moderato/server/eventtype"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
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
	listeners map[*listener]struct{}
}

// DefaultMaxChannels is the default of Rights.MaxChannels.
const DefaultMaxChannels = 1000

func (r *Rights) maxChannels() int { return cmp.Or(r.MaxChannels, DefaultMaxChannels) }

// admit checks what a caller may receive at present, and keeps the result up to date
// until leave.
func (r *Rights) admit(ctx context.Context, caller *authn.Caller, only uid.ID, types []eventtype.Type) (*listener, error) {
	l := newListener(caller, only, types)
	if err := r.checkTokens(ctx, []*listener{l}); err != nil {
		return nil, err
	}
	if err := r.checkRights(ctx, []*listener{l}); err != nil {
		return nil, err
	}
	if err := l.err(); err != nil {
		return nil, err
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

func (r *Rights) all() []*listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.listeners))
}

// checkTokens ends the listeners whose token is no longer valid.
func (r *Rights) checkTokens(ctx context.Context, some []*listener) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	began := time.Now()
	invalid, err := r.invalidTokens(ctx, some)
	if err != nil {
		return r.Store.Classify(err)
	}
	for _, l := range some {
		if reason := invalid[l.caller.Token]; reason != nil {
			l.end(reason)
		} else {
			l.confirmToken(began)
		}
	}
	return nil
}

// invalidTokens returns, by token, why the token of a listener is not valid at present.
// A valid token has no error.
func (r *Rights) invalidTokens(ctx context.Context, some []*listener) (map[digest.SHA256]error, error) {
	invalid := map[digest.SHA256]error{}
	for _, l := range some {
		invalid[l.caller.Token] = apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
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

// checkRights checks what listeners may receive. For a listener that named a channel, it
// checks that channel. For a listener that named none, it checks whether the rights of
// the user changed, and reads the user's channels only if they did. A check that fails
// does not affect the listeners of the other checks.
func (r *Rights) checkRights(ctx context.Context, listeners []*listener) error {
	var failed error
	var changed, old []changedListener
	for some := range slices.Chunk(listeners, askedAtOnce) {
		began := time.Now()
		var named, unnamed []*listener
		for _, l := range some {
			switch {
			case !l.only.IsZero():
				named = append(named, l)
			case l.caller.ActsAsUser():
				unnamed = append(unnamed, l)
			default: // a backend receives everything
				l.confirmRights(began, noVersion, nil)
			}
		}
		more, aged, err := r.checkVersions(ctx, unnamed, began)
		changed, old = append(changed, more...), append(old, aged...)
		failed = errors.Join(failed, err, r.checkNamed(ctx, named, began))
	}
	changed = append(changed, old[:min(len(old), rereadAtOnce)]...)
	return r.Store.Classify(errors.Join(failed, r.readChannels(ctx, changed)))
}

// right identifies the moderator right of a user in a channel.
type right struct{ channelID, userID uid.ID }

// checkNamed checks listeners that named a channel.
func (r *Rights) checkNamed(ctx context.Context, named []*listener, began time.Time) error {
	if len(named) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	channels, moderators, err := r.rightsTo(ctx, named)
	if err != nil {
		return err
	}
	for _, l := range named {
		mayHear := !l.caller.ActsAsUser() || l.caller.UserID == l.only || moderators[right{l.only, l.caller.UserID}]
		switch {
		case !mayHear:
			l.end(apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR))
		case !channels[l.only]:
			l.end(apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND))
		default:
			l.confirmRights(began, noVersion, []uid.ID{l.only})
		}
	}
	return nil
}

// rightsTo returns which of the channels that the listeners named exist, and which of
// the listeners' users moderate them.
func (r *Rights) rightsTo(ctx context.Context, named []*listener) (channels map[uid.ID]bool, moderators map[right]bool, err error) {
	var ids, pairs []any
	for _, l := range named {
		ids = append(ids, l.only)
		pairs = append(pairs, l.only, l.caller.UserID)
	}
	channels, moderators = map[uid.ID]bool{}, map[right]bool{}
	err = store.QueryEach(ctx, r.Store.Read, "SELECT id FROM channels WHERE id IN ("+store.Placeholders(len(ids))+")", ids,
		func(scan func(...any) error) error {
			var id uid.ID
			err := scan(&id)
			channels[id] = true
			return err
		})
	if err != nil {
		return nil, nil, err
	}
	err = store.QueryEach(ctx, r.Store.Read, `
		SELECT r.channel_id, r.user_id FROM roles r WHERE r.role = 'moderator' AND `+authz.Moderates("r.channel_id", "r.user_id")+`
			AND (`+strings.TrimPrefix(strings.Repeat(" OR (r.channel_id = ? AND r.user_id = ?)", len(named)), " OR ")+")", pairs,
		func(scan func(...any) error) error {
			var of right
			err := scan(&of.channelID, &of.userID)
			moderators[of] = true
			return err
		})
	return channels, moderators, err
}
