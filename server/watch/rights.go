package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/server/outbox"

	"github.com/moderato-live/moderato/ent/token"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/digest"
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
	// maxPass is how long the check of all listeners may take. While it takes longer, a
	// new listener that acts as a user must name a channel, because listeners that name
	// none cost most.
	maxPass = 500 * time.Millisecond
	// passRetry is the retry delay that a listener receives in that case.
	passRetry = 5 * time.Second
)

// Rights monitors what listeners may receive, for all listeners of a process. It fails
// closed: a listener that cannot be confirmed receives nothing.
type Rights struct {
	Store *store.Store
	Log   *slog.Logger
	// MaxChannels is how many channels a listener that names no channel may have; 0 is
	// DefaultMaxChannels.
	MaxChannels int

	// pass is the duration of the faster of the latest two checks of all listeners.
	pass atomic.Int64

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// DefaultMaxChannels is the default of Rights.MaxChannels.
const DefaultMaxChannels = 1000

func (r *Rights) maxChannels() int { return cmp.Or(r.MaxChannels, DefaultMaxChannels) }

// admit checks what a caller may receive at present, and keeps the result up to date
// until leave.
func (r *Rights) admit(ctx context.Context, caller *authn.Caller, only uid.ID, types []outbox.Type) (*listener, error) {
	if only.IsZero() && caller.ActsAsUser() && time.Duration(r.pass.Load()) > maxPass {
		return nil, &apierr.Error{
			Reason:     moderatov1.Reason_REASON_OVERLOADED,
			Message:    "The server has too many listeners who name no channel. Name one with channelId, or try again later.",
			RetryAfter: passRetry,
		}
	}
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

// Run checks tokens and rights until ctx ends. Each has its own loop, so that a slow
// check of one does not delay the other.
func (r *Rights) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() {
		jobs.Every(ctx, tokensInterval, r.Log, "check the tokens of listeners", r.checkAllTokens)
	})
	loops.Go(func() {
		var last time.Duration
		jobs.Every(ctx, rightsInterval, r.Log, "check the rights of listeners", func(ctx context.Context) error {
			began := time.Now()
			defer func() {
				took := time.Since(began)
				r.pass.Store(int64(min(took, last)))
				last = took
			}()
			return r.checkAllRights(ctx)
		})
	})
	loops.Wait()
}

func (r *Rights) checkAllTokens(ctx context.Context) error {
	var failed error
	for some := range slices.Chunk(r.all(), askedAtOnce) {
		failed = errors.Join(failed, r.checkTokens(ctx, some))
	}
	return failed
}

// checkAllRights checks the rights of all listeners. A check that fails does not affect
// the listeners of the other checks.
func (r *Rights) checkAllRights(ctx context.Context) error {
	var failed error
	for some := range slices.Chunk(r.all(), askedAtOnce) {
		failed = errors.Join(failed, r.checkRights(ctx, some))
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

// checkRights checks what some listeners may receive. For a listener that named a
// channel, it checks that channel. For the others, it finds their channels.
func (r *Rights) checkRights(ctx context.Context, some []*listener) error {
	began := time.Now()
	var named []*listener
	users := map[uid.ID][]*listener{}
	for _, l := range some {
		switch {
		case !l.only.IsZero():
			named = append(named, l)
		case l.caller.ActsAsUser():
			users[l.caller.UserID] = append(users[l.caller.UserID], l)
		default: // a backend receives everything
			l.confirmRights(began, nil)
		}
	}
	return r.Store.Classify(errors.Join(r.checkNamed(ctx, named, began), r.checkUsers(ctx, users)))
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
			l.confirmRights(began, []uid.ID{l.only})
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

// checkUsers checks listeners that named no channel, by the user for whom they act.
func (r *Rights) checkUsers(ctx context.Context, users map[uid.ID][]*listener) error {
	var failed error
	for some := range slices.Chunk(slices.Collect(maps.Keys(users)), usersAtOnce) {
		began := time.Now()
		heard, err := r.channelsOf(ctx, some)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, userID := range some {
			for _, l := range users[userID] {
				if heard[userID].roles > r.maxChannels() {
					l.end(r.tooManyChannels())
				} else {
					l.confirmRights(began, heard[userID].channels)
				}
			}
		}
	}
	return failed
}

func (r *Rights) tooManyChannels() error {
	return apierr.Invalid(apierr.Violation{
		Field: "channelId", Description: fmt.Sprintf("is required: you moderate more than %d channels", r.maxChannels()),
	})
}

// heard holds what a user that names no channel receives.
type heard struct {
	channels []uid.ID
	// roles is the number of channels that the user owns or has the moderator role in.
	// It includes channels in which the role gives no right at present. At most one role
	// more than a listener may have is counted.
	roles int
}

// channelsOf returns the channels that users own or moderate. For each user, it reads
// only as many roles as are needed to detect that they are too many.
func (r *Rights) channelsOf(ctx context.Context, users []uid.ID) (map[uid.ID]heard, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	parts := make([]string, len(users))
	var args []any
	for i, id := range users {
		parts[i] = `SELECT * FROM (
			SELECT id AS user_id, id AS channel_id, 1 AS may_hear FROM channels WHERE id = ?
			UNION ALL
			SELECT r.user_id, r.channel_id, EXISTS (SELECT 1 FROM channels c WHERE c.id = r.channel_id) AND ` + authz.Moderates("r.channel_id", "r.user_id") + `
			FROM (SELECT user_id, channel_id FROM roles` + r.Store.ByIndex("role_user_id_role_created_at_channel_id") + `
				WHERE user_id = ? AND role = 'moderator' ORDER BY created_at, channel_id` + store.Limit(r.maxChannels()+1) + `) r) u` + fmt.Sprint(i)
		args = append(args, id, id)
	}
	all := map[uid.ID]heard{}
	err := store.QueryEach(ctx, r.Store.Read, strings.Join(parts, " UNION ALL "), args, func(scan func(...any) error) error {
		var userID, channelID uid.ID
		var mayHear bool
		err := scan(&userID, &channelID, &mayHear)
		h := all[userID]
		h.roles++
		if mayHear {
			h.channels = append(h.channels, channelID)
		}
		all[userID] = h
		return err
	})
	return all, err
}
