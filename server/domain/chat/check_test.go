package chat_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestFirstCheckThatRefusesEndsPost posts with three checks, of which the second refuses.
func TestFirstCheckThatRefusesEndsPost(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, _ := storetest.OpenRecorded(t, url)
		servertest.Import(t, s, servertest.World()...)
		var asked []string
		check := func(name string, refusal error) chat.PostCheck {
			return func(_ context.Context, st *chat.Standing, m chat.Message) error {
				asked = append(asked, name+" "+m.Text)
				if !st.HasUser || m.UserID != servertest.Raider {
					t.Errorf("%s: the check has the standing %v and the message %v", name, st, m)
				}
				return refusal
			}
		}
		service := &chat.Service{Store: s, Checks: []chat.PostCheck{
			check("first", nil), check("second", apierr.New(moderatov1.Reason_REASON_RATE_LIMITED)), check("third", nil),
		}}
		_, err := service.PostMessage(t.Context(), &platformv1.PostMessageRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), Text: "gg",
		})
		if e := apierr.Of(err); err == nil || e.Reason != moderatov1.Reason_REASON_RATE_LIMITED {
			t.Errorf("got the error %v, want that of the second check", err)
		}
		if want := []string{"first gg", "second gg"}; !slices.Equal(asked, want) {
			t.Errorf("the checks are %q, want %q", asked, want)
		}
		if n := storetest.Must(s.Read.Message.Query().Count(t.Context())); n != 0 {
			t.Errorf("%d messages are stored", n)
		}
	})
}

// TestSilenceIsToldBeforeBadReply posts a bad reply as a muted user.
func TestSilenceIsToldBeforeBadReply(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		r := s.REST(t, s.As(t, servertest.Moderator), http.MethodPost, "/v1/moderation/mute", fmt.Sprintf(`{"channelId":%q,"mutedUserId":%q}`, servertest.Owner, servertest.Viewer))
		if r.Status != http.StatusOK {
			t.Fatal(r.Body)
		}
		reply := fmt.Sprintf(`,"replyToMessageId":%q`, servertest.Nobody)
		want(t, "muted", post(t, s, s.As(t, servertest.Viewer), reply), 403, "USER_MUTED")
		want(t, "a mute that is no reason", post(t, s, s.As(t, servertest.Raider), reply), 400, "INVALID_ARGUMENT")
	})
}
