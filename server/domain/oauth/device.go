package oauth

import (
	"context"
	"crypto/rand"
	"math/big"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/authorization"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/secrets"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// PollInterval is how long a device waits between two attempts at first.
	PollInterval = 5 * time.Second
	// pollIncrease is what slow_down adds to the interval (RFC 8628, section 3.5).
	pollIncrease = 5 * time.Second
	maxPoll      = time.Minute
	// pollTolerance is how much earlier an attempt may arrive, because networks delay some
	// more than others.
	pollTolerance = time.Second

	// Consonants make no words, and cannot be mistaken for digits (RFC 8628, section 6.1).
	userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"
	userCodeLength  = 8
	maxUserCodes    = 5
)

// Device is a request of a device.
type Device struct {
	// Code is what the device redeems, and UserCode what it shows to its user.
	Code, UserCode string
}

// BeginDevice stores the request of a device to act for a user.
func (s *Service) BeginDevice(ctx context.Context, c *Client, scopes []string) (Device, error) {
	if c.ID == access.Console { // a code that another person enters would be the only check
		return Device{}, oidc.ErrUnauthorizedClient().WithDescription("the console signs in with authorization_code only")
	}
	scopes, err := c.CheckScopes(scopes)
	if err != nil {
		return Device{}, err
	}
	code, err := secrets.New(authn.DeviceCode)
	if err != nil {
		return Device{}, err
	}
	for range maxUserCodes {
		var id string
		if id, err = newUserCode(); err != nil {
			return Device{}, err
		}
		err = s.create(ctx, id, func(create *ent.AuthorizationCreate) {
			create.SetClientID(c.ID).SetScopes(strings.Join(scopes, " ")).SetIsDevice(true).
				SetCode(digest.Of(code)).SetPollInterval(PollInterval.Milliseconds())
		})
		if err == nil {
			return Device{Code: code, UserCode: showUserCode(id)}, nil
		}
		if !s.Store.IsDuplicate(err) {
			break
		}
	}
	return Device{}, err
}

func newUserCode() (string, error) {
	code := make([]byte, userCodeLength)
	for i := range code {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(userCodeLetters))))
		if err != nil {
			return "", err
		}
		code[i] = userCodeLetters[n.Int64()]
	}
	return string(code), nil
}

// showUserCode returns a user code as people read it.
func showUserCode(code string) string { return code[:userCodeLength/2] + "-" + code[userCodeLength/2:] }

// ReadUserCode returns a user code as it is stored. It drops everything that is no letter. The
// result is the id of the request.
func ReadUserCode(typed string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, strings.ToUpper(typed))
}

// RedeemDevice exchanges a device code for tokens once the user has approved.
func (s *Service) RedeemDevice(ctx context.Context, c *Client, code string) (*Tokens, error) {
	if !strings.HasPrefix(code, authn.DeviceCode) || !secrets.IsWhole(code) {
		return nil, errGrant("the device code is not valid")
	}
	d, err := newDraft(uid.New())
	if err != nil {
		return nil, err
	}
	var issued *Tokens
	var refusal error
	err = s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		issued, refusal = nil, nil
		row, now, err := s.lock(ctx, tx, authorization.Code(digest.Of(code)))
		if err != nil {
			return err
		}
		switch {
		case row == nil || !row.IsDevice || row.ClientID != c.ID:
			return errGrant("the device code is not valid")
		case row.Status == redeemed && *row.FamilyID == d.family: // an earlier attempt committed
			issued = s.tokens(d, *row.UserID, strings.Fields(row.Granted))
			return store.ErrCommitted
		case row.Status == redeemed:
			return errGrant("the device code was used before")
		case now >= row.ExpiresAt:
			return oidc.ErrExpiredDeviceCode()
		case row.Status == denied:
			return oidc.ErrAccessDenied()
		case row.Status == pending:
			refusal, err = s.poll(ctx, tx, row, now)
			return err
		}
		issued, err = s.redeem(ctx, tx, c, row, d, now)
		return err
	})
	if err != nil {
		return nil, ended(err)
	}
	return issued, refusal
}

// poll records an attempt of a device whose user has not decided yet, and returns the error
// for the device.
func (s *Service) poll(ctx context.Context, tx *ent.Tx, row *ent.Authorization, now instant.Instant) (refusal, err error) {
	interval := time.Duration(row.PollInterval) * time.Millisecond
	update := tx.Authorization.UpdateOne(row).SetPolledAt(now)
	refusal = oidc.ErrAuthorizationPending()
	if row.PolledAt != nil && now.Sub(*row.PolledAt) < interval-pollTolerance {
		refusal = oidc.ErrSlowDown()
		update.SetPollInterval(min(interval+pollIncrease, maxPoll).Milliseconds())
	}
	return refusal, update.Exec(ctx)
}
