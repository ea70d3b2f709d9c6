package oauth

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/application"
	"github.com/moderato-live/moderato/ent/authorization"
	"github.com/moderato-live/moderato/ent/grant"
	"github.com/moderato-live/moderato/ent/refreshtoken"
	"github.com/moderato-live/moderato/ent/token"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// clientBatch is how many rows of a table one transaction of DeleteClient removes, before
	// the last one, and how many it leaves to the last one.
	clientBatch = 1000
	// lastTime is the part of a call's time that is left for the last transaction.
	lastTime = 3 * time.Second
)

// DeleteClient deletes a client with its tokens, grants and the webhooks that were created
// through it. It first removes what is too much for one transaction. If the time of the call
// does not suffice, it returns UNAVAILABLE, and a repeated call continues.
func (s *Service) DeleteClient(ctx context.Context, req *platformv1.DeleteClientRequest) (*platformv1.DeleteClientResponse, error) {
	f := validate.Of(req)
	id := f.Identifier("clientId", req.GetClientId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	caller := authn.FromContext(ctx)
	err := DeleteClient(ctx, s.Store, id, caller.Token, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		return authz.ReauthenticateAttempt(ctx, s.Store, tx, attempt, caller.ClientID == id)
	})
	return &platformv1.DeleteClientResponse{}, err
}

// admission permits a transaction to go on; see store.Store.Write for attempt.
type admission = func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error

// DeleteClient is Service.DeleteClient without a request. The token own, which may be zero,
// is deleted last. admit, if not nil, runs in each transaction; its error ends the deletion.
func DeleteClient(ctx context.Context, st *store.Store, id string, own digest.SHA256, admit admission) error {
	if admit == nil {
		admit = func(context.Context, *ent.Tx, store.Attempt) error { return nil }
	}
	if err := access.CheckReserved(id, "clientId"); err != nil {
		return err
	}
	ctx, err := removeMost(ctx, st, id, own, admit)
	if err != nil {
		return err
	}
	return st.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		if err := admit(ctx, tx, attempt); err != nil {
			return err
		}
		if _, err := tx.Application.Delete().Where(application.ID(id)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.Token.Delete().Where(token.ClientID(id)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.RefreshToken.Delete().Where(refreshtoken.ClientID(id)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.Authorization.Delete().Where(authorization.ClientID(id)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.Grant.Delete().Where(grant.ClientID(id)).Exec(ctx); err != nil {
			return err
		}
		return webhooks.DeleteOfClient(ctx, tx, id)
	})
}

// removeMost removes rows of a client until each table has at most clientBatch of them. The
// client remains, so a call that fails can be repeated, and no later client with its id gets
// what is left. It returns the context of the last transaction.
func removeMost(ctx context.Context, st *store.Store, clientID string, own digest.SHA256, admit admission) (context.Context, error) {
	for _, of := range append(rowsOfTables(st, clientID, own), rowsOf{
		hasMany: func(ctx context.Context) (bool, error) {
			return webhooks.HasMoreOfClient(ctx, st, clientID, clientBatch)
		},
		remove: func(ctx context.Context, tx *ent.Tx) error {
			return webhooks.DeleteSomeOfClient(ctx, tx, clientID, clientBatch)
		},
	}) {
		for {
			isMany, err := of.hasMany(ctx)
			if err != nil {
				return ctx, err
			}
			if !isMany {
				break
			}
			if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < lastTime {
				return ctx, &apierr.Error{
					Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second,
					Message: "The client has more tokens, grants and webhooks than one call can delete. Repeat the call to delete the rest.",
				}
			}
			err = st.Write(idempotency.WithoutKey(ctx), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
				// This does not delete the caller's own token.
				if err := admit(ctx, tx, store.Attempt{}); err != nil {
					return err
				}
				return of.remove(ctx, tx)
			})
			if err != nil {
				return ctx, err
			}
			// From now on the call is not rejected for overload: the error would say that
			// nothing was changed.
			request := fair.FromContext(ctx)
			request.MaxWait = 0
			ctx = fair.NewContext(ctx, request)
		}
	}
	return ctx, nil
}

// rowsOf are the rows of a client in a table.
type rowsOf struct {
	// hasMany reports whether there are more than the last transaction removes.
	hasMany func(context.Context) (bool, error)
	// remove removes at most clientBatch of them.
	remove func(context.Context, *ent.Tx) error
}

// rowsOfTables returns the rows of a client that belong to no channel. The caller's own token
// is left to the last transaction.
func rowsOfTables(st *store.Store, clientID string, own digest.SHA256) []rowsOf {
	var all []rowsOf
	for _, table := range []string{"tokens", "refresh_tokens", "authorizations", "grants"} {
		all = append(all, rowsOf{
			hasMany: func(ctx context.Context) (bool, error) {
				var rows int
				err := store.QueryRow(ctx, st.Read, "SELECT COUNT(*) FROM (SELECT 1 FROM "+table+" WHERE client_id = ?"+store.Limit(clientBatch+1)+") some_rows",
					[]any{clientID}, &rows)
				return rows > clientBatch, st.Classify(err)
			},
			remove: func(ctx context.Context, tx *ent.Tx) error {
				// No row of another table has the id of the token, which is a digest.
				_, err := tx.ExecContext(ctx, "DELETE FROM "+table+st.Some(table, "client_id = ? AND id <> ?", clientBatch), clientID, own)
				return err
			},
		})
	}
	return all
}
