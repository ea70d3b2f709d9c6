package moderation

import (
	"context"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// bans makes the requests that ban users or lift a ban.
var bans = change.Operation[banRequest]{Make: makeBans}

// banRequest is a request to ban users or to lift a ban.
type banRequest interface {
	// targets returns the users whom the request is about.
	targets() []users.Key
	// decide decides what happens to these users. If it refuses the request, it changes
	// nothing and returns the reason.
	decide(b *banChange) error
}

// makeBans makes requests one after the other. It reads all users first, and writes what was
// decided together.
func makeBans(ctx context.Context, c *change.Change, requests []*change.Request[banRequest]) error {
	var keys []users.Key
	for _, r := range requests {
		keys = append(keys, r.Of.targets()...)
	}
	b, err := readBanChange(ctx, c, keys)
	if err != nil {
		return err
	}
	for _, r := range requests {
		if b.hasChanged(r.Of.targets()) {
			if err := b.write(ctx); err != nil {
				return err
			}
		}
		if b.suspended[r.ActorID] {
			r.Err = apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)
			continue
		}
		r.BecomeAuthor(c)
		r.Err = r.Of.decide(b)
	}
	return b.write(ctx)
}

// banChange is a change of the bans of a channel: who is banned, as decided so far, and what
// of that is to be written. A user changes at most once between two writes.
type banChange struct {
	*change.Change

	found     map[users.Key]*target
	suspended map[uid.ID]bool // the moderators whom the change bans: their own requests come too late

	changed            map[uid.ID]bool
	made, ended        []*ban
	waiting            []uid.ID // the users who are banned while messages of theirs are held
	pardoned, restored []uid.ID // the users who are unbanned singly, and those who get their messages back
	batches            []*ent.BanBatchCreate
}

// target is a user whom a request is about.
type target struct {
	person

	userID      uid.ID
	isModerator bool
	ban         *ban // the present ban, which may have lapsed; nil for none
	hasHeld     bool // messages of the user are held
}

// readBanChange reads the users with some keys, and their bans.
func readBanChange(ctx context.Context, c *change.Change, keys []users.Key) (*banChange, error) {
	ids, slugs := map[uid.ID]bool{}, map[string]bool{}
	for _, key := range keys {
		switch {
		case key.Slug != "":
			slugs[key.Slug] = true
		case !key.ID.IsZero():
			ids[key.ID] = true
		}
	}
	b := &banChange{Change: c, found: make(map[users.Key]*target, len(keys)), suspended: map[uid.ID]bool{}, changed: map[uid.ID]bool{}}
	if err := b.read(ctx, user.FieldID, store.PaddedArgs(ids)); err != nil {
		return nil, err
	}
	return b, b.read(ctx, user.FieldSlug, store.PaddedArgs(slugs))
}

// read reads the users with some values of a column.
func (b *banChange) read(ctx context.Context, column string, values []any) error {
	if len(values) == 0 {
		return nil
	}
	return store.QueryEach(ctx, b.Tx, `SELECT u.id, u.slug, `+personColumns+`, `+authz.IsModerator("?", "u.id")+`,
			b.moderator_id, b.banned_at, b.reason, b.expires_at, b.batch_id, b.replaces, b.imported, `+held.Waits("u.id")+`
		FROM `+users.From(b.Store.Dialect, column)+` LEFT JOIN bans b ON b.channel_id = ? AND b.user_id = u.id
		WHERE u.`+column+` IN (`+store.Placeholders(len(values))+`) AND u.`+users.Exists,
		append([]any{b.ChannelID, b.ChannelID, b.ChannelID}, values...), func(scan func(...any) error) error {
			t, slug, err := scanTarget(scan)
			if err != nil {
				return err
			}
			if other := b.found[users.Key{ID: t.userID}]; other != nil { // also named in the other way
				t = other
			}
			b.found[users.Key{ID: t.userID}], b.found[users.Key{Slug: slug}] = t, t
			return nil
		})
}

func scanTarget(scan func(...any) error) (t *target, slug string, err error) {
	t = &target{}
	var moderatorID, batchID *uid.ID
	var bannedAt, expiresAt *instant.Instant
	var reason *string
	var replaces, imported *bool
	err = scan(&t.userID, &slug, &t.username, &t.displayName, &t.avatarURL, &t.isModerator, &moderatorID, &bannedAt, &reason, &expiresAt, &batchID, &replaces, &imported, &t.hasHeld)
	if err == nil && moderatorID != nil {
		t.ban = &ban{
			terms:  terms{reason: *reason, expiresAt: expiresAt, batchID: batchID},
			userID: t.userID, moderatorID: *moderatorID, bannedAt: *bannedAt, person: t.person, isModerator: t.isModerator,
			replaces: *replaces, imported: *imported,
		}
	}
	return t, slug, err
}

// hasChanged reports whether what was decided about one of some users is not written yet.
func (b *banChange) hasChanged(keys []users.Key) bool {
	return len(b.changed) > 0 && slices.ContainsFunc(keys, func(key users.Key) bool {
		t := b.found[key]
		return t != nil && b.changed[t.userID]
	})
}

// inForce returns the ban of a user; nil if the user is not banned.
func (b *banChange) inForce(t *target) *ban {
	if t.ban == nil || t.ban.hasLapsed(b.Now) {
		return nil
	}
	return t.ban
}

// ban bans a user, and returns the ban. It replaces a ban in force.
func (b *banChange) ban(t *target, of terms, why cause) *ban {
	replaced := b.inForce(t)
	if t.ban != nil && replaced == nil {
		announceExpiry(b.Change, t.ban)
		b.ended = append(b.ended, t.ban)
	}
	t.ban = &ban{
		terms: of, userID: t.userID, moderatorID: b.ActorID, bannedAt: b.Now,
		person: t.person, isModerator: t.isModerator, replaces: replaced != nil, replaced: replaced,
	}
	emitBan(b.Change, t.ban, why)
	t.ban.sequence = b.LastSequence()
	if replaced == nil {
		emitCleared(b.Change, t.userID)
	}
	if t.hasHeld {
		b.waiting = append(b.waiting, t.userID)
	}
	b.made, b.changed[t.userID] = append(b.made, t.ban), true
	b.suspended[t.userID] = t.isModerator
	return t.ban
}

// lift lifts the ban of a user who is banned, and pardons the user. reason is why; nil if none
// is given.
func (b *banChange) lift(t *target, reason *string) {
	emitUnban(b.Change, b.ActorID, t.ban, b.Now, byModerator, reason)
	b.ended, b.changed[t.userID] = append(b.ended, t.ban), true
	b.pardoned = append(b.pardoned, t.userID)
	b.suspended[t.userID] = false
	t.ban = nil
}

// write writes what was decided since the last write, with few statements for each table.
func (b *banChange) write(ctx context.Context) error {
	if err := removeBans(ctx, b.Change, b.ended); err != nil {
		return err
	}
	if err := moveReplaced(ctx, b.Change, b.made); err != nil {
		return err
	}
	for some := range slices.Chunk(b.made, bansPerInsert) {
		if err := insertBans(ctx, b.Change, some); err != nil {
			return err
		}
	}
	if err := b.hideMessages(ctx); err != nil {
		return err
	}
	if err := held.Cancel(ctx, b.Change, b.waiting); err != nil {
		return err
	}
	for _, batch := range b.batches {
		if err := batch.Exec(ctx); err != nil {
			return err
		}
	}
	if err := pardon(ctx, b.Change, b.pardoned); err != nil {
		return err
	}
	if err := restoreLocked(ctx, b.Change, b.restored, chat.Ban); err != nil {
		return err
	}
	b.changed, b.made, b.ended, b.waiting, b.pardoned, b.restored, b.batches = map[uid.ID]bool{}, nil, nil, nil, nil, nil, nil
	return nil
}

// bansPerInsert is how many bans one statement inserts. The driver of SQLite takes time that
// grows with the square of the number of parameters.
const bansPerInsert = 100

// insertBans stores new bans.
func insertBans(ctx context.Context, c *change.Change, made []*ban) error {
	var args []any
	var moderators []uid.ID
	for _, x := range made {
		args = append(args, c.ChannelID, x.userID, x.moderatorID, x.bannedAt, x.reason, x.expiresAt, x.batchID, x.replaces, x.imported)
		if x.isModerator {
			moderators = append(moderators, x.userID)
		}
	}
	_, err := c.Tx.ExecContext(ctx, "INSERT INTO bans (channel_id, user_id, moderator_id, banned_at, reason, expires_at, batch_id, replaces, imported) VALUES "+
		strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?,?,?,?),", len(made)), ","), args...)
	if err != nil {
		return err
	}
	return authz.RightsChanged(ctx, c.Store.Dialect, c.Tx, moderators...)
}

// hideMessages hides the messages of the users who were banned, and keeps the latest of them
// as evidence. Those of users who were banned already are hidden.
func (b *banChange) hideMessages(ctx context.Context) error {
	var ids []uid.ID
	for _, x := range b.made {
		if !x.replaces {
			ids = append(ids, x.userID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	evidence, err := readEvidence(ctx, b.Change, ids...)
	if err != nil {
		return err
	}
	for _, x := range b.made {
		b.KeepEvidenceOf(x.sequence, evidence[x.userID])
	}
	return chat.Clear(ctx, b.Tx, b.Store.Dialect, b.ChannelID, ids, chat.Ban, b.Now)
}
