package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// The channels of a listener that named none are those that its user owns or moderates.
// There may be hundreds, so they are not read in each check. The version of the user's
// rights is read instead: it increases in each transaction that changes these channels
// (authz.RightsChanged).

const (
	// noVersion is the version of a user that does not exist or is being deleted, and of
	// a listener whose channels do not depend on a user.
	noVersion = -1
	// unknownVersion is the version of a listener whose channels must be read.
	unknownVersion = -2
	// maxAge is how old the channels of a listener may be, whatever the version is: during
	// an upgrade, servers of an earlier version of Moderato do not increase it.
	maxAge = 45 * time.Second
	// rereadAtOnce is how many listeners whose channels are that old one check reads again.
	rereadAtOnce = 40
)

// checkVersions confirms the listeners whose user has the rights that the listener knows,
// as of the time began, and returns the others. It also returns those of the confirmed
// listeners whose channels were read long ago.
func (r *Rights) checkVersions(ctx context.Context, listeners []*Listener, began time.Time) (changed, old []changedListener, err error) {
	if len(listeners) == 0 {
		return nil, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	versions := map[uid.ID]int64{}
	for _, l := range listeners {
		versions[l.wish.Caller.UserID] = noVersion
	}
	args := make([]any, 0, len(versions))
	for id := range versions {
		args = append(args, id)
	}
	err = store.QueryEach(ctx, r.Store.Read, "SELECT id, rights_version FROM users"+r.Store.ByPrimaryKey("users")+" WHERE id IN ("+store.Placeholders(len(args))+") AND "+users.Exists, args,
		func(scan func(...any) error) error {
			var id uid.ID
			var version int64
			err := scan(&id, &version)
			versions[id] = version
			return err
		})
	if err != nil {
		return nil, nil, err
	}
	for _, l := range listeners {
		version := versions[l.wish.Caller.UserID]
		switch isKnown, isOld := l.confirmVersion(began, version); {
		case !isKnown:
			changed = append(changed, changedListener{l, version})
		case isOld:
			old = append(old, changedListener{l, version})
		}
	}
	return changed, old, nil
}

// changedListener is a listener that does not know the present rights of its user.
type changedListener struct {
	*Listener

	// version is the version of the rights before the channels are read. If they change
	// in between, the version differs at the next check, and they are read once more.
	version int64
}

// readChannels reads the channels of listeners that named none.
func (r *Rights) readChannels(ctx context.Context, changed []changedListener) error {
	byUser := map[uid.ID][]changedListener{}
	var ids []uid.ID
	for _, l := range changed {
		id := l.wish.Caller.UserID
		if byUser[id] == nil {
			ids = append(ids, id)
		}
		byUser[id] = append(byUser[id], l)
	}
	var failed error
	first := time.Now()
	for some := range slices.Chunk(ids, usersAtOnce) {
		began := time.Now()
		if began.Sub(first) > maxReading {
			return errors.Join(failed, errBehind)
		}
		heard, err := r.channelsOf(ctx, some)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, id := range some {
			for _, l := range byUser[id] {
				if heard[id].roles > r.maxChannels() {
					l.end(r.tooManyChannels())
				} else {
					// A user without channels hears none; nil would be every channel.
					l.confirmRights(began, l.version, append([]uid.ID{}, heard[id].channels...), l.wish.Widest())
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
			SELECT r.user_id, r.channel_id, EXISTS (SELECT 1 FROM channels c WHERE c.id = r.channel_id) AND ` + authz.Moderates(r.Store.Clock, "r.channel_id", "r.user_id") + `
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
