// Package webhooks sends the events of channels to receivers that callers choose.
// Service implements the RPCs, and Engine delivers the events.
package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// maxWebhooks is the maximum number of webhooks of a channel that users created, and of
// those that backends created.
const maxWebhooks = 20

// The reasons for which a webhook is disabled. A deleted webhook is a row that waits
// for its removal; no caller can see it.
const (
	enabled   = ""
	failing   = "failing"
	gone      = "gone"
	rightLost = "right_lost"
	behind    = "behind"
	deleted   = "deleted"
)

// Service implements WebhooksService.
type Service struct {
	moderatov1.UnsafeWebhooksServiceServer

	// Store is the database.
	Store *store.Store
	// Engine delivers the events.
	Engine *Engine
	// Reach is the range of addresses that receivers may have.
	Reach Reach
}

// channelOf parses the channel that a request names. If the request names none, a user
// means their own channel, and a backend means every channel, for which channelOf
// returns zero.
func channelOf(ctx context.Context, f *validate.Fields, text string) uid.ID {
	if text == "" {
		return authn.FromContext(ctx).UserID
	}
	return f.UUID("channelId", text)
}

// ofOwn adapts an error about the channel that channelOf chose: if the request named no
// channel, the error says that the user has no channel of their own.
func ofOwn(named string, err error) error {
	if named == "" && errors.Is(err, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)) {
		return &apierr.Error{
			Reason:  moderatov1.Reason_REASON_CHANNEL_NOT_FOUND,
			Message: "You have no channel of your own; name the channel with channelId.",
		}
	}
	return err
}

// authorize checks, in the transaction of a change, whether the caller may make the
// change for a channel. It returns the time of the change.
func authorize(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID) (instant.Instant, error) {
	if authn.FromContext(ctx).ActsAsUser() {
		return authz.Authorize(ctx, s, tx, channelID)
	}
	if err := authz.Reauthenticate(ctx, s, tx); err != nil {
		return 0, err
	}
	return s.Clock.Now(ctx, tx)
}

// find returns a webhook that the caller may see. A backend sees all webhooks, a
// channel owner those that users created for the channel, and a user their own. For any
// other webhook find returns WEBHOOK_NOT_FOUND, so that the caller does not learn that
// it exists.
func find(ctx context.Context, q *ent.WebhookClient, id uid.ID) (*ent.Webhook, error) {
	row, err := q.Query().Where(webhook.ID(id), webhook.DisabledReasonNEQ(deleted)).Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return nil, err
	}
	if err != nil || !isOf(authn.FromContext(ctx), row) {
		return nil, apierr.New(moderatov1.Reason_REASON_WEBHOOK_NOT_FOUND)
	}
	return row, nil
}

func isOf(c *authn.Caller, w *ent.Webhook) bool {
	if !c.ActsAsUser() {
		return true
	}
	return w.UserID != nil && (c.UserID == *w.UserID || c.UserID == channelID(w))
}

// channelID returns the webhook's channel, or zero if it is for every channel.
func channelID(w *ent.Webhook) uid.ID {
	if w.ChannelID == nil {
		return uid.ID{}
	}
	return *w.ChannelID
}

// change runs body in a transaction, with the row of one of the caller's webhooks
// locked. body may run more than once.
func (s *Service) change(ctx context.Context, id uid.ID, body func(context.Context, *ent.Tx, *ent.Webhook, instant.Instant) error) error {
	return s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if err := lock(ctx, s.Store, tx, id); err != nil {
			return err
		}
		w, err := find(ctx, tx.Webhook, id)
		if err != nil {
			return err
		}
		now, err := authorize(ctx, s.Store, tx, channelID(w))
		if err != nil {
			return err
		}
		return body(ctx, tx, w, now)
	})
}

// read returns a webhook that the caller may read.
func (s *Service) read(ctx context.Context, id uid.ID) (*ent.Webhook, error) {
	w, err := find(ctx, s.Store.Read.Webhook, id)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return w, authz.AuthorizeModerator(ctx, s.Store, channelID(w))
}

// receiver validates the URL of a receiver.
func (s *Service) receiver(f *validate.Fields, text string) string {
	u, err := url.Parse(text)
	most := f.MaxLength("url")
	switch {
	case text == "":
		f.Add("url", "is required")
	case len(text) > most || err != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsAny(text, "\r\n\t "):
		f.Add("url", fmt.Sprintf("must be an https address of at most %d characters", most))
	case u.Scheme != "https" && (u.Scheme != "http" || !s.Reach.allowsPlain(u.Hostname())):
		f.Add("url", "must begin with https://")
	case u.User != nil || u.Fragment != "":
		f.Add("url", "must not have a user name or a fragment")
	case !s.Reach.allowsHost(u.Hostname()):
		f.Add("url", "must not be in a private network")
	}
	return text
}
