package rules_test

import (
	"context"
	"strings"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestModesCostNoStatement counts the statements until the last check of a post in a channel
// without modes: that which reads the sender, and no other.
func TestModesCostNoStatement(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, recorder := storetest.OpenRecorded(t, url)
		servertest.Import(t, s, servertest.World()...)
		last := func(context.Context, *chat.Standing, chat.Message) error {
			return apierr.New(moderatov1.Reason_REASON_RATE_LIMITED)
		}
		service := &chat.Service{Store: s, Checks: append(rules.Modes(s), last)}
		before := len(recorder.Sent())
		_, err := service.PostMessage(t.Context(), &platformv1.PostMessageRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), Text: "gg",
		})
		if apierr.Of(err).Reason != moderatov1.Reason_REASON_RATE_LIMITED {
			t.Fatal(err)
		}
		if sent := recorder.Sent()[before:]; len(sent) != 1 || !strings.Contains(sent[0].Text, "chat_settings") {
			t.Errorf("the statements are %v", sent)
		}
	})
}
