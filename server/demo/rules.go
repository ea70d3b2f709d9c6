package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

// chatRules are the rules of the first channel. They find what spammers post, and nothing that
// other viewers or the accounts of a raid do, so that the raid drill has its messages.
func chatRules() []*moderatov1.ChatRule {
	return []*moderatov1.ChatRule{
		{
			Name: "Scam phrases", Kind: "terms", Action: "hold", Evasions: new(true),
			Terms:   []string{"free skins", "cheap followers", "win a phone", "coins no survey", "sign in with your password"},
			Message: new("A moderator looks at your message first."),
		},
		{Name: "Links", Kind: "links", Action: "flag", Mode: new("all"), ExemptRoles: []string{"vip", "og"}},
	}
}

// held is the message that waits for a decision: one that a program cannot decide about.
const held = "is the free skins thing on skins.example.com real? my cousin says he got one"

// holdSeconds is how long it waits, so that it is there whenever somebody looks.
const holdSeconds = 86_400

// shieldPreset is what the shield of the first channel does. It is not raised by itself: the
// raid drill shows sweeps.
func shieldPreset(channelID string) *moderatov1.UpdateShieldPresetRequest {
	return &moderatov1.UpdateShieldPresetRequest{
		ChannelId: channelID,
		Settings: &moderatov1.ShieldSettings{
			SlowSeconds: new(int64(10)), FollowersOnlySeconds: new(int64(600)), UniqueSeconds: new(int64(60)), FirstMessage: new("hold"),
		},
		Rules: []*moderatov1.ChatRule{
			{Name: "No links during a raid", Kind: "links", Action: "block", Mode: new("all"), Message: new("No links for now, please.")},
		},
	}
}

// applyRules gives the first channel its rules, a message that they hold, and the preset of its
// shield, through the services.
func applyRules(ctx context.Context, s *store.Store, serviceToken string) error {
	w := makeWorld()
	owner := w.people[0].ID
	channelID := owner.String()
	services := domains.NewServices(s, domains.Options{
		Live: live.NewHub(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), chat.Visible), // nobody listens yet
	})
	authenticator := authn.NewAuthenticator(s)
	for _, step := range []struct {
		method string
		do     func(context.Context) error
	}{
		{moderatov1.ChatRulesService_UpdateChatSettings_FullMethodName, func(ctx context.Context) error {
			_, err := services.Rules.UpdateChatSettings(ctx, &moderatov1.UpdateChatSettingsRequest{ChannelId: channelID, HoldSeconds: new(int64(holdSeconds))})
			return err
		}},
		{moderatov1.ChatRulesService_UpdateChatRules_FullMethodName, func(ctx context.Context) error {
			_, err := services.Rules.UpdateChatRules(ctx, &moderatov1.UpdateChatRulesRequest{ChannelId: channelID, Put: chatRules()})
			return err
		}},
		{moderatov1.ChatRulesService_UpdateShieldPreset_FullMethodName, func(ctx context.Context) error {
			_, err := services.Rules.UpdateShieldPreset(ctx, shieldPreset(channelID))
			return err
		}},
		{platformv1.ChatService_PostMessage_FullMethodName, func(ctx context.Context) error {
			_, err := services.Chat.PostMessage(ctx, &platformv1.PostMessageRequest{ChannelId: channelID, UserId: w.people[plainStart].ID.String(), Text: held})
			if errors.Is(err, apierr.New(moderatov1.Reason_REASON_MESSAGE_HELD)) {
				return nil
			}
			return fmt.Errorf("the message is not held: %w", err)
		}},
	} {
		call, err := asUser(ctx, authenticator, serviceToken, owner, step.method)
		if err == nil {
			err = step.do(call)
		}
		if err != nil {
			return fmt.Errorf("rules of %s: %w", owner, err)
		}
	}
	return nil
}
