package webhooks_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// start starts a server with the World on SQLite.
func start(t *testing.T) *servertest.Server {
	t.Helper()
	s := servertest.Start(t, config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	return s
}

// quiet is an address that receives nothing unless a test emits events.
const quiet = "https://hooks.example.com/moderato"

// urls is the number of the last URL that another returned.
var urls atomic.Int64

// another returns an address like quiet, of which there is no webhook yet.
func another() string { return fmt.Sprintf("%s?n=%d", quiet, urls.Add(1)) }

// both makes a call on both transports, and checks that the results are equal.
func both(t *testing.T, s *servertest.Server, c servertest.Credentials, method, path string, args servertest.Args) servertest.Outcome {
	t.Helper()
	_, rest := s.CallREST(t, c, method, path, args)
	_, grpc := s.CallGRPC(t, c, method, path, args)
	if rest.Reason != grpc.Reason || !slices.Equal(rest.Violations, grpc.Violations) {
		t.Errorf("%s %s: %+v over REST, %+v over gRPC", method, path, rest, grpc)
	}
	return rest
}

func TestSecretFollowsStandardWebhooks(t *testing.T) {
	t.Parallel()
	s := start(t)
	secret := create(t, s, s.As(t, servertest.Owner), servertest.Args{"url": quiet}).GetSecret()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if !strings.HasPrefix(secret, "whsec_") || err != nil || len(key) != 32 {
		t.Errorf("got %q", secret)
	}
}

func TestWebhookAuthorization(t *testing.T) {
	t.Parallel()
	s := start(t)
	narrow := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{authn.UsersRead}})
	backend := s.AsService(t)
	acting := backend
	acting.ActingUser = servertest.Viewer
	for _, c := range []struct {
		name    string
		caller  servertest.Credentials
		channel uid.ID // zero: the call names no channel
		want    string // when a webhook for bans is created
		list    string // when webhooks are listed, unless it is the same
	}{
		{"owner", s.As(t, servertest.Owner), servertest.Owner, "OK", ""},
		{"owner, not named", s.As(t, servertest.Owner), uid.ID{}, "OK", ""},
		{"owner of another channel", s.As(t, servertest.Owner), servertest.Other, "NOT_CHANNEL_MODERATOR", "OK"},
		{"moderator", s.As(t, servertest.Moderator), servertest.Other, "OK", ""},
		{"moderator without a channel, not named", s.As(t, servertest.Moderator), uid.ID{}, "CHANNEL_NOT_FOUND", ""},
		{"viewer", s.As(t, servertest.Viewer), servertest.Owner, "NOT_CHANNEL_MODERATOR", "OK"},
		{"viewer, unknown channel", s.As(t, servertest.Viewer), servertest.Nobody, "NOT_CHANNEL_MODERATOR", "CHANNEL_NOT_FOUND"},
		{"without the scope", narrow, servertest.Owner, "SCOPE_MISSING", "OK"},
		{"app", s.AsApp(t), servertest.Owner, "TOKEN_KIND_NOT_ACCEPTED", "OK"},
		{"backend", backend, servertest.Owner, "OK", ""},
		{"backend, every channel", backend, uid.ID{}, "OK", ""},
		{"backend, unknown channel", backend, servertest.Nobody, "CHANNEL_NOT_FOUND", ""},
		{"backend for a viewer", acting, servertest.Owner, "NOT_CHANNEL_MODERATOR", "OK"},
		{"no token", servertest.Credentials{}, servertest.Owner, "TOKEN_MISSING", ""},
	} {
		create, list := servertest.Args{"type": []string{"channel.ban"}}, servertest.Args{}
		if !c.channel.IsZero() {
			create["channelId"], list["channelId"] = c.channel.String(), c.channel.String()
		}
		create["url"] = another()
		_, rest := s.CallREST(t, c.caller, "POST", path, create)
		create["url"] = another()
		if _, grpc := s.CallGRPC(t, c.caller, "POST", path, create); rest.Reason != c.want || grpc.Reason != c.want {
			t.Errorf("%s: create: got %+v over REST and %+v over gRPC, want %s", c.name, rest, grpc, c.want)
		}
		want := c.want
		if c.list != "" {
			want = c.list
		}
		if o := both(t, s, c.caller, "GET", path, list); o.Reason != want {
			t.Errorf("%s: list: got %+v, want %s", c.name, o, want)
		}
	}
}

// named are the operations on one webhook.
var named = []struct{ method, path string }{
	{"GET", path + "/deliveries"}, {"POST", path + "/redeliver"}, {"POST", path + "/enable"},
	{"POST", path + "/rotate-secret"}, {"DELETE", path},
}

func TestWebhookOfAnotherCallerIsNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner, moderator := s.As(t, servertest.Owner), s.As(t, servertest.Moderator)
	ofOwner := create(t, s, owner, servertest.Args{"url": quiet})
	ofModerator := create(t, s, moderator, servertest.Args{"url": quiet, "channelId": servertest.Owner.String()})
	ofBackend := create(t, s, s.AsService(t), servertest.Args{"url": quiet, "channelId": servertest.Owner.String()})
	for _, c := range []struct {
		name   string
		caller servertest.Credentials
		hook   string
		exists bool
	}{
		{"moderator, the owner's", moderator, ofOwner.GetId(), false},
		{"moderator, the backend's", moderator, ofBackend.GetId(), false},
		{"owner, the backend's", owner, ofBackend.GetId(), false},
		{"owner of another channel", s.As(t, servertest.Other), ofOwner.GetId(), false},
		{"nobody's", owner, servertest.Nobody.String(), false},
		{"owner, the moderator's", owner, ofModerator.GetId(), true},
		{"backend, the owner's", s.AsService(t), ofOwner.GetId(), true},
	} {
		for _, op := range named {
			if c.exists && op.path == path { // later cases need these webhooks
				continue
			}
			args := servertest.Args{"webhookId": c.hook, "eventId": servertest.Nobody.String()}
			if op.path != path+"/redeliver" {
				delete(args, "eventId")
			}
			want := "WEBHOOK_NOT_FOUND"
			if c.exists && op.path == path+"/redeliver" {
				want = "EVENT_NOT_FOUND"
			} else if c.exists {
				want = "OK"
			}
			if o := both(t, s, c.caller, op.method, op.path, args); o.Reason != want {
				t.Errorf("%s: %s %s: got %+v, want %s", c.name, op.method, op.path, o, want)
			}
		}
	}
	seen := func(c servertest.Credentials) (ids []string) {
		for _, w := range list(t, s, c, servertest.Owner) {
			ids = append(ids, w.GetId())
		}
		return ids
	}
	if got, want := seen(owner), []string{ofOwner.GetId(), ofModerator.GetId()}; !slices.Equal(got, want) {
		t.Errorf("the owner sees %v, want %v", got, want)
	}
	if got, want := seen(moderator), []string{ofModerator.GetId()}; !slices.Equal(got, want) {
		t.Errorf("the moderator sees %v, want %v", got, want)
	}
	if got := seen(s.AsService(t)); len(got) != 3 {
		t.Errorf("the backend sees %v, want 3", got)
	}
}

func TestInvalidArgumentsAreReported(t *testing.T) {
	t.Parallel()
	s := start(t)
	strict := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	strict.Load(t, servertest.World()...)
	for _, c := range []struct {
		server       *servertest.Server
		method, path string
		args         servertest.Args
		want         []string // the fields
	}{
		{s, "POST", path, servertest.Args{}, []string{"url"}},
		{s, "POST", path, servertest.Args{"url": "ftp://x.example/", "channelId": "x", "type": []string{"channel.ban", "channel.bun"}}, []string{"channelId", "url", "type[1]"}},
		{s, "POST", path, servertest.Args{"url": "https:///x"}, []string{"url"}},
		{s, "POST", path, servertest.Args{"url": "https://u:p@x.example/"}, []string{"url"}},
		{s, "POST", path, servertest.Args{"url": "https://x.example/#f"}, []string{"url"}},
		{s, "POST", path, servertest.Args{"url": "https://x.example:0/"}, []string{"url"}},
		{s, "POST", path, servertest.Args{"url": "https://x.example:99999/"}, []string{"url"}},
		{s, "POST", path, servertest.Args{"url": "https://xn--a/"}, []string{"url"}},
		{s, "POST", path, servertest.Args{"url": "https://x.example/" + strings.Repeat("x", 2048)}, []string{"url"}},
		{s, "POST", path, servertest.Args{"url": quiet, "type": slices.Repeat([]string{"channel.ban"}, 101)}, []string{"type"}},
		{strict, "POST", path, servertest.Args{"url": "http://x.example/"}, []string{"url"}},
		{s, "GET", path, servertest.Args{"channelId": "x"}, []string{"channelId"}},
		{s, "DELETE", path, servertest.Args{"webhookId": "x"}, []string{"webhookId"}},
		{s, "POST", path + "/rotate-secret", servertest.Args{}, []string{"webhookId"}},
		{s, "POST", path + "/enable", servertest.Args{}, []string{"webhookId"}},
		{s, "POST", path + "/redeliver", servertest.Args{"eventId": "x"}, []string{"webhookId", "eventId"}},
		{s, "GET", path + "/deliveries", servertest.Args{"limit": 101}, []string{"webhookId", "limit"}},
	} {
		o := both(t, c.server, c.server.As(t, servertest.Owner), c.method, c.path, c.args)
		var got []string
		for _, v := range o.Violations {
			got = append(got, strings.Fields(v)[0])
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if o.Reason != "INVALID_ARGUMENT" || !slices.Equal(got, c.want) {
			t.Errorf("%s %s %v: got %+v, want %v", c.method, c.path, c.args, o, c.want)
		}
	}
	hook := create(t, s, s.As(t, servertest.Owner), servertest.Args{"url": quiet})
	args := servertest.Args{"webhookId": hook.GetId(), "cursor": "x"}
	if o := both(t, s, s.As(t, servertest.Owner), "GET", path+"/deliveries", args); o.Reason != "CURSOR_INVALID" {
		t.Errorf("got %+v", o)
	}
}

func TestUserWithoutChannelMustNameChannel(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Load(t, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: servertest.Nobody.String(), Username: "nobody"}}})
	as := s.As(t, servertest.Nobody)
	for named, want := range map[string]string{
		"": "You have no channel of your own; name the channel with channelId.", servertest.Nobody.String(): "There is no channel with this id; the id of a channel is the user id of its owner.",
	} {
		posted := s.REST(t, as, "POST", path, fmt.Sprintf(`{"url":%q,"channelId":%q}`, quiet, named))
		listed := s.REST(t, as, "GET", path+"?channelId="+named, "")
		for _, r := range []servertest.Response{posted, listed} {
			if !strings.Contains(r.Body, want) || !strings.Contains(r.Body, `"CHANNEL_NOT_FOUND"`) {
				t.Errorf("channelId %q: got %s, want %s", named, r.Body, want)
			}
		}
	}
}

func TestWebhooksPerChannelAreLimited(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		owner := s.As(t, servertest.Owner)
		for range 20 {
			create(t, s, owner, servertest.Args{"url": another()})
		}
		if o := both(t, s, owner, "POST", path, servertest.Args{"url": another()}); o.Reason != "WEBHOOK_LIMIT_REACHED" {
			t.Errorf("got %+v", o)
		}
		create(t, s, s.AsService(t), servertest.Args{"url": quiet, "channelId": servertest.Owner.String()})
		call[*moderatov1.DeleteWebhookResponse](t, s, owner, "DELETE", path, servertest.Args{"webhookId": list(t, s, owner, servertest.Owner)[0].GetId()})
		create(t, s, owner, servertest.Args{"url": another()})
	})
}

// TestSameWebhookExists creates webhooks that differ in nothing from one that exists, and in one
// thing.
func TestSameWebhookExists(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		owner, moderator, app := s.As(t, servertest.Owner), s.As(t, servertest.Moderator), s.AsApp(t)
		of := func(url string, types ...string) servertest.Args {
			return servertest.Args{"url": url, "type": types, "channelId": servertest.Owner.String()}
		}
		first := create(t, s, owner, of("https://Hooks.example.com:443?q=ä", "channel.update", "stream.online"))
		if want := "https://hooks.example.com/?q=%C3%A4"; first.GetUrl() != want {
			t.Errorf("the URL is %q, want %q", first.GetUrl(), want)
		}
		same := of("https://hooks.example.com/?q=%C3%A4", "stream.online", "channel.update")
		wantExists := func(what string, o servertest.Outcome) {
			t.Helper()
			if o.Reason != "WEBHOOK_EXISTS" || o.Metadata["webhookId"] != first.GetId() {
				t.Errorf("%s: got %+v", what, o)
			}
		}
		wantExists("the same", both(t, s, owner, "POST", path, same))
		disable(t, s, first.GetId(), "failing")
		wantExists("the same, which is disabled", both(t, s, owner, "POST", path, same))
		create(t, s, moderator, same)
		create(t, s, app, same)
		create(t, s, owner, of("https://hooks.example.com/", "channel.update", "stream.online"))
		create(t, s, owner, of("https://hooks.example.com/?q=%C3%A4", "channel.update"))
		create(t, s, owner, of("https://hooks.example.com/?q=%C3%A4"))
		call[*moderatov1.DeleteWebhookResponse](t, s, owner, "DELETE", path, servertest.Args{"webhookId": first.GetId()})
		create(t, s, owner, same)
	})
}

func TestDeletedWebhookReceivesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		ended, going := newReceiver(t), newReceiver(t)
		hook := create(t, s, s.As(t, servertest.Owner), ended.mine())
		create(t, s, s.As(t, servertest.Owner), going.mine())
		retitle(t, s, servertest.Owner, "one")
		ended.next(t)
		going.next(t)
		call[*moderatov1.DeleteWebhookResponse](t, s, s.As(t, servertest.Owner), "DELETE", path, servertest.Args{"webhookId": hook.GetId()})
		retitle(t, s, servertest.Owner, "two")
		going.next(t)
		ended.wantNothing(t)
		if n := len(list(t, s, s.As(t, servertest.Owner), servertest.Owner)); n != 1 {
			t.Errorf("%d are listed, want 1", n)
		}
		eventually(t, "its rows are gone", func() bool {
			hooks, deliveries := storetest.Must(s.Store.Read.Webhook.Query().Count(t.Context())), storetest.Must(s.Store.Read.WebhookDelivery.Query().Count(t.Context()))
			return hooks == 1 && deliveries == 2
		})
	})
}

func TestRotatedSecretSignsWithFormerForADay(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		owner := s.As(t, servertest.Owner)
		hook := create(t, s, owner, r.mine())
		rotated := call[*moderatov1.RotateWebhookSecretResponse](t, s, owner, "POST", path+"/rotate-secret", servertest.Args{"webhookId": hook.GetId()})
		if left := time.Until(rotated.GetFormerSecretExpiresAt().AsTime()); rotated.GetSecret() == hook.GetSecret() || left < 23*time.Hour || left > 24*time.Hour {
			t.Fatalf("got %v", rotated)
		}
		retitle(t, s, servertest.Owner, "one")
		got := r.next(t)
		if n := len(strings.Fields(got.header.Get("Webhook-Signature"))); n != 2 || verify(hook.GetSecret(), got) != nil || verify(rotated.GetSecret(), got) != nil {
			t.Errorf("got %q, want the signatures of both", got.header.Get("Webhook-Signature"))
		}
		s.Store.Clock.Advance(24 * time.Hour)
		retitle(t, s, servertest.Owner, "two")
		got = r.next(t)
		if verify(hook.GetSecret(), got) == nil || verify(rotated.GetSecret(), got) != nil {
			t.Errorf("got %q, want that of the new one", got.header.Get("Webhook-Signature"))
		}
	})
}
