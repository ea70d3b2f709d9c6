package webhooks

import (
	"context"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/listing"
	"github.com/moderato-live/moderato/server/validate"
)

// ListWebhooks returns the webhooks of a channel that the caller may see.
func (s *Service) ListWebhooks(ctx context.Context, req *moderatov1.ListWebhooksRequest) (*moderatov1.ListWebhooksResponse, error) {
	f := validate.Of(req)
	channel := channelOf(ctx, f, req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := authz.AuthorizeModerator(ctx, s.Store, channel); err != nil {
		return nil, err
	}
	rows, err := ofChannel(s.Store.Read.Webhook.Query(), channel).Order(ent.Asc(webhook.FieldCreatedAt, webhook.FieldID)).All(ctx)
	if err == nil && len(rows) == 0 && !channel.IsZero() {
		err = listing.CheckChannel(ctx, s.Store, channel)
	}
	if err != nil {
		return nil, ofOwn(req.GetChannelId(), s.Store.Classify(err))
	}
	result := &moderatov1.ListWebhooksResponse{}
	for _, w := range rows {
		if isOf(authn.FromContext(ctx), w) {
			result.Webhooks = append(result.Webhooks, shown(w))
		}
	}
	return result, nil
}

func shown(w *ent.Webhook) *moderatov1.Webhook {
	status := "enabled"
	if w.DisabledReason != enabled {
		status = "disabled"
	}
	return &moderatov1.Webhook{
		Id: w.ID.String(), ChannelId: optional(w.ChannelID), UserId: optional(w.UserID), Url: w.URL, Type: strings.Fields(w.Types),
		Status: status, DisabledReason: w.DisabledReason,
		CreatedAt: w.CreatedAt.Proto(), LastSuccessAt: optionalTime(w.LastSuccessAt), LastError: w.LastError,
	}
}

func optionalTime(at *instant.Instant) *timestamppb.Timestamp {
	if at == nil {
		return nil
	}
	return at.Proto()
}
