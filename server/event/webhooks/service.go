// Package webhooks sends the events of channels to receivers that callers choose.
// Service implements the RPCs, and Engine delivers the events.
package webhooks

import (
	"context"
	"errors"

	"entgo.io/ent/dialect/sql"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/predicate"
	"github.com/moderato-live/moderato/ent/webhook"
	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// maxWebhooks is the maximum number of webhooks of a channel that its owner and
	// moderators created, of those that backends created, and of those of one app.
	maxWebhooks = 20
	// maxOfViewer is the maximum number of webhooks that a user has for channels that the
	// user neither owned nor moderated, and maxOfViewers is that of a channel.
	maxOfViewer  = 20
	maxOfViewers = 200
	// maxOfApp is the maximum number of webhooks of an app for all channels.
	maxOfApp = 1000
)

// The holders of webhooks, as stored. The people of a channel see each other's webhooks as
// before there were others; viewers and apps see their own alone.
const (
	ofChannelOrBackend = ""
	ofViewer           = "viewer"
	ofApp              = "app"
)

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
// means their own channel, and other callers mean every channel, for which channelOf
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

// authorize checks, in the transaction of a change, that the caller's token is still valid.
// It returns the time of the change and the standing of the caller in a channel, from which
// the caller of authorize decides.
func authorize(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID) (hearing.Standing, instant.Instant, error) {
	if err := authz.Reauthenticate(ctx, s, tx); err != nil {
		return hearing.Nobody, 0, err
	}
	now, err := s.Clock.Now(ctx, tx)
	if err != nil {
		return hearing.Nobody, 0, err
	}
	standing, err := hearing.StandingIn(ctx, s.Clock, tx, authn.FromContext(ctx), channelID)
	return standing, now, err
}

// check returns an error if a caller with a standing may not hear the types of a webhook,
// and so may not manage it.
func check(ctx context.Context, w *ent.Webhook, standing hearing.Standing) error {
	authz.MarkListener(ctx)
	return hearing.Check(authn.FromContext(ctx), audienceOf(w), standing)
}

// The audiences, as stored.
var audiences = map[optionsv1.Audience]string{
	optionsv1.Audience_AUDIENCE_PUBLIC:     "public",
	optionsv1.Audience_AUDIENCE_CHANNEL:    "channel",
	optionsv1.Audience_AUDIENCE_MODERATORS: "moderators",
}

// audienceOf returns the audience of a webhook.
func audienceOf(w *ent.Webhook) optionsv1.Audience {
	for audience, name := range audiences {
		if name == w.Audience {
			return audience
		}
	}
	return optionsv1.Audience_AUDIENCE_MODERATORS
}

// find returns a webhook that the caller may see. A backend sees all webhooks, a channel
// owner those that the people of the channel created for it, and a user or app their own.
// For any other webhook find returns WEBHOOK_NOT_FOUND, so that the caller does not learn
// that it exists.
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
	if c.ActsAsUser() && w.Holder == ofChannelOrBackend && w.UserID != nil && c.UserID == channelID(w) {
		return true
	}
	return isOwn(c, w) || (c.Kind == authn.Service && !c.ActsAsUser())
}

// isOwn reports whether the caller created a webhook.
func isOwn(c *authn.Caller, w *ent.Webhook) bool {
	if c.Kind == authn.App {
		return w.Holder == ofApp && w.ClientID == c.ClientID
	}
	return c.ActsAsUser() && w.UserID != nil && c.UserID == *w.UserID
}

// visible restricts a query to the webhooks for which isOf is true.
func visible(c *authn.Caller) predicate.Webhook {
	switch {
	case c.Kind == authn.App:
		return webhook.And(webhook.ClientID(c.ClientID), webhook.Holder(ofApp))
	case c.ActsAsUser():
		return webhook.Or(webhook.UserID(c.UserID),
			webhook.And(webhook.ChannelID(c.UserID), webhook.Holder(ofChannelOrBackend), webhook.UserIDNotNil()))
	}
	return func(*sql.Selector) {} // every webhook
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
	return s.changeIf(ctx, id, check, body)
}

// changeIf is change with the function that authorizes the caller.
func (s *Service) changeIf(
	ctx context.Context, id uid.ID,
	may func(context.Context, *ent.Webhook, hearing.Standing) error,
	body func(context.Context, *ent.Tx, *ent.Webhook, instant.Instant) error,
) error {
	return s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if err := lock(ctx, tx, id); err != nil {
			return err
		}
		w, err := find(ctx, tx.Webhook, id)
		if err != nil {
			return err
		}
		standing, now, err := authorize(ctx, s.Store, tx, channelID(w))
		if err != nil {
			return err
		}
		if err := may(ctx, w, standing); err != nil {
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
	standing, err := hearing.StandingIn(ctx, s.Store.Clock, s.Store.Read, authn.FromContext(ctx), channelID(w))
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return w, check(ctx, w, standing)
}
