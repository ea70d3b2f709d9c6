package webhooks_test

import (
	"slices"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// grant sets what the owner grants to the client of apps.
func grant(t *testing.T, s *servertest.Server, scopes ...string) {
	t.Helper()
	_, err := s.Access.PutGrant(s.AsService(t).Context(), &platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{
		ClientId: servertest.Dashboard, UserId: servertest.Owner.String(), Scopes: scopes,
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// follow emits channel.follow in Owner's channel.
func follow(t *testing.T, s *servertest.Server) {
	t.Helper()
	about := &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()}
	if _, err := s.Audience.Follow(s.AsService(t).Context(), about); err != nil {
		t.Fatal(err)
	}
}

// TestWebhookOfAppNeedsTheGrant ends the grant of an app that has a webhook for follows, and
// one for a public type.
func TestWebhookOfAppNeedsTheGrant(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		app := s.AsApp(t)
		grant(t, s, authn.UsersRead)
		ofFollows, ofUpdates := newReceiver(t), newReceiver(t)
		hook := create(t, s, app, ofFollows.mine("channel.follow", "channel.update"))
		create(t, s, app, ofUpdates.mine("channel.update"))
		retitle(t, s, servertest.Owner, "with the grant")
		ofFollows.wantNext(t, "channel.update")
		ofUpdates.wantNext(t, "channel.update")

		grant(t, s)
		follow(t, s)
		retitle(t, s, servertest.Owner, "without it")
		ofUpdates.wantNext(t, "channel.update")
		reasons := func() (all []string) {
			for _, w := range list(t, s, app, servertest.Owner) {
				all = append(all, w.GetDisabledReason())
				if w.GetClientId() != servertest.Dashboard || w.UserId != nil {
					t.Errorf("the webhook is that of %v", w)
				}
			}
			return all
		}
		eventually(t, "it is disabled", func() bool { return slices.Equal(reasons(), []string{"right_lost", ""}) })
		ofFollows.wantNothing(t)
		enable := servertest.Args{"webhookId": hook.GetId()}
		for _, caller := range []servertest.Credentials{app, s.AsService(t)} {
			if o := both(t, s, caller, "POST", path+"/enable", enable); o.Reason != "GRANT_MISSING" || o.Metadata["requiredScope"] != authn.UsersRead {
				t.Errorf("enable: got %+v", o)
			}
		}
		grant(t, s, authn.UsersRead)
		if call[*moderatov1.EnableWebhookResponse](t, s, app, "POST", path+"/enable", enable).GetResumed() {
			t.Error("the webhook resumed where it stopped")
		}
		retitle(t, s, servertest.Owner, "with it again")
		if got := ofFollows.next(t); got.event.Payload["title"] != "with it again" {
			t.Errorf("got %s", got.body)
		}
	})
}

// TestWebhooksOfAppsAndViewersAreTheirOwn checks who sees the webhooks of an app and of a
// viewer, and that they go with the client, while those of other clients stay.
func TestWebhooksOfAppsAndViewersAreTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		app, viewer := s.AsApp(t), s.As(t, servertest.Viewer)
		public := servertest.Args{"channelId": servertest.Owner.String(), "url": quiet, "type": []string{"channel.update"}}
		ofApp, ofViewer := create(t, s, app, public).GetId(), create(t, s, viewer, public).GetId()
		otherChannel := create(t, s, app, servertest.Args{"channelId": servertest.Other.String(), "url": quiet, "type": []string{"stream.online"}}).GetId()
		other := s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.OtherDashboard, Scopes: authn.Scopes()})
		for name, c := range map[string]struct {
			caller servertest.Credentials
			want   []string
		}{
			"the app": {app, []string{ofApp}}, "the viewer": {viewer, []string{ofViewer}},
			"another app": {other, nil}, "the owner": {s.As(t, servertest.Owner), nil},
			// The client is that of the app, but users do not see its webhooks.
			"a moderator": {s.As(t, servertest.Moderator), nil}, "a backend": {s.AsService(t), []string{ofApp, ofViewer}},
		} {
			var got []string
			for _, w := range list(t, s, c.caller, servertest.Owner) {
				got = append(got, w.GetId())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s sees %v, want %v", name, got, c.want)
			}
			for _, id := range []string{ofApp, ofViewer} {
				want := "WEBHOOK_NOT_FOUND"
				if slices.Contains(c.want, id) {
					want = "OK"
				}
				if o := both(t, s, c.caller, "GET", path+"/deliveries", servertest.Args{"webhookId": id}); o.Reason != want {
					t.Errorf("%s, deliveries: got %s, want %s", name, o.Reason, want)
				}
			}
		}
		var all []string
		for _, w := range call[*moderatov1.ListWebhooksResponse](t, s, app, "GET", path, servertest.Args{}).GetWebhooks() {
			all = append(all, w.GetId())
		}
		if !slices.Equal(all, []string{ofApp, otherChannel}) {
			t.Errorf("the app has %v", all)
		}
		ofBackend := create(t, s, s.AsService(t), public).GetId()
		if _, err := s.Access.DeleteClient(s.AsService(t).Context(), &platformv1.DeleteClientRequest{ClientId: servertest.Dashboard}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the webhooks that were created through the client are gone", func() bool {
			left := storetest.Must(s.Store.Read.Webhook.Query().All(t.Context()))
			return len(left) == 1 && left[0].ID.String() == ofBackend
		})
	})
}

// TestWebhooksOfStrangersAreLimited has a viewer and an app create as many webhooks as each
// may. The people of the channel have a limit of their own.
func TestWebhooksOfStrangersAreLimited(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		public := servertest.Args{"channelId": servertest.Owner.String(), "type": []string{"channel.update"}}
		for name, caller := range map[string]servertest.Credentials{"viewer": s.As(t, servertest.Viewer), "app": s.AsApp(t)} {
			for range 20 {
				public["url"] = another()
				create(t, s, caller, public)
			}
			public["url"] = another()
			if o := both(t, s, caller, "POST", path, public); o.Reason != "WEBHOOK_LIMIT_REACHED" {
				t.Errorf("%s: got %+v", name, o)
			}
		}
		// A viewer's limit is that of all channels, and an app's is that of each.
		public["channelId"] = servertest.Other.String()
		if o := both(t, s, s.As(t, servertest.Viewer), "POST", path, public); o.Reason != "WEBHOOK_LIMIT_REACHED" {
			t.Errorf("viewer, another channel: got %+v", o)
		}
		create(t, s, s.AsApp(t), public)
		public["channelId"] = servertest.Owner.String()
		create(t, s, s.As(t, servertest.Raider), public)
		create(t, s, s.As(t, servertest.Owner), public)
	})
}

// TestPublicWebhookOutlivesTheRole removes a moderator who has a webhook for a public type.
func TestPublicWebhookOutlivesTheRole(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		create(t, s, s.As(t, servertest.Moderator), r.mine("channel.update"))
		ban(t, s, servertest.Owner, servertest.Moderator)
		retitle(t, s, servertest.Owner, "heard")
		r.wantNext(t, "channel.update")
	})
}

// TestManagingAWebhookNeedsItsTypes calls the operations on a webhook for bans with tokens
// that may not hear of bans. Whoever created the webhook can delete it nevertheless.
func TestManagingAWebhookNeedsItsTypes(t *testing.T) {
	t.Parallel()
	s := start(t)
	moderator := s.As(t, servertest.Moderator)
	hook := create(t, s, moderator, servertest.Args{"channelId": servertest.Owner.String(), "url": quiet, "type": []string{"channel.ban"}})
	narrow := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{authn.UsersRead}})
	ban(t, s, servertest.Owner, servertest.Moderator)
	for _, op := range named {
		if op.method == "DELETE" {
			continue
		}
		args := servertest.Args{"webhookId": hook.GetId()}
		if op.path == path+"/redeliver" {
			args["eventId"] = servertest.Nobody.String()
		}
		if o := both(t, s, moderator, op.method, op.path, args); o.Reason != "NOT_CHANNEL_MODERATOR" {
			t.Errorf("%s, a banned moderator: got %+v", op.path, o)
		}
		if o := both(t, s, narrow, op.method, op.path, args); o.Reason != "SCOPE_MISSING" || o.Metadata["requiredScope"] != authn.ChannelModerate {
			t.Errorf("%s, the owner without the scope: got %+v", op.path, o)
		}
	}
	call[*moderatov1.DeleteWebhookResponse](t, s, moderator, "DELETE", path, servertest.Args{"webhookId": hook.GetId()})
}
