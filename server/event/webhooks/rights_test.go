package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestWebhookIsDisabledWhenOwnerLosesRight(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *servertest.Server){
		"no longer moderator": func(t *testing.T, s *servertest.Server) {
			call[*moderatov1.RemoveModeratorResponse](t, s, s.As(t, servertest.Owner), "DELETE", "/v1/moderation/moderators",
				servertest.Args{"channelId": servertest.Owner.String(), "userId": servertest.Moderator.String()})
		},
		"banned": func(t *testing.T, s *servertest.Server) { ban(t, s, servertest.Owner, servertest.Moderator) },
	} {
		t.Run(name, func(t *testing.T) {
			eachAlone(t, func(t *testing.T, s *servertest.Server) {
				r, mine := newReceiver(t), newReceiver(t)
				hook := create(t, s, s.As(t, servertest.Moderator), r.mine("channel.update", "channel.vip.add"))
				create(t, s, s.As(t, servertest.Owner), mine.mine("channel.update"))
				retitle(t, s, servertest.Owner, "one")
				r.next(t)
				mine.next(t)
				began := time.Now()
				lose(t, s)
				retitle(t, s, servertest.Owner, "two")
				mine.next(t)
				reason := func() string {
					for _, w := range list(t, s, s.As(t, servertest.Owner), servertest.Owner) {
						if w.GetId() == hook.GetId() {
							return w.GetDisabledReason()
						}
					}
					return "not listed"
				}
				eventually(t, "it is disabled", func() bool { return reason() == "right_lost" })
				if took := time.Since(began); took > 2*time.Second+servertest.Slack {
					t.Errorf("it took %s, want 2 s at most", took)
				}
				r.wantNothing(t)
				enable := servertest.Args{"webhookId": hook.GetId()}
				for _, caller := range []servertest.Credentials{s.As(t, servertest.Moderator), s.As(t, servertest.Owner)} {
					if o := both(t, s, caller, "POST", path+"/enable", enable); o.Reason != "NOT_CHANNEL_MODERATOR" {
						t.Errorf("enable: got %+v", o)
					}
				}
			})
		})
	}
}

// Events from a time without the right are not delivered later.
func TestRestoredRightExcludesEarlierEvents(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		moderator, owner := s.As(t, servertest.Moderator), s.As(t, servertest.Owner)
		hook := create(t, s, moderator, r.mine("channel.update", "channel.vip.add"))
		ban(t, s, servertest.Owner, servertest.Moderator)
		retitle(t, s, servertest.Owner, "secret")
		eventually(t, "it is disabled", func() bool { return only(t, s).GetStatus() == "disabled" })
		call[*moderatov1.RemoveBanResponse](t, s, owner, "DELETE", "/v1/moderation/ban",
			servertest.Args{"channelId": servertest.Owner.String(), "banUserId": servertest.Moderator.String()})
		enabled := call[*moderatov1.EnableWebhookResponse](t, s, moderator, "POST", path+"/enable", servertest.Args{"webhookId": hook.GetId()})
		if enabled.GetResumed() {
			t.Error("the webhook resumed where it stopped")
		}
		retitle(t, s, servertest.Owner, "after")
		if got := r.next(t); got.event.Payload["title"] != "after" {
			t.Errorf("got %s", got.body)
		}
	})
}

func TestEnabledWebhookResumes(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		r.status(http.StatusGone)
		owner := s.As(t, servertest.Owner)
		hook := create(t, s, owner, r.mine())
		retitle(t, s, servertest.Owner, "one")
		r.next(t)
		eventually(t, "it is disabled", func() bool { return only(t, s).GetStatus() == "disabled" })
		retitle(t, s, servertest.Owner, "two")
		r.answers(nil)
		args := servertest.Args{"webhookId": hook.GetId()}
		if !call[*moderatov1.EnableWebhookResponse](t, s, owner, "POST", path+"/enable", args).GetResumed() {
			t.Error("it does not go on where it stopped")
		}
		for _, title := range []string{"one", "two"} {
			if got := r.next(t); got.event.Payload["title"] != title {
				t.Errorf("got %s, want %s", got.body, title)
			}
		}
		if !call[*moderatov1.EnableWebhookResponse](t, s, owner, "POST", path+"/enable", args).GetResumed() {
			t.Error("enabling it again changes it")
		}
	})
}

func TestDeletionsRemoveWebhooks(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		create(t, s, s.As(t, servertest.Owner), r.mine())
		create(t, s, s.As(t, servertest.Moderator), servertest.Args{"url": r.URL, "channelId": servertest.Other.String()})
		every := create(t, s, s.AsService(t), servertest.Args{"url": quiet, "type": []string{"stream.online"}})
		retitle(t, s, servertest.Owner, "one")
		retitle(t, s, servertest.Other, "two")
		r.next(t)
		r.next(t)
		directory := platformv1.NewDirectoryServiceClient(s.Conn)
		if _, err := directory.DeleteChannel(s.AsService(t).Context(), &platformv1.DeleteChannelRequest{ChannelId: servertest.Owner.String()}); err != nil {
			t.Fatal(err)
		}
		if _, err := directory.DeleteUser(s.AsService(t).Context(), &platformv1.DeleteUserRequest{UserId: servertest.Moderator.String()}); err != nil {
			t.Fatal(err)
		}
		retitle(t, s, servertest.Other, "three")
		eventually(t, "the rows are gone", func() bool {
			left := storetest.Must(s.Store.Read.Webhook.Query().All(t.Context()))
			return len(left) == 1 && left[0].ID.String() == every.GetId() && storetest.Must(s.Store.Read.WebhookDelivery.Query().Count(t.Context())) == 0
		})
		r.wantNothing(t)
	})
}
