package authz

import (
	"context"
	"fmt"
	"slices"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/digest"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// Facts holds the rows by which a change of a channel is authorized: the caller's token and
// role, and the user whom the change affects.
type Facts struct {
	// User is the user whom the change affects.
	User users.Joined

	channelID uid.ID
	caller    *authn.Caller
	about     users.Key
	more      users.More

	at                   instant.Instant // the database's time when the facts were read
	isTokenKnown         bool
	revokedAt, expiresAt *instant.Instant
	isModerator          bool
}

// NewFacts returns empty Facts for a change of a channel by the caller of the current request.
// Read or ReadTogether fills them. about identifies the user whom the change affects; it is the
// zero Key if there is none. more is read together with that user.
func NewFacts(ctx context.Context, channelID uid.ID, about users.Key, more users.More) *Facts {
	return &Facts{channelID: channelID, caller: authn.FromContext(ctx), about: about, more: more}
}

// Read reads the facts in one statement. The caller must have locked the channel in tx.
func (f *Facts) Read(ctx context.Context, s *store.Store, tx *ent.Tx) error {
	var now int64
	f.isTokenKnown = false
	join, key := f.about.Join()
	err := store.QueryEach(ctx, tx, `
		SELECT `+s.Clock.SQL()+`, t.revoked_at, t.expires_at,
			`+Moderates(s.Clock, "?", "?")+`, `+users.JoinedColumns+f.more.Columns+`
		FROM tokens t`+join+f.more.Join+` WHERE t.id = ?`,
		slices.Concat(moderatesArgs(f.channelID, f.caller.UserID), f.more.ColumnArgs, key, f.more.JoinArgs, []any{f.caller.Token}),
		func(scan func(...any) error) error {
			f.isTokenKnown = true
			return scan(slices.Concat([]any{&now, &f.revokedAt, &f.expiresAt, &f.isModerator}, f.User.Fields(), f.more.Fields)...)
		})
	if err != nil {
		return fmt.Errorf("authorize: %w", err)
	}
	f.at = s.Clock.At(now)
	return nil
}

// Authorize checks that the token is valid, and that the caller has the relation to the channel
// that the method of the current request requires. The facts must have been read. Authorize
// returns the time of the change.
func (f *Facts) Authorize(ctx context.Context) (instant.Instant, error) {
	if !f.isTokenKnown {
		return 0, apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	if err := authn.CheckValidity(f.revokedAt, f.expiresAt, f.at); err != nil {
		return 0, err
	}
	relation, isOwner := fromContext(ctx).Relation, f.caller.UserID == f.channelID
	switch {
	case relation == owner && !isOwner:
		return 0, apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_OWNER)
	case relation == moderator && !isOwner && !f.isModerator:
		return 0, apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)
	}
	if relation == owner || relation == moderator {
		markChecked(ctx, relation)
	}
	return f.at, nil
}

// CanReadWith reports whether ReadTogether can read f and other together: both are about the
// same channel, and read the same columns besides those of the user.
func (f *Facts) CanReadWith(other *Facts) bool {
	return f.channelID == other.channelID && f.more.Columns == other.more.Columns && f.more.Join == other.more.Join
}

// ReadTogether is Read for the facts of several changes. CanReadWith must be true for each pair
// of them. ReadTogether sends one statement for the tokens and one or two for the users.
func ReadTogether(ctx context.Context, s *store.Store, tx *ent.Tx, all []*Facts) error {
	r := together{store: s, tx: tx, all: all}
	if err := r.readTokens(ctx); err != nil {
		return fmt.Errorf("authorize %d changes: read the tokens: %w", len(all), err)
	}
	ids, slugs := map[uid.ID]bool{}, map[string]bool{}
	for _, f := range all {
		if !f.caller.UserID.IsZero() {
			ids[f.caller.UserID] = true
		}
		if f.about.Slug != "" {
			slugs[f.about.Slug] = true
		} else {
			ids[f.about.ID] = true
		}
	}
	if err := r.readUsers(ctx, user.FieldID, padded(ids)); err != nil {
		return fmt.Errorf("authorize %d changes: read the users: %w", len(all), err)
	}
	if err := r.readUsers(ctx, user.FieldSlug, padded(slugs)); err != nil {
		return fmt.Errorf("authorize %d changes: read the users by name: %w", len(all), err)
	}
	return nil
}

// together reads the facts of several changes.
type together struct {
	store *store.Store
	tx    *ent.Tx
	all   []*Facts
}

func (r *together) readTokens(ctx context.Context) error {
	tokens := map[digest.SHA256]bool{}
	for _, f := range r.all {
		f.isTokenKnown, f.isModerator, f.User = false, false, users.Joined{}
		tokens[f.caller.Token] = true
	}
	ids := padded(tokens)
	return store.QueryEach(ctx, r.tx, "SELECT t.id, "+r.store.Clock.SQL()+", t.revoked_at, t.expires_at FROM tokens t WHERE t.id IN ("+store.Placeholders(len(ids))+")", ids,
		func(scan func(...any) error) error {
			var id digest.SHA256
			var now int64
			var revokedAt, expiresAt *instant.Instant
			if err := scan(&id, &now, &revokedAt, &expiresAt); err != nil {
				return err
			}
			for _, f := range r.all {
				if f.caller.Token == id {
					f.at, f.isTokenKnown, f.revokedAt, f.expiresAt = r.store.Clock.At(now), true, revokedAt, expiresAt
				}
			}
			return nil
		})
}

// readUsers reads the users with these values of a column: the callers, and the users whom the
// changes affect.
func (r *together) readUsers(ctx context.Context, column string, values []any) error {
	if len(values) == 0 {
		return nil
	}
	channelID, more := r.all[0].channelID, r.all[0].more
	return store.QueryEach(ctx, r.tx, `
		SELECT u.id, u.slug, `+Moderates(r.store.Clock, "?", "u.id")+`, `+users.JoinedColumns+more.Columns+`
		FROM `+users.From(r.store.Dialect, column)+more.Join+` WHERE u.`+users.Exists+` AND u.`+column+` IN (`+store.Placeholders(len(values))+`)`,
		slices.Concat([]any{channelID, channelID}, more.ColumnArgs, more.JoinArgs, values),
		func(scan func(...any) error) error { return r.scanUser(column, scan) })
}

// scanUser copies the row of a user to the facts of the changes that the user makes and of those
// that affect the user.
func (r *together) scanUser(column string, scan func(...any) error) error {
	var id uid.ID
	var slug string
	var isModerator bool
	first, rest := []any{&id, &slug, &isModerator}, len(r.all[0].User.Fields())+len(r.all[0].more.Fields)
	if err := scan(append(first, skipped(rest)...)...); err != nil {
		return err
	}
	for _, f := range r.all {
		if column == user.FieldID && f.caller.UserID == id {
			f.isModerator = isModerator
		}
		isAbout := f.about.Slug == "" && f.about.ID == id
		if column == user.FieldSlug {
			isAbout = f.about.Slug == slug
		}
		if !isAbout {
			continue
		}
		if err := scan(slices.Concat(skipped(len(first)), f.User.Fields(), f.more.Fields)...); err != nil {
			return err
		}
	}
	return nil
}

// padded returns the values as arguments. It repeats one of them until their number is 1, 2,
// 4, or a multiple of 8, so that there are few different statements to prepare.
func padded[T comparable](values map[T]bool) (args []any) {
	for v := range values {
		args = append(args, v)
	}
	for n := len(args); n%8 != 0 && n != 1 && n != 2 && n != 4; n++ {
		args = append(args, args[0])
	}
	return args
}

// skip is a destination that discards the value of a column.
type skip struct{}

// Scan implements sql.Scanner.
func (skip) Scan(any) error { return nil }

func skipped(n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = skip{}
	}
	return all
}
