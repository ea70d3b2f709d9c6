package hearing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/gateway/assets"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// startWithoutPictures starts a server whose users have no avatar.
func startWithoutPictures(t *testing.T) *servertest.Server {
	t.Helper()
	config := servertest.Config(storetest.SQLite(t))
	config.PublicURL, config.DefaultAvatarURL = "https://api.example.com", assets.Avatar
	s := startWith(t, config)
	for id, name := range map[uid.ID]string{servertest.Owner: "Ines", servertest.Viewer: "amara.okafor"} {
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: id.String(), Username: name, DisplayName: name}}})
	}
	return s
}

const filled = `"avatarUrl":"https://api.example.com/assets/avatar.svg"`

// TestEveryTransportFillsPictures emits events about users without an avatar. Many clients
// discard a person whose avatarUrl is empty.
func TestEveryTransportFillsPictures(t *testing.T) {
	t.Parallel()
	s := startWithoutPictures(t)
	owner := caller{name: "owner", as: s.As(t, servertest.Owner), wants: [3]string{"OK", "OK", "OK"}}
	heard := map[string]<-chan string{}
	for name, open := range listen {
		heard[name] = open(t, s, owner)
	}
	emit(t, s, servertest.Viewer)
	late := time.After(patience)
	for name, events := range heard {
		found := map[string]bool{}
		for range emitted {
			select {
			case event := <-events:
				found[typeOf(t, event)] = strings.Contains(event, filled)
				if strings.Contains(event, `"avatarUrl":""`) {
					t.Errorf("%s: an empty picture in %s", name, event)
				}
			case <-late:
				t.Fatalf("%s: got only %v", name, found)
			}
		}
		for _, kind := range []string{"channel.chat.message", "channel.follow", "channel.mute"} {
			if !found[kind] {
				t.Errorf("%s: %s has no default picture", name, kind)
			}
		}
	}
	log := s.REST(t, owner.as, http.MethodGet, "/v1/moderation/log?channelId="+servertest.Owner.String(), "")
	if log.Status != http.StatusOK || !strings.Contains(log.Body, filled) || strings.Contains(log.Body, `"avatarUrl":""`) {
		t.Errorf("the log: got %d %s", log.Status, log.Body)
	}
	var kept int
	err := store.QueryRow(t.Context(), s.Store.Read, "SELECT COUNT(*) FROM events WHERE payload LIKE ?", []any{`%"avatarUrl":""%`}, &kept)
	if err != nil || kept == 0 {
		t.Errorf("got %d stored payloads with an empty avatar (%v), want them as they were", kept, err)
	}
}

// TestResponsesHavePictures reads a user and a channel without pictures over both transports.
func TestResponsesHavePictures(t *testing.T) {
	t.Parallel()
	s := startWithoutPictures(t)
	viewer := s.As(t, servertest.Viewer)
	rest := s.REST(t, viewer, http.MethodGet, "/v1/users/profile", "")
	if rest.Status != http.StatusOK || !strings.Contains(rest.Body, filled) {
		t.Errorf("REST: got %d %s", rest.Status, rest.Body)
	}
	profile, err := moderatov1.NewUsersServiceClient(s.Conn).GetProfile(viewer.Context(), &moderatov1.GetProfileRequest{})
	if err != nil || !strings.HasSuffix(profile.GetAvatarUrl(), assets.Avatar) {
		t.Errorf("gRPC: got %v, %v", profile, err)
	}
	info := func() string {
		return s.REST(t, s.As(t, servertest.Owner), http.MethodGet, "/v1/channels/stream-info?channelId="+servertest.Owner.String(), "").Body
	}
	if got := info(); !strings.Contains(got, `"previewImgUrl":""`) {
		t.Errorf("offline: got %s, want no preview", got)
	}
	_, err = s.Streams.StartStream(s.AsService(t).Context(), &platformv1.StartStreamRequest{ChannelId: servertest.Owner.String(), Title: "live"})
	if err != nil {
		t.Fatal(err)
	}
	if got := info(); !strings.Contains(got, `"previewImgUrl":"https://api.example.com`+assets.Avatar) {
		t.Errorf("live: got %s, want the default picture", got)
	}
}

// TestAssetsAreServedToAnyone loads the default picture as a page of another origin does.
func TestAssetsAreServedToAnyone(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.CORSOrigins = []string{"https://dash.example.com"}
	config.HTTPLayer = func(next http.Handler) http.Handler { return next } // no operation of the API
	s := servertest.Start(t, config)
	r := s.Request(t, servertest.Credentials{}, http.MethodGet, assets.Avatar, "")
	r.Header.Set("Origin", "https://other.example.com")
	got := s.Do(t, r)
	if got.Status != http.StatusOK || !strings.HasPrefix(got.Body, "<svg") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	for name, want := range map[string]string{
		"Content-Type": "image/svg+xml", "X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*",
		"Cache-Control":           "public, max-age=604800",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
	} {
		if values := got.Header.Values(name); fmt.Sprint(values) != fmt.Sprint([]string{want}) {
			t.Errorf("%s: got %q, want %q", name, values, want)
		}
	}
}
