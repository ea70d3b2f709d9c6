// Package tickets issues and redeems tickets, each of which opens one event stream with the
// rights of the token that requested it. Browsers need them, because their EventSource
// cannot send a token. Only the digest of a ticket is stored.
package tickets

import (
	"context"
	"errors"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/eventticket"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
)

// Lifetime is how long a ticket opens a stream.
const Lifetime = time.Minute

// Service serves EventTicketsService, and redeems tickets.
type Service struct {
	moderatov1.UnsafeEventTicketsServiceServer

	// Store is the database.
	Store *store.Store
	// Authenticator returns the caller of a ticket's token.
	Authenticator *authn.Authenticator
}

// CreateEventTicket returns a ticket.
func (s *Service) CreateEventTicket(ctx context.Context, _ *moderatov1.CreateEventTicketRequest) (*moderatov1.CreateEventTicketResponse, error) {
	text, err := authn.NewTicket()
	if err != nil {
		return nil, err
	}
	caller := authn.FromContext(ctx)
	var end instant.Instant
	respond := idempotency.Response(ctx, func() *moderatov1.CreateEventTicketResponse {
		return &moderatov1.CreateEventTicketResponse{Ticket: text, ExpiresAt: end.Proto()}
	})
	err = s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if err := authz.Reauthenticate(ctx, s.Store, tx); err != nil {
			return err
		}
		now, err := s.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		end = now.Add(Lifetime)
		create := tx.EventTicket.Create().SetID(digest.Of(text)).SetTokenID(caller.Token).SetExpiresAt(end)
		if caller.Kind == authn.Service && caller.ActsAsUser() {
			create.SetUserID(caller.UserID)
		}
		err = create.Exec(ctx)
		if s.Store.IsDuplicate(err) { // it is this ticket: an earlier attempt did commit
			return store.ErrCommitted
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return respond(), nil
}

// Find returns the caller whose rights a ticket has, and the function that uses the ticket
// up. The stream may be opened only if that function returns no error.
func (s *Service) Find(ctx context.Context, address, text string) (caller *authn.Caller, redeem func(context.Context) error, err error) {
	if !authn.IsTicket(text) {
		return nil, nil, errInvalid
	}
	id := digest.Of(text)
	if err := s.Authenticator.MayLookUp(address); err != nil {
		return nil, nil, err
	}
	row, err := s.Store.Read.EventTicket.Get(ctx, id)
	if ent.IsNotFound(err) {
		s.Authenticator.LookedUpInVain(address)
		return nil, nil, errInvalid
	}
	if err != nil {
		return nil, nil, s.Store.Classify(err)
	}
	var userID uid.ID
	if row.UserID != nil {
		userID = *row.UserID
	}
	caller, err = s.Authenticator.CallerOf(ctx, row.TokenID, userID)
	return caller, func(ctx context.Context) error { return s.redeem(ctx, id) }, err
}

// errInvalid is the error for a ticket that opens no stream.
var errInvalid = apierr.New(moderatov1.Reason_REASON_TICKET_INVALID)

// redeem uses a ticket up. Of concurrent redemptions, on whichever servers, one succeeds.
func (s *Service) redeem(ctx context.Context, id digest.SHA256) error {
	mine := uid.New()
	return s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		now, err := s.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		n, err := tx.EventTicket.Update().
			Where(eventticket.ID(id), eventticket.RedeemedByIsNil(), eventticket.ExpiresAtGT(now)).
			SetRedeemedBy(mine).
			Save(ctx)
		switch {
		case err != nil:
			return err
		case n == 1:
			return nil
		case attempt.Unknown: // the COMMIT of an earlier attempt may have succeeded
			return isRedeemedBy(ctx, tx, id, mine)
		}
		return errInvalid
	})
}

// isRedeemedBy returns ErrCommitted if an earlier attempt of a redemption committed.
func isRedeemedBy(ctx context.Context, tx *ent.Tx, id digest.SHA256, mine uid.ID) error {
	isMine, err := tx.EventTicket.Query().Where(eventticket.ID(id), eventticket.RedeemedBy(mine)).Exist(ctx)
	if err == nil && isMine {
		return store.ErrCommitted
	}
	return errors.Join(err, errInvalid)
}
