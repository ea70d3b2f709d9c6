package authz

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// Claim is what the caller of a request claims: the token, and the relation that the method
// requires.
type Claim struct {
	caller   *authn.Caller
	decision *Decision
}

// ClaimOf returns the claim of the current request.
func ClaimOf(ctx context.Context) Claim {
	decision, ok := ctx.Value(ContextKey{}).(*Decision)
	if !ok {
		decision = &Decision{}
	}
	return Claim{caller: authn.FromContext(ctx), decision: decision}
}

// Authorize checks in the transaction of a change that the token of each claim is valid, and
// that its caller has the relation to the channel that the method requires. It needs one
// statement for all claims. It returns the time of the change, and for each claim the error
// of its caller, which is nil if the caller may make the change. The transaction must have
// locked the channel.
func Authorize(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID, claims ...Claim) (now instant.Instant, refusals []error, err error) {
	f, err := readFacts(ctx, s, tx, channelID, claims)
	if err != nil {
		return 0, nil, fmt.Errorf("authorize: %w", err)
	}
	for _, c := range claims {
		refusals = append(refusals, f.check(channelID, c))
	}
	return f.now, refusals, nil
}

// facts are what decides claims.
type facts struct {
	now        instant.Instant
	tokens     map[digest.SHA256]validity
	moderators map[uid.ID]bool
}

type validity struct{ revokedAt, expiresAt *instant.Instant }

// readFacts reads the tokens of the callers, and which callers moderate the channel.
func readFacts(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID, claims []Claim) (*facts, error) {
	tokens, callers := map[digest.SHA256]bool{}, map[uid.ID]bool{}
	for _, c := range claims {
		tokens[c.caller.Token] = true
		if c.decision.Rule.Relation == moderator && c.caller.UserID != channelID {
			callers[c.caller.UserID] = true
		}
	}
	args := store.PaddedArgs(tokens)
	query := "SELECT " + s.Clock.SQL() + ", t.id, t.revoked_at, t.expires_at, NULL FROM tokens t WHERE t.id IN (" + store.Placeholders(len(args)) + ")"
	if len(callers) > 0 {
		ids := store.PaddedArgs(callers)
		query += " UNION ALL SELECT " + s.Clock.SQL() + ", NULL, NULL, NULL, u.id FROM " + users.From(s.Dialect, "id") +
			" WHERE u.id IN (" + store.Placeholders(len(ids)) + ") AND " + Moderates(s.Clock, "?", "u.id")
		args = append(append(args, ids...), channelID, channelID)
	}
	f := &facts{tokens: map[digest.SHA256]validity{}, moderators: map[uid.ID]bool{}}
	err := store.QueryEach(ctx, tx, query, args, func(scan func(...any) error) error {
		var now int64
		var token *digest.SHA256
		var v validity
		var user *uid.ID
		if err := scan(&now, &token, &v.revokedAt, &v.expiresAt, &user); err != nil {
			return err
		}
		f.now = s.Clock.At(now)
		if token != nil {
			f.tokens[*token] = v
		}
		if user != nil {
			f.moderators[*user] = true
		}
		return nil
	})
	return f, err
}

// check returns the error of the caller of a claim.
func (f *facts) check(channelID uid.ID, c Claim) error {
	token, isKnown := f.tokens[c.caller.Token]
	if !isKnown {
		return apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	if err := authn.CheckValidity(token.revokedAt, token.expiresAt, f.now); err != nil {
		return err
	}
	relation, isOwner := c.decision.Rule.Relation, c.caller.UserID == channelID
	switch {
	case relation == owner && !isOwner:
		return apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_OWNER)
	case relation == moderator && !isOwner && !f.moderators[c.caller.UserID]:
		return apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)
	}
	if relation == owner || relation == moderator {
		c.decision.checked.Store(int32(relation))
	}
	return nil
}
