package moderation

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/chat"
	"github.com/moderato-live/moderato/server/idempotency"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// The statuses of the results of a batch.
const (
	statusBanned          = "BANNED"
	statusAlreadyBanned   = "ALREADY_BANNED"
	statusUserNotFound    = "USER_NOT_FOUND"
	statusTargetIsChannel = "TARGET_IS_CHANNEL"
	statusDuplicate       = "DUPLICATE"
)

// batchRequest is a parsed request for a batch of bans.
type batchRequest struct {
	channelID uid.ID
	targets   []users.Key // in the order of the request
	wish      wishedTerms
	isDryRun  bool
}

func parseBatch(req *moderatov1.BanUsersRequest) (*batchRequest, error) {
	f := validate.Of(req)
	r := &batchRequest{
		channelID: f.UUID("channelId", req.GetChannelId()),
		wish:      parseTerms(f, req.Reason, req.DurationSeconds),
		isDryRun:  req.GetDryRun(),
	}
	if f.Count("users", len(req.GetUsers())) {
		r.targets = make([]users.Key, len(req.GetUsers()))
		for i, user := range req.GetUsers() {
			if user.GetUserId() == "" && user.GetUsername() == "" {
				f.Add(fmt.Sprintf("users[%d]", i), "must be an object with userId or username")
				continue
			}
			element := f.Element("users", i, user)
			r.targets[i] = parseTarget(element, "userId", user.GetUserId(), "username", user.GetUsername())
			f.Include(element)
		}
	}
	return r, f.Err()
}

// BanUsers bans users in one transaction and deletes their messages.
func (s *Service) BanUsers(ctx context.Context, req *moderatov1.BanUsersRequest) (*moderatov1.BanUsersResponse, error) {
	r, err := parseBatch(req)
	if err != nil {
		return nil, err
	}
	if r.isDryRun {
		ctx = idempotency.WithoutKey(ctx)
	}
	var result *moderatov1.BanUsersResponse
	idempotency.Result(ctx, &result)
	err = change.ApplyAlone(ctx, s.Store, r.channelID, func(ctx context.Context, c *change.Change) error {
		of := r.wish.from(c.Now)
		of.batchID = new(uid.New())
		b, err := planBatch(ctx, c, of, r.targets)
		if err != nil {
			return err
		}
		result = b.result
		if r.isDryRun || len(b.bans) == 0 {
			return nil
		}
		result.BatchId = b.batchIDProto()
		return b.apply(ctx, c)
	})
	return result, err
}

// batch is a batch of bans that is about to be applied.
type batch struct {
	terms

	bans   []*ban // the new ones, in the order of the request
	lapsed []*ban // the bans of the same users that have lapsed
	result *moderatov1.BanUsersResponse
}

// target is a user of a batch.
type target struct {
	ban // the user; the terms are those of existing

	username string
	existing *ban // in force or lapsed; nil if there is none
	isSeen   bool // an earlier element of the request names the user
}

// planBatch decides what happens to each user of a batch, whose id is in its terms.
func planBatch(ctx context.Context, c *change.Change, of terms, targets []users.Key) (*batch, error) {
	found, err := findTargets(ctx, c.Store, c.Tx, c.ChannelID, targets)
	if err != nil {
		return nil, err
	}
	b := &batch{terms: of, result: &moderatov1.BanUsersResponse{Counts: &moderatov1.BatchCounts{}}}
	for _, key := range targets {
		t := found[key]
		row := &moderatov1.BatchResult{Status: b.add(c, t)}
		switch {
		case t != nil:
			row.UserId, row.Username = new(t.userID.String()), &t.username
		case key.Slug != "":
			row.Username = &key.Slug
		default:
			row.UserId = new(key.ID.String())
		}
		b.result.Results = append(b.result.Results, row)
	}
	return b, nil
}

// add adds a user to the batch if the user can be banned. It returns the status of the
// user, and counts it.
func (b *batch) add(c *change.Change, t *target) string {
	counts := b.result.GetCounts()
	switch {
	case t == nil:
		counts.UserNotFound++
		return statusUserNotFound
	case t.isSeen:
		counts.Duplicate++
		return statusDuplicate
	}
	t.isSeen = true
	if t.userID == c.ChannelID {
		counts.TargetIsChannel++
		return statusTargetIsChannel
	}
	if t.existing != nil {
		if !t.existing.hasLapsed(c.Now) {
			counts.AlreadyBanned++
			return statusAlreadyBanned
		}
		b.lapsed = append(b.lapsed, t.existing)
	}
	t.terms, t.moderatorID, t.bannedAt = b.terms, c.ActorID, c.Now
	b.bans = append(b.bans, &t.ban)
	counts.Banned++
	return statusBanned
}

// findTargets finds users by their keys.
func findTargets(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID, keys []users.Key) (map[users.Key]*target, error) {
	var ids, slugs []any
	for _, key := range keys {
		if key.Slug != "" {
			slugs = append(slugs, key.Slug)
		} else {
			ids = append(ids, key.ID)
		}
	}
	found := make(map[users.Key]*target, len(keys))
	for column, values := range map[string][]any{user.FieldID: ids, user.FieldSlug: slugs} {
		if len(values) == 0 {
			continue
		}
		err := store.QueryEach(ctx, tx, `SELECT u.id, u.username, u.slug, u.display_name, `+authz.IsModerator("?", "u.id")+`,
				b.moderator_id, b.banned_at, b.reason, b.expires_at, b.batch_id
			FROM `+users.From(s.Dialect, column)+` LEFT JOIN bans b ON b.channel_id = ? AND b.user_id = u.id
			WHERE u.`+column+` IN (`+store.Placeholders(len(values))+`) AND u.`+users.Exists,
			append([]any{channelID, channelID}, values...), func(scan func(...any) error) error {
				t, slug, err := scanTarget(scan)
				if err != nil {
					return err
				}
				if by := (users.Key{ID: t.userID}); found[by] != nil { // also named in the other way
					t = found[by]
				} else if by := (users.Key{Slug: slug}); found[by] != nil {
					t = found[by]
				}
				found[users.Key{ID: t.userID}], found[users.Key{Slug: slug}] = t, t
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func scanTarget(scan func(...any) error) (t *target, slug string, err error) {
	t = &target{}
	var moderatorID, batchID *uid.ID
	var bannedAt, expiresAt *instant.Instant
	var reason *string
	err = scan(&t.userID, &t.username, &slug, &t.displayName, &t.isModerator, &moderatorID, &bannedAt, &reason, &expiresAt, &batchID)
	if err == nil && moderatorID != nil {
		t.existing = &ban{
			terms:  terms{reason: *reason, expiresAt: expiresAt, batchID: batchID},
			userID: t.userID, moderatorID: *moderatorID, bannedAt: *bannedAt, displayName: t.displayName, isModerator: t.isModerator,
		}
	}
	return t, slug, err
}

// apply stores the batch and its bans, and deletes the messages of the users.
func (b *batch) apply(ctx context.Context, c *change.Change) error {
	if err := expireBans(ctx, c, b.lapsed); err != nil {
		return err
	}
	first := c.LastSequence() + 1
	if err := b.ban(ctx, c); err != nil {
		return err
	}
	return b.create(ctx, c, first)
}

// create stores the row of a batch, of which every event from first on may be one.
func (b *batch) create(ctx context.Context, c *change.Change, first int64) error {
	return c.Tx.BanBatch.Create().SetID(*b.batchID).SetChannelID(c.ChannelID).SetModeratorID(c.ActorID).SetCreatedAt(c.Now).
		SetReason(b.reason).SetNillableExpiresAt(b.expiresAt).SetBannedCount(len(b.bans)).
		SetFirstSequence(first).SetLastSequence(c.LastSequence()).
		Exec(ctx)
}

// extend applies bans that join a batch whose row exists.
func (b *batch) extend(ctx context.Context, c *change.Change) error {
	if err := expireBans(ctx, c, b.lapsed); err != nil || len(b.bans) == 0 {
		return err
	}
	if err := b.ban(ctx, c); err != nil {
		return err
	}
	return c.Tx.BanBatch.UpdateOneID(*b.batchID).AddBannedCount(len(b.bans)).SetLastSequence(c.LastSequence()).Exec(ctx)
}

// ban stores the bans, and deletes the messages of the users.
func (b *batch) ban(ctx context.Context, c *change.Change) error {
	var ids, moderators []uid.ID
	for _, x := range b.bans {
		ids = append(ids, x.userID)
		if x.isModerator {
			moderators = append(moderators, x.userID)
		}
	}
	banned := chat.ChattersOf(c.ChannelID, ids)
	evidence, err := readEvidence(ctx, c, banned...)
	if err != nil {
		return err
	}
	for i, x := range b.bans {
		x.evidence = evidence[banned[i]]
		emitBan(c, x, byBatch)
		emitCleared(c, x.userID)
	}
	if err := authz.RightsChanged(ctx, c.Store.Dialect, c.Tx, moderators...); err != nil {
		return err
	}
	if err := b.insert(ctx, c, ids); err != nil {
		return err
	}
	return chat.Clear(ctx, c.Tx, c.Store.Dialect, banned, chat.Ban, c.Now)
}

// insert stores the bans in one statement.
func (b *batch) insert(ctx context.Context, c *change.Change, ids []uid.ID) error {
	_, err := c.Tx.ExecContext(ctx, `INSERT INTO bans (channel_id, user_id, moderator_id, banned_at, reason, expires_at, batch_id)
		SELECT ?, id, ?, ?, ?, ?, ? FROM users`+c.Store.ByPrimaryKey("users")+` WHERE `+users.Exists+` AND id IN (`+store.Placeholders(len(ids))+`)`,
		append([]any{c.ChannelID, c.ActorID, c.Now, b.reason, b.expiresAt, b.batchID}, store.Args(ids)...)...)
	return err
}
