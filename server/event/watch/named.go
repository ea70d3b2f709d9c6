package watch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// A check of the listeners that named a channel first collects what it must know about all
// of them, and asks for each fact once: thousands of overlays of one channel ask whether
// the channel exists, and nothing else.

// right identifies the moderator right of a user in a channel.
type right struct{ channelID, userID uid.ID }

// permission identifies what the owner of a channel granted to a client.
type permission struct {
	channelID uid.ID
	clientID  string
}

// fact is whether something was so at a time.
type fact struct {
	is bool
	at time.Time
}

// facts holds facts by what they are about. A fact that could not be read has no entry.
type facts[K comparable] map[K]fact

// wants notes that a fact is needed.
func (f facts[K]) wants(key K) { f[key] = fact{} }

// read asks for the facts that are needed, in statements about askedAtOnce of them.
// columns is the number of arguments of a key, query the statement for some keys, and scan
// reads the key of a row, and reports whether the row makes the fact true.
func read[K comparable](ctx context.Context, s *store.Store, f facts[K], query func(n int) string, args func(K) []any, scan func(func(...any) error) (K, bool, error)) error {
	var failed error
	keys := make([]K, 0, len(f))
	for key := range f {
		keys = append(keys, key)
	}
	clear(f)
	for some := range slices.Chunk(keys, askedAtOnce) {
		began := time.Now()
		var all []any
		for _, key := range some {
			all = append(all, args(key)...)
		}
		var found []K
		within, cancel := context.WithTimeout(ctx, askTimeout)
		err := store.QueryEach(within, s.Read, query(len(some)), all, func(row func(...any) error) error {
			key, is, err := scan(row)
			if is {
				found = append(found, key)
			}
			return err
		})
		cancel()
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, key := range some {
			f[key] = fact{at: began}
		}
		for _, key := range found {
			f[key] = fact{true, began}
		}
	}
	return failed
}

// known holds the facts on which the rights of listeners depend.
type known struct {
	channels    facts[uid.ID] // whether a channel exists
	users       facts[uid.ID] // whether a user exists for whom a backend acts
	moderators  facts[right]
	permissions facts[permission]
}

// checkNamed checks listeners that named a channel.
func (r *Rights) checkNamed(ctx context.Context, named []*Listener) error {
	if len(named) == 0 {
		return nil
	}
	k := known{facts[uid.ID]{}, facts[uid.ID]{}, facts[right]{}, facts[permission]{}}
	for _, l := range named {
		k.collect(l.wish)
	}
	failed := r.readFacts(ctx, k)
	for _, l := range named {
		standing, at, isKnown := k.standing(l.wish)
		exists, existsKnown := k.channels[l.wish.ChannelID]
		if !isKnown || !existsKnown {
			continue // it is not confirmed, and is soon paused
		}
		if exists.at.Before(at) {
			at = exists.at
		}
		switch types, err := l.wish.Types(standing); {
		case err != nil:
			l.end(err)
		case !exists.is:
			l.end(apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND))
		default:
			l.confirmRights(at, noVersion, []uid.ID{l.wish.ChannelID}, types)
		}
	}
	return failed
}

// collect notes the facts that a listener needs.
func (k known) collect(w *hearing.Wish) {
	c := w.Caller
	k.channels.wants(w.ChannelID)
	if c.Kind == authn.Service && c.ActsAsUser() { // the token does not end with the user
		k.users.wants(c.UserID)
	}
	switch {
	case !w.DependsOnStanding() || c.UserID == w.ChannelID:
	case c.ActsAsUser():
		k.moderators.wants(right{w.ChannelID, c.UserID})
	default:
		k.permissions.wants(permission{w.ChannelID, c.ClientID})
	}
}

// standing returns the standing of a listener, and the time as of which it is known.
func (k known) standing(w *hearing.Wish) (standing hearing.Standing, at time.Time, isKnown bool) {
	c := w.Caller
	insider := fact{false, time.Now()}
	isKnown = true
	switch {
	case c.ActsAsUser() && c.UserID == w.ChannelID:
		insider.is = true
	case !w.DependsOnStanding():
	case c.ActsAsUser():
		insider, isKnown = k.moderators[right{w.ChannelID, c.UserID}]
	default:
		insider, isKnown = k.permissions[permission{w.ChannelID, c.ClientID}]
	}
	at = insider.at
	if c.Kind == authn.Service && c.ActsAsUser() {
		user, userKnown := k.users[c.UserID]
		isKnown = isKnown && userKnown
		if user.at.Before(at) {
			at = user.at
		}
		if !user.is {
			return hearing.Nobody, at, isKnown
		}
	}
	if insider.is {
		return hearing.Insider, at, isKnown
	}
	return hearing.Outsider, at, isKnown
}

// readFacts reads the facts that were collected.
func (r *Rights) readFacts(ctx context.Context, k known) error {
	byID := func(id uid.ID) []any { return []any{id} }
	scanID := func(row func(...any) error) (id uid.ID, is bool, err error) {
		err = row(&id)
		return id, true, err
	}
	return errors.Join(
		read(ctx, r.Store, k.channels, func(n int) string {
			return "SELECT id FROM channels" + r.Store.ByPrimaryKey("channels") + " WHERE id IN (" + store.Placeholders(n) + ")"
		}, byID, scanID),
		read(ctx, r.Store, k.users, func(n int) string {
			return "SELECT id FROM users" + r.Store.ByPrimaryKey("users") + " WHERE id IN (" + store.Placeholders(n) + ") AND " + users.Exists
		}, byID, scanID),
		read(ctx, r.Store, k.moderators, func(n int) string {
			return `SELECT r.channel_id, r.user_id FROM roles r WHERE r.role = 'moderator' AND ` + authz.Moderates(r.Store.Clock, "r.channel_id", "r.user_id") +
				` AND (` + anyOf("r.channel_id = ? AND r.user_id = ?", n) + `)`
		}, func(key right) []any { return []any{key.channelID, key.userID} },
			func(row func(...any) error) (key right, is bool, err error) {
				err = row(&key.channelID, &key.userID)
				return key, true, err
			}),
		read(ctx, r.Store, k.permissions, func(n int) string {
			return "SELECT user_id, client_id, scopes FROM grants WHERE " + anyOf("user_id = ? AND client_id = ?", n)
		}, func(key permission) []any { return []any{key.channelID, key.clientID} },
			func(row func(...any) error) (key permission, is bool, err error) {
				var scopes string
				err = row(&key.channelID, &key.clientID, &scopes)
				return key, hearing.IsGrant(scopes), err
			}),
	)
}

// anyOf returns the SQL condition that one of n conditions holds.
func anyOf(condition string, n int) string {
	return strings.TrimPrefix(strings.Repeat(" OR ("+condition+")", n), " OR ")
}
