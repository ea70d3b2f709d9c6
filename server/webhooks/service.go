// Package webhooks sends the events of channels to receivers of the callers'
// choice, and keeps what is sent where. Service has the calls, Engine the
// deliveries.
package webhooks

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/policy"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// maxWebhooks is how many webhooks the users of a channel may have, and how many
// backends may have for it.
const maxWebhooks = 20

// The reasons for which a webhook is disabled. A deleted one is a row that waits
// for its removal, and exists for nobody.
const (
	enabled   = ""
	failing   = "failing"
	gone      = "gone"
	rightLost = "right_lost"
	behind    = "behind"
	deleted   = "deleted"
)

// Service serves WebhooksService.
type Service struct {
	moderatov1.UnsafeWebhooksServiceServer

	// Store is the database.
	Store *store.Store
	// Engine delivers.
	Engine *Engine
	// Reach is where receivers may be.
	Reach Reach
}

// channelOf reads the channel that a request names: a user who names none means
// the own one, a backend every channel, which is zero.
func channelOf(ctx context.Context, f *validate.Fields, text string) uid.ID {
	if text == "" {
		return auth.FromContext(ctx).UserID
	}
	return f.UUID("channelId", text)
}

// ofOwn is an error about the channel that channelOf chose: a user who named none
// is told that there is none of their own.
func ofOwn(named string, err error) error {
	if named == "" && errors.Is(err, fault.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)) {
		return &fault.Error{
			Reason:  moderatov1.Reason_REASON_CHANNEL_NOT_FOUND,
			Message: "You have no channel of your own; name the channel with channelId.",
		}
	}
	return err
}

// authorize decides in the transaction of a change whether the caller may make it
// for a channel.
func authorize(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID) (instant.Instant, error) {
	if auth.FromContext(ctx).ActsAsUser() {
		return policy.Authorize(ctx, s, tx, channelID)
	}
	if err := policy.Reauthenticate(ctx, s, tx); err != nil {
		return 0, err
	}
	return s.Clock.Now(ctx, tx)
}

// find is a webhook that the caller has to do with: a backend with all, an owner
// with those that users made for the channel, a user with their own. Of others
// nobody learns that they exist.
func find(ctx context.Context, q *ent.WebhookClient, id uid.ID) (*ent.Webhook, error) {
	row, err := q.Query().Where(webhook.ID(id), webhook.DisabledReasonNEQ(deleted)).Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return nil, err
	}
	if err != nil || !isOf(auth.FromContext(ctx), row) {
		return nil, fault.New(moderatov1.Reason_REASON_WEBHOOK_NOT_FOUND)
	}
	return row, nil
}

func isOf(c *auth.Caller, w *ent.Webhook) bool {
	if !c.ActsAsUser() {
		return true
	}
	return w.UserID != nil && (c.UserID == *w.UserID || c.UserID == channelID(w))
}

// channelID is the webhook's channel; zero for every channel.
func channelID(w *ent.Webhook) uid.ID {
	if w.ChannelID == nil {
		return uid.ID{}
	}
	return *w.ChannelID
}

// change changes a webhook of the caller's, with its row locked. body may run
// more than once.
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

// read finds a webhook that the caller may read.
func (s *Service) read(ctx context.Context, id uid.ID) (*ent.Webhook, error) {
	w, err := find(ctx, s.Store.Read.Webhook, id)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return w, policy.AuthorizeModerator(ctx, s.Store, channelID(w))
}

// receiver reads the address of a receiver.
func (s *Service) receiver(f *validate.Fields, text string) string {
	u, err := url.Parse(text)
	switch {
	case text == "":
		f.Add("url", "is required")
	case len(text) > validate.MaxURL || err != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsAny(text, "\r\n\t "):
		f.Add("url", "must be an https address of at most 2048 characters")
	case u.Scheme != "https" && (u.Scheme != "http" || !s.Reach.allowsPlain(u.Hostname())):
		f.Add("url", "must begin with https://")
	case u.User != nil || u.Fragment != "":
		f.Add("url", "must not have a user name or a fragment")
	case !s.Reach.allowsHost(u.Hostname()):
		f.Add("url", "must not be in a private network")
	}
	return text
}
