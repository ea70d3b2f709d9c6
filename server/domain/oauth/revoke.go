package oauth

import (
	"context"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/authorization"
	"github.com/moderato-live/moderato/ent/refreshtoken"
	"github.com/moderato-live/moderato/ent/token"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store"
)

// Holder is whose tokens are meant: those of a client, of a user, or of a client for a user.
type Holder struct {
	// ClientID is the client; empty for every client.
	ClientID string
	// UserID is the user; zero for every user and for tokens without a user.
	UserID uid.ID
}

// condition returns the SQL condition for the holder's rows.
func (h Holder) condition() (where string, args []any) {
	var all []string
	if h.ClientID != "" {
		all, args = append(all, "client_id = ?"), append(args, h.ClientID)
	}
	if !h.UserID.IsZero() {
		all, args = append(all, "user_id = ?"), append(args, h.UserID)
	}
	return strings.Join(all, " AND "), args
}

// RevokeTokens ends every token and every code of a holder, in small transactions, and returns
// how many access tokens it revoked. Grants stay: a user may sign in again. A call that fails
// can be repeated.
func RevokeTokens(ctx context.Context, st *store.Store, h Holder) (revoked int, err error) {
	where, args := h.condition()
	// A code that was not redeemed yet must not bring new tokens.
	_, err = inBatches(ctx, st, func(ctx context.Context, tx *ent.Tx, _ instant.Instant) (int, error) {
		return tables.Exec(ctx, tx, "UPDATE "+authorization.Table+" SET status = ?"+
			st.Some(authorization.Table, where+" AND status = ?", clientBatch), append(append([]any{denied}, args...), approved)...)
	})
	if err != nil {
		return 0, err
	}
	// Then no refresh may bring any: each waits for the lock of the grant.
	for {
		first, err := firstRefresh(ctx, st, where, args)
		if err != nil || first == nil {
			if err != nil {
				return revoked, err
			}
			break
		}
		n, err := endRefreshes(ctx, st, *first)
		if revoked += n; err != nil {
			return revoked, err
		}
	}
	n, err := inBatches(ctx, st, func(ctx context.Context, tx *ent.Tx, now instant.Instant) (int, error) {
		return tables.Exec(ctx, tx, "UPDATE "+token.Table+" SET revoked_at = ?"+
			st.Some(token.Table, where+" AND revoked_at IS NULL", clientBatch), append([]any{now}, args...)...)
	})
	return revoked + n, err
}

// firstRefresh returns the client and the user of a refresh token; nil if there is none.
func firstRefresh(ctx context.Context, st *store.Store, where string, args []any) (*Holder, error) {
	var found *Holder
	err := store.QueryEach(ctx, st.Read, "SELECT client_id, user_id FROM "+refreshtoken.Table+" WHERE "+where+store.Limit(1), args,
		func(scan func(...any) error) error {
			found = &Holder{}
			return scan(&found.ClientID, &found.UserID)
		})
	return found, st.Classify(err)
}

// endRefreshes ends the tokens of a client for a user.
func endRefreshes(ctx context.Context, st *store.Store, of Holder) (revoked int, err error) {
	err = st.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if _, err := lockGrant(ctx, tx, of.ClientID, of.UserID); err != nil {
			return err
		}
		now, err := st.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		_, err = tx.RefreshToken.Delete().Where(refreshtoken.ClientID(of.ClientID), refreshtoken.UserID(of.UserID)).Exec(ctx)
		if err != nil {
			return err
		}
		revoked, err = tx.Token.Update().Where(token.ClientID(of.ClientID), token.UserID(of.UserID), token.RevokedAtIsNil()).SetRevokedAt(now).Save(ctx)
		return err
	})
	return revoked, err
}

// inBatches runs a statement in transactions until it changes fewer than clientBatch rows. It
// returns how many rows were changed.
func inBatches(ctx context.Context, st *store.Store, do func(context.Context, *ent.Tx, instant.Instant) (int, error)) (all int, err error) {
	for {
		var n int
		err := st.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			now, err := st.Clock.Now(ctx, tx)
			if err != nil {
				return err
			}
			n, err = do(ctx, tx, now)
			return err
		})
		if err != nil {
			return all, err
		}
		if all += n; n < clientBatch {
			return all, nil
		}
	}
}
