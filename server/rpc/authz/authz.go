// Package authz decides which callers may do what. The contract declares the rule of
// each method, and Table holds the rules. Rule.Check is called before a method runs.
// The method itself checks the relation of the caller to the channel or user that the
// request names: a change calls Authorize in its transaction, and a read calls
// AuthorizeSelf, AuthorizeChannel or AuthorizeModerator.
package authz

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
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// Short names of the relations.
const (
	anyone     = optionsv1.Relation_RELATION_UNSPECIFIED
	self       = optionsv1.Relation_RELATION_SELF
	authorized = optionsv1.Relation_RELATION_AUTHORIZED
	owner      = optionsv1.Relation_RELATION_OWNER
	moderator  = optionsv1.Relation_RELATION_MODERATOR
	listener   = optionsv1.Relation_RELATION_LISTENER
)

// Rule is the rule of a method: a row of Table.
type Rule struct {
	// Public is true if the method needs no token.
	Public bool
	// Tokens holds the kinds of token that are accepted.
	Tokens []authn.Kind
	// Scope is the scope that the token must have; empty if it needs none.
	Scope string
	// AlternativeScope is another scope that the token may have instead; empty if there is
	// none. The method decides what it permits.
	AlternativeScope string
	// Relation is the relation that the caller must have to what the request names. The
	// method checks it.
	Relation optionsv1.Relation
}

// Decision holds the rule of the method that is called, and whether the method checked
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

// CheckComplete returns an error that names the methods of a server that have no rule.
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

// Check returns an error if a caller's token may not be used for a method. It checks
// the kind of the token, and then its scope.
func (r Rule) Check(c *authn.Caller) error {
	if !c.IsAccepted(r.Tokens) {
		kinds := make([]string, len(r.Tokens))
		for i, k := range r.Tokens {
			kinds[i] = string(k)
		}
		err := &apierr.Error{
			Reason:   moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED,
			Metadata: map[string]string{apierr.AcceptedTokens: apierr.Tokens(kinds)},
		}
		if c.Kind == authn.Service && slices.Contains(r.Tokens, authn.User) {
			err.Message = "This operation accepts a service token only on behalf of a user: send the user's id as " + authn.ActingUserKey + "."
		}
		return err
	}
	if r.AlternativeScope == "" {
		return CheckScope(c, r.Scope)
	}
	if c.HasScope(r.Scope) || c.HasScope(r.AlternativeScope) {
		return nil
	}
	err := missing(moderatov1.Reason_REASON_SCOPE_MISSING, r.Scope)
	err.Message = fmt.Sprintf("The access token lacks the scope %s, or %s for what is the caller's own: get a new token with one of them.", r.Scope, r.AlternativeScope)
	return err
}

// CheckScope returns an error if a caller's token lacks a scope. An empty scope is one that
// every token has.
func CheckScope(c *authn.Caller, scope string) error {
	if scope != "" && !c.HasScope(scope) {
		return missing(moderatov1.Reason_REASON_SCOPE_MISSING, scope)
	}
	return nil
}

func missing(reason moderatov1.Reason, scope string) *apierr.Error {
	return &apierr.Error{Reason: reason, Metadata: map[string]string{apierr.RequiredScope: scope}}
}

// InForce returns the SQL condition that the ban in a row of bans is in force, by the
// database's clock. Every statement about who is banned needs it: the row of a ban that
// has lapsed remains until its end is announced. bans is the name of the table in the
// statement.
func InForce(clock *store.Clock, bans string) string {
	return "(" + bans + ".expires_at IS NULL OR " + bans + ".expires_at > " + clock.Present() + ")"
}

// Moderates returns the SQL condition that a user moderates a channel: the user has the
// role, is not banned there, and is not being deleted. channel and user are SQL
// expressions.
func Moderates(clock *store.Clock, channel, user string) string {
	return `(` + IsModerator(channel, user) + `
		AND NOT EXISTS (SELECT 1 FROM bans mb WHERE mb.channel_id = ` + channel + ` AND mb.user_id = ` + user + ` AND ` + InForce(clock, "mb") + `)
		AND EXISTS (SELECT 1 FROM users mu WHERE mu.id = ` + user + ` AND mu.` + users.Exists + `))`
}

// moderatesArgs returns the arguments of Moderates with "?" as channel and user.
func moderatesArgs(channelID, userID uid.ID) []any {
	return []any{channelID, userID, channelID, userID, userID}
}

// Reauthenticate checks the caller's token again, in the transaction of a change that
// depends on nothing but the token: a change by a backend that acts for no user.
func Reauthenticate(ctx context.Context, s *store.Store, tx *ent.Tx) error {
	return reauthenticate(ctx, s, tx, "")
}

// ReauthenticateAttempt is Reauthenticate for a change that ends the caller's own token if
// endsOwn is true, and that can be repeated. An earlier attempt whose outcome is unknown may
// have ended the token, so the token of a repeated attempt need not be valid.
func ReauthenticateAttempt(ctx context.Context, s *store.Store, tx *ent.Tx, attempt store.Attempt, endsOwn bool) error {
	err := Reauthenticate(ctx, s, tx)
	if endsOwn && attempt.Unknown && errors.Is(err, apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)) {
		return nil
	}
	return err
}

// HoldToken is Reauthenticate that also keeps the token as it is until the transaction
// ends. It is for a change that creates what the revocation of the token ends: the
// revocation must see it.
func HoldToken(ctx context.Context, s *store.Store, tx *ent.Tx) error {
	return reauthenticate(ctx, s, tx, s.ForShare())
}

func reauthenticate(ctx context.Context, s *store.Store, tx *ent.Tx, lock string) error {
	markService(ctx)
	var now int64
	var revokedAt, expiresAt *instant.Instant
	err := store.QueryRow(ctx, tx, "SELECT "+s.Clock.SQL()+", revoked_at, expires_at FROM tokens WHERE id = ?"+lock,
		[]any{authn.FromContext(ctx).Token}, &now, &revokedAt, &expiresAt)
	if errors.Is(err, store.ErrNoRows) {
		return apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	if err != nil {
		return fmt.Errorf("reauthenticate: %w", err)
	}
	return authn.CheckValidity(revokedAt, expiresAt, s.Clock.At(now))
}

// ReauthenticateIn is Reauthenticate for an INSERT that is a transaction of its own: it
// returns the part after SELECT and the values, with its arguments. It selects one row if
// the caller's token is valid and none otherwise.
func ReauthenticateIn(ctx context.Context, s *store.Store) (from string, args []any) {
	markService(ctx)
	return "FROM tokens WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > " + s.Clock.Present() + ")",
		[]any{authn.FromContext(ctx).Token}
}

// markService records that a backend that acts for no user needs no relation.
func markService(ctx context.Context) {
	if caller := authn.FromContext(ctx); caller.Kind == authn.Service && !caller.ActsAsUser() {
		markChecked(ctx, fromContext(ctx).Relation)
	}
}

// AuthorizeSelf checks whether the caller may read a user's own data. It allows the
// user, an app to which the user granted the method's scope, and an internal backend
// that acts for no user.
func AuthorizeSelf(ctx context.Context, s *store.Store, userID uid.ID) error {
	markChecked(ctx, self)
	if IsSelf(ctx, userID) {
		return nil
	}
	return s.Classify(checkGrant(ctx, s.Read.Grant, userID))
}

// IsSelf reports whether AuthorizeSelf needs no grant, because the caller acts as the user
// or is an internal backend that acts for no user.
func IsSelf(ctx context.Context, userID uid.ID) bool {
	caller := authn.FromContext(ctx)
	return caller.Kind == authn.Service && !caller.ActsAsUser() || caller.ActsAsUser() && caller.UserID == userID
}

// NeedsGrant reports whether the current call is about a user's own data and AuthorizeSelf
// needs a grant of the user.
func NeedsGrant(ctx context.Context, userID uid.ID) bool {
	return fromContext(ctx).Relation == self && !IsSelf(ctx, userID)
}

// CheckGrant is AuthorizeSelf in the transaction of a change in a user's name, for a call that
// is about the user's own data. It allows any other call.
func CheckGrant(ctx context.Context, grants *ent.GrantClient, userID uid.ID) error {
	if !NeedsGrant(ctx, userID) {
		return nil
	}
	return checkGrant(ctx, grants, userID)
}

// checkGrant checks whether a caller who is not the user may act in the user's name.
func checkGrant(ctx context.Context, grants *ent.GrantClient, userID uid.ID) error {
	caller, rule := authn.FromContext(ctx), fromContext(ctx)
	if caller.ActsAsUser() {
		return apierr.New(moderatov1.Reason_REASON_NOT_SELF)
	}
	row, err := grants.Query().Where(grant.ClientID(caller.ClientID), grant.UserID(userID)).Only(ctx)
	if ent.IsNotFound(err) || (err == nil && !hasScope(row.Scopes, rule.Scope)) {
		return missing(moderatov1.Reason_REASON_GRANT_MISSING, rule.Scope)
	}
	return err
}

// AuthorizeChannel checks whether the caller may read the data of the authorized
// channel. It allows the channel's owner, and an app or internal backend that acts for
// no user.
func AuthorizeChannel(ctx context.Context, channelID uid.ID) error {
	markChecked(ctx, authorized)
	if caller := authn.FromContext(ctx); caller.ActsAsUser() && caller.UserID != channelID {
		return apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_OWNER)
	}
	return nil
}

// AuthorizeModerator checks whether the caller may read what only the moderators of a
// channel see. It allows the channel's owner, a moderator who is not banned there, and
// an internal backend that acts for no user, but no app.
func AuthorizeModerator(ctx context.Context, s *store.Store, channelID uid.ID) error {
	MarkModerator(ctx)
	return checkModerator(ctx, s, channelID)
}

// MarkModerator records that the method itself checked that the caller moderates the
// channels in the response.
func MarkModerator(ctx context.Context) { markChecked(ctx, moderator) }

// MarkListener records that the method itself checked that the caller may hear the events
// that the request is about. Package hearing says who may.
func MarkListener(ctx context.Context) { markChecked(ctx, listener) }

func checkModerator(ctx context.Context, s *store.Store, channelID uid.ID) error {
	caller := authn.FromContext(ctx)
	if caller.Kind == authn.App {
		return apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)
	}
	if !caller.ActsAsUser() || caller.UserID == channelID {
		return nil
	}
	var isModerator bool
	err := store.QueryRow(ctx, s.Read, "SELECT "+Moderates(s.Clock, "?", "?"), moderatesArgs(channelID, caller.UserID), &isModerator)
	if err == nil && !isModerator {
		return apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)
	}
	return s.Classify(err)
}

// StillModerates reports, in the transaction of a change that is made in a user's name without
// a call of the user, whether the user owns or moderates the channel. The transaction must
// have locked the channel.
func StillModerates(ctx context.Context, s *store.Store, tx *ent.Tx, channelID, userID uid.ID) (is bool, err error) {
	if userID == channelID {
		err = store.QueryRow(ctx, tx, "SELECT EXISTS (SELECT 1 FROM users WHERE id = ? AND "+users.Exists+")", []any{userID}, &is)
		return is, err
	}
	err = store.QueryRow(ctx, tx, "SELECT "+Moderates(s.Clock, "?", "?"), moderatesArgs(channelID, userID), &is)
	return is, err
}

// HasGrant reports whether a user has granted a scope to a client.
func HasGrant(ctx context.Context, tx *ent.Tx, clientID string, userID uid.ID, scope string) (bool, error) {
	row, err := tx.Grant.Query().Where(grant.ClientID(clientID), grant.UserID(userID)).Only(ctx)
	if ent.IsNotFound(err) {
		return false, nil
	}
	return err == nil && hasScope(row.Scopes, scope), err
}

// HasPriority reports whether a change of a channel has priority over other queued
// changes. A moderation change by a caller that moderates the channel has priority.
// Other callers that attempt moderation get none, or raiders could keep the moderators
// waiting. Priority is not a permission: Authorize decides in the transaction. If the
// lookup fails, the change has priority.
func HasPriority(ctx context.Context, s *store.Store, channelID uid.ID) bool {
	return fromContext(ctx).Relation >= owner &&
		!errors.Is(checkModerator(ctx, s, channelID), apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR))
}

// WithoutRelation returns the context of a change for which the caller needs no relation
// to the channel. The method has checked that the caller changes only what is the caller's
// own.
func WithoutRelation(ctx context.Context) context.Context {
	rule := fromContext(ctx)
	markChecked(ctx, rule.Relation)
	rule.Relation = anyone
	return NewContext(ctx, rule)
}

// ContextKey is the key under which the context of a call holds its *Decision.
type ContextKey struct{}

// NewContext returns a context that holds the rule of the method that is called.
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
