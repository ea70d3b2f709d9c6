package webhooks

import (
	"context"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// ListWebhooks returns the webhooks of a channel that the caller may see.
func (s *Service) ListWebhooks(ctx context.Context, req *moderatov1.ListWebhooksRequest) (*moderatov1.ListWebhooksResponse, error) {
	f := validate.Of(req)
	channel := channelOf(ctx, f, req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	caller := authn.FromContext(ctx)
	if err := s.mayList(ctx, caller, channel); err != nil {
		return nil, err
	}
	q := ofChannel(s.Store.Read.Webhook.Query(), channel)
	if caller.Kind == authn.App && channel.IsZero() {
		q = s.Store.Read.Webhook.Query().Where(webhook.DisabledReasonNEQ(deleted)) // of every channel
	}
	rows, err := q.Where(visible(caller)).Order(ent.Asc(webhook.FieldCreatedAt, webhook.FieldID)).All(ctx)
	if err == nil && len(rows) == 0 && !channel.IsZero() {
		err = listing.CheckChannel(ctx, s.Store, channel)
	}
	if err != nil {
		return nil, ofOwn(req.GetChannelId(), s.Store.Classify(err))
	}
	result := &moderatov1.ListWebhooksResponse{}
	for _, w := range rows {
		result.Webhooks = append(result.Webhooks, shown(w))
	}
	return result, nil
}

// mayList returns an error if the caller hears nothing in a channel, and so can have no
// webhook there. An app may also list its webhooks of every channel.
func (s *Service) mayList(ctx context.Context, caller *authn.Caller, channel uid.ID) error {
	authz.MarkListener(ctx)
	if caller.Kind == authn.App {
		return hearing.Check(caller, optionsv1.Audience_AUDIENCE_PUBLIC, hearing.Outsider)
	}
	wish, err := hearing.Ask(caller, channel, nil)
	if err != nil {
		return err
	}
	standing, err := hearing.StandingIn(ctx, s.Store.Clock, s.Store.Read, caller, channel)
	if err != nil {
		return s.Store.Classify(err)
	}
	_, err = wish.Types(standing)
	return err
}

func shown(w *ent.Webhook) *moderatov1.Webhook {
	status := "enabled"
	if w.DisabledReason != enabled {
		status = "disabled"
	}
	shown := &moderatov1.Webhook{
		Id: w.ID.String(), ChannelId: uid.Text(w.ChannelID), UserId: uid.Text(w.UserID), Url: w.URL, Type: strings.Fields(w.Types),
		Status: status, DisabledReason: orNull(w.DisabledReason),
		CreatedAt: w.CreatedAt.Proto(), LastSuccessAt: optionalTime(w.LastSuccessAt), LastError: orNull(w.LastError),
	}
	if w.Holder == ofApp {
		shown.ClientId = &w.ClientID
	}
	return shown
}

// orNull returns a text for a field that is null instead of empty.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func optionalTime(at *instant.Instant) *timestamppb.Timestamp {
	if at == nil {
		return nil
	}
	return at.Proto()
}
