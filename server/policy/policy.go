// Package policy decides who may do what. The contract declares the rule of each
// method, which Table has. Rule.Check is called before a method runs. What the caller
// must be to the channel or user that the request names is checked by the method, with
// Authorize in the transaction of a change and with AuthorizeSelf, AuthorizeChannel or
// AuthorizeModerator for a read.
package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/grant"
	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// The relations, for short.
const (
	anyone     = optionsv1.Relation_RELATION_UNSPECIFIED
	self       = optionsv1.Relation_RELATION_SELF
	authorized = optionsv1.Relation_RELATION_AUTHORIZED
	owner      = optionsv1.Relation_RELATION_OWNER
	moderator  = optionsv1.Relation_RELATION_MODERATOR
)

// Rule is a row of the table.
type Rule struct {
	// Public methods need no token.
	Public bool
	// Tokens are the kinds that are accepted.
	Tokens []auth.Kind
	// Scope is what the token must have; empty for none.
	Scope string
	// Relation is what the caller must be to what the request names. The method checks
	// it.
	Relation optionsv1.Relation
}

// Decision is the rule of the method that is called, and whether the method checked
// the relation.
type Decision struct {
	Rule Rule

	checked atomic.Int32
}

// IsMissing reports whether the method did not check the relation that its rule
// requires. Its response must not be sent.
func (d *Decision) IsMissing() bool {
	return d.Rule.Relation != anyone && optionsv1.Relation(d.checked.Load()) != d.Rule.Relation
}

// markChecked records that the method checked a relation.
func markChecked(ctx context.Context, relation optionsv1.Relation) {
	if d, ok := ctx.Value(ContextKey{}).(*Decision); ok {
		d.checked.Store(int32(relation))
	}
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
	return fmt.Errorf("no policy for %v: declare option (moderato.options.v1.policy) in the .proto file", missing)
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
	markChecked(ctx, rule.Relation)
	isOwner := caller.UserID == channelID
	switch {
	case rule.Relation == owner && !isOwner:
		return 0, fault.New(moderatov1.Reason_REASON_NOT_CHANNEL_OWNER)
	case rule.Relation == moderator && !isOwner && !isModerator:
		return 0, fault.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)
	}
	return at, nil
}

// Reauthenticate looks at the caller's token again, in the transaction of a
// change for which the token is all that counts: that of a backend which acts for no
// user.
func Reauthenticate(ctx context.Context, s *store.Store, tx *ent.Tx) error {
	if caller := auth.FromContext(ctx); !caller.ActsAsUser() {
		markChecked(ctx, fromContext(ctx).Relation)
	}
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
	markChecked(ctx, self)
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
	markChecked(ctx, authorized)
	if caller := auth.FromContext(ctx); caller.ActsAsUser() && caller.UserID != channelID {
		return fault.New(moderatov1.Reason_REASON_NOT_CHANNEL_OWNER)
	}
	return nil
}

// AuthorizeModerator decides whether the caller may read what is for those who
// moderate a channel: its owner, a moderator who is not banned there, or an
// internal backend that acts for nobody.
func AuthorizeModerator(ctx context.Context, s *store.Store, channelID uid.ID) error {
	MarkModerator(ctx)
	return checkModerator(ctx, s, channelID)
}

// MarkModerator records that the method checked itself that the caller moderates the
// channels in the response.
func MarkModerator(ctx context.Context) { markChecked(ctx, moderator) }

func checkModerator(ctx context.Context, s *store.Store, channelID uid.ID) error {
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
	return fromContext(ctx).Relation >= owner &&
		!errors.Is(checkModerator(ctx, s, channelID), fault.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR))
}

// ContextKey is under what the context of a call has the rule of its method, a
// *Decision.
type ContextKey struct{}

// NewContext is a context with the rule of the method that is called.
func NewContext(ctx context.Context, r Rule) context.Context {
	return context.WithValue(ctx, ContextKey{}, &Decision{Rule: r})
}

func fromContext(ctx context.Context) Rule {
	if d, ok := ctx.Value(ContextKey{}).(*Decision); ok {
		return d.Rule
	}
	return Rule{}
}

func hasScope(scopes, scope string) bool {
	return slices.Contains(strings.Fields(scopes), scope)
}
