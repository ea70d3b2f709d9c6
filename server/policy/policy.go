// Package policy decides who may do what. Table is the whole of it; this file
// carries it out: Check before a method runs, and Authorize in the transaction
// of a change, where nothing can be older than the decision.
package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/grant"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// Relation is what the caller must be to what they name.
type Relation int

// The relations.
const (
	// Anyone needs no relation.
	Anyone Relation = iota
	// Self is the named user, or an app to which that user granted the scope.
	Self
	// Authorized is the channel's owner, who may leave out its id, or an app that
	// names any channel.
	Authorized
	// Owner is the channel's owner.
	Owner
	// Moderator is the channel's owner, or a moderator who is not banned there.
	Moderator
)

// Rule is a row of the table.
type Rule struct {
	// Public methods need no token.
	Public bool
	// Tokens are the kinds that are accepted.
	Tokens []auth.Kind
	// Scope is what the token must have; empty for none.
	Scope string
	// Relation is what the caller must be; the method itself has it checked.
	Relation Relation
}

// CheckComplete tells which of the methods that a server serves have no row.
func CheckComplete(services map[string]grpc.ServiceInfo) error {
	var missing []string
	for service, info := range services {
		for _, m := range info.Methods {
			name := "/" + service + "/" + m.Name
			if _, ok := Table[name]; !ok {
				missing = append(missing, name)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("the policy table has no row for %v; add it in server/policy/table.go", missing)
}

// Check tells whether a caller's token may be used for a method at all: its
// kind, then its scope.
func (r Rule) Check(c *auth.Caller) error {
	if !c.IsAccepted(r.Tokens) {
		kinds := make([]string, len(r.Tokens))
		for i, k := range r.Tokens {
			kinds[i] = string(k)
		}
		return &fault.Error{
			Reason:   moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED,
			Metadata: map[string]string{fault.AcceptedTokens: fault.Tokens(kinds)},
		}
	}
	if r.Scope != "" && !c.HasScope(r.Scope) {
		return missing(moderatov1.Reason_REASON_SCOPE_MISSING, r.Scope)
	}
	return nil
}

func missing(reason moderatov1.Reason, scope string) error {
	return &fault.Error{Reason: reason, Metadata: map[string]string{fault.RequiredScope: scope}}
}

// Moderates returns the SQL condition that a user moderates a channel: they have the
// role, are not banned there, and are not being deleted. channel and user are SQL
// expressions.
func Moderates(channel, user string) string {
	return `(EXISTS (SELECT 1 FROM roles mr WHERE mr.channel_id = ` + channel + ` AND mr.user_id = ` + user + ` AND mr.role = 'moderator')
		AND NOT EXISTS (SELECT 1 FROM bans mb WHERE mb.channel_id = ` + channel + ` AND mb.user_id = ` + user + `)
		AND EXISTS (SELECT 1 FROM users mu WHERE mu.id = ` + user + ` AND mu.` + users.Exists + `))`
}

// moderatesArgs are the arguments of Moderates("?", "?").
func moderatesArgs(channelID, userID uid.ID) []any {
	return []any{channelID, userID, channelID, userID, userID}
}

// Authorize decides in the transaction of a change, after the channel is
// locked, whether the caller may make it: the token is good still, and the
// caller is to the channel what the rule of the method asks for. It answers the
// instant at which the change happens.
func Authorize(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID) (instant.Instant, error) {
	return AuthorizeAbout(ctx, s, tx, channelID, users.Key{}, new(users.Joined))
}

// AuthorizeAbout is Authorize, and reads the user whom the change is about in the
// same statement.
func AuthorizeAbout(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID, about users.Key, found *users.Joined) (instant.Instant, error) {
	caller, rule := auth.FromContext(ctx), fromContext(ctx)
	var now int64
	var revokedAt, expiresAt *instant.Instant
	var isModerator bool
	join, key := about.Join()
	err := store.QueryRow(ctx, tx, `
		SELECT `+s.Clock.SQL()+`, t.revoked_at, t.expires_at,
			`+Moderates("?", "?")+`, `+users.JoinedColumns+`
		FROM tokens t`+join+` WHERE t.id = ?`,
		slices.Concat(moderatesArgs(channelID, caller.UserID), key, []any{caller.Token}),
		append([]any{&now, &revokedAt, &expiresAt, &isModerator}, found.Fields()...)...)
	if errors.Is(err, store.ErrNoRows) {
		return 0, fault.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	if err != nil {
		return 0, fmt.Errorf("authorize: %w", err)
	}
	at := s.Clock.At(now)
	if err := auth.CheckValidity(revokedAt, expiresAt, at); err != nil {
		return 0, err
	}
	isOwner := caller.UserID == channelID
	switch {
	case rule.Relation == Owner && !isOwner:
		return 0, fault.New(moderatov1.Reason_REASON_NOT_CHANNEL_OWNER)
	case rule.Relation == Moderator && !isOwner && !isModerator:
		return 0, fault.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)
	}
	return at, nil
}

// Reauthenticate looks at the caller's token again, in the transaction of a
// change for which the token is all that counts.
func Reauthenticate(ctx context.Context, s *store.Store, tx *ent.Tx) error {
	var now int64
	var revokedAt, expiresAt *instant.Instant
	err := store.QueryRow(ctx, tx, "SELECT "+s.Clock.SQL()+", revoked_at, expires_at FROM tokens WHERE id = ?",
		[]any{auth.FromContext(ctx).Token}, &now, &revokedAt, &expiresAt)
	if errors.Is(err, store.ErrNoRows) {
		return fault.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	if err != nil {
		return fmt.Errorf("reauthenticate: %w", err)
	}
	return auth.CheckValidity(revokedAt, expiresAt, s.Clock.At(now))
}

// AuthorizeSelf decides whether the caller may read what is a user's own: that
// user, an app that they granted the method's scope, or an internal backend.
func AuthorizeSelf(ctx context.Context, s *store.Store, userID uid.ID) error {
	caller, rule := auth.FromContext(ctx), fromContext(ctx)
	switch {
	case caller.ActsAsUser() && caller.UserID == userID:
		return nil
	case caller.ActsAsUser():
		return fault.New(moderatov1.Reason_REASON_NOT_SELF)
	case caller.Kind == auth.Service:
		return nil
	}
	row, err := s.Read.Grant.Query().Where(grant.ClientID(caller.ClientID), grant.UserID(userID)).Only(ctx)
	if ent.IsNotFound(err) || (err == nil && !hasScope(row.Scopes, rule.Scope)) {
		return missing(moderatov1.Reason_REASON_GRANT_MISSING, rule.Scope)
	}
	return s.Classify(err)
}

// AuthorizeChannel decides whether the caller may read what is the authorized
// channel's: its owner, or an app or internal backend that acts for nobody.
func AuthorizeChannel(ctx context.Context, channelID uid.ID) error {
	if caller := auth.FromContext(ctx); caller.ActsAsUser() && caller.UserID != channelID {
		return fault.New(moderatov1.Reason_REASON_NOT_CHANNEL_OWNER)
	}
	return nil
}

// AuthorizeModerator decides whether the caller may read what is for those who
// moderate a channel: its owner, a moderator who is not banned there, or an
// internal backend that acts for nobody.
func AuthorizeModerator(ctx context.Context, s *store.Store, channelID uid.ID) error {
	caller := auth.FromContext(ctx)
	if !caller.ActsAsUser() || caller.UserID == channelID {
		return nil
	}
	var isModerator bool
	err := store.QueryRow(ctx, s.Read, "SELECT "+Moderates("?", "?"), moderatesArgs(channelID, caller.UserID), &isModerator)
	if err == nil && !isModerator {
		return fault.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)
	}
	return s.Classify(err)
}

// HasPriority reports whether a change of a channel overtakes others that wait: it is
// moderation, by somebody who moderates the channel. Others who try wait like
// everybody, or raiders could keep the moderators waiting. It is no permission:
// Authorize decides, in the transaction. If the look-up fails, the change has
// priority.
func HasPriority(ctx context.Context, s *store.Store, channelID uid.ID) bool {
	return fromContext(ctx).Relation >= Owner &&
		!errors.Is(AuthorizeModerator(ctx, s, channelID), fault.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR))
}

// ContextKey is under what the context of a call has the rule of its method, a
// *Rule.
type ContextKey struct{}

// NewContext is a context with the rule of the method that is called.
func NewContext(ctx context.Context, r Rule) context.Context {
	return context.WithValue(ctx, ContextKey{}, &r)
}

func fromContext(ctx context.Context) Rule {
	if r, ok := ctx.Value(ContextKey{}).(*Rule); ok {
		return *r
	}
	return Rule{}
}

func hasScope(scopes, scope string) bool {
	return slices.Contains(strings.Fields(scopes), scope)
}
