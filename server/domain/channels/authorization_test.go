package channels_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// group is a set of operations with equal requirements: a column of the matrix.
type group int

const (
	channelList group = iota // of all channels: there is no channelId
	content                  // clips, VODs and raids of any channel
	state                    // counters, live state and role holders of the authorized channel
	votes                    // like state, but a user too must name the channel
	followed                 // of the token's user: there is no channelId
	people                   // audience, bans and activities of the authorized channel
	roleChange               // of the owner's channel, which must be named
	infoChange               // of the authorized channel
	groups
)

// channelsOperations are all operations with their scopes.
var channelsOperations = []struct {
	method, path string // the path without /v1
	group        group
	scope        string
	args         servertest.Args // without channelId
}{
	{"GET", "/channels", channelList, authn.UsersRead, nil},
	{"GET", "/categories", channelList, "", nil},
	{"GET", "/emotes/blaze", channelList, "", nil},
	{"GET", "/channels/clips", content, authn.UsersRead, nil},
	{"GET", "/channels/vods", content, authn.UsersRead, nil},
	{"GET", "/channels/raids", content, authn.UsersRead, nil},
	{"GET", "/channels/stream-info", state, authn.UsersRead, nil},
	{"GET", "/channels/stats", state, authn.UsersRead, nil},
	{"GET", "/channels/live-stats", state, authn.UsersRead, nil},
	{"GET", "/channels/roles/vips", state, authn.UsersRead, nil},
	{"GET", "/channels/roles/mods", state, authn.UsersRead, nil},
	{"GET", "/channels/roles/ogs", state, authn.UsersRead, nil},
	{"GET", "/channels/votes", votes, authn.UsersRead, servertest.Args{"epoch": "all"}},
	{"GET", "/channels/followed", followed, authn.UsersRead, nil},
	{"GET", "/channels/followers", people, authn.UsersRead, nil},
	{"GET", "/channels/subscribers", people, authn.UsersRead, nil},
	{"GET", "/channels/banned-users", people, authn.UsersRead, nil},
	{"GET", "/channels/activities", people, authn.UsersRead, nil},
	{"POST", "/channels/vips", roleChange, authn.ChannelModerate, servertest.Args{"userId": servertest.Raider.String()}},
	{"DELETE", "/channels/vips", roleChange, authn.ChannelModerate, servertest.Args{"userId": servertest.Raider.String()}},
	{"POST", "/channels/ogs", roleChange, authn.ChannelModerate, servertest.Args{"userId": servertest.Raider.String()}},
	{"DELETE", "/channels/ogs", roleChange, authn.ChannelModerate, servertest.Args{"userId": servertest.Raider.String()}},
	{"POST", "/channels/info", infoChange, authn.ChannelModerate, servertest.Args{"title": "a", "lang": "en"}},
}

// channelsCaller is a row of the matrix: the caller, the channel that the caller names,
// and the result of each group of operations if the token has the scope.
type channelsCaller struct {
	name  string
	kind  authn.Kind // empty: no token at all
	user  uid.ID     // the user of the token, or the acting user sent with it
	names uid.ID     // zero: no channelId
	want  [groups]string
}

// channelsCallers is section 5 of docs/interface.md with the additions of
// docs/decisions.md, written out. Moderators and viewers have equal rights here: they
// have no channel of their own, and no right in another channel.
func channelsCallers() []channelsCaller {
	const (
		fine = "OK"
		kind = "TOKEN_KIND_NOT_ACCEPTED"
		owns = "NOT_CHANNEL_OWNER"
		gone = "CHANNEL_NOT_FOUND"
		args = "INVALID_ARGUMENT" // channelId is required
		none = "TOKEN_MISSING"
	)
	var (
		owner, moderator, viewer = servertest.Owner, servertest.Moderator, servertest.Viewer
		other, nobody            = servertest.Other, servertest.Nobody
		nothing                  uid.ID
	)
	return []channelsCaller{
		// Columns: channels, content, state, votes, followed, people, role change, info change.
		{"owner, own channel", authn.User, owner, owner, [groups]string{fine, fine, fine, fine, fine, fine, fine, fine}},
		{"owner, no channel named", authn.User, owner, nothing, [groups]string{fine, args, fine, args, fine, fine, args, fine}},
		{"owner, another's channel", authn.User, owner, other, [groups]string{fine, fine, owns, owns, fine, owns, owns, owns}},
		{"owner, unknown channel", authn.User, owner, nobody, [groups]string{fine, gone, owns, owns, fine, owns, owns, owns}},

		{"moderator, the moderated channel", authn.User, moderator, owner, [groups]string{fine, fine, owns, owns, fine, owns, owns, owns}},
		{"moderator, no channel named", authn.User, moderator, nothing, [groups]string{fine, args, gone, args, fine, gone, args, gone}},

		{"other channel's owner, this channel", authn.User, other, owner, [groups]string{fine, fine, owns, owns, fine, owns, owns, owns}},
		{"other channel's owner, own channel", authn.User, other, other, [groups]string{fine, fine, fine, fine, fine, fine, fine, fine}},
		{"other channel's owner, no channel named", authn.User, other, nothing, [groups]string{fine, args, fine, args, fine, fine, args, fine}},

		{"viewer, another's channel", authn.User, viewer, owner, [groups]string{fine, fine, owns, owns, fine, owns, owns, owns}},
		{"user without a channel, no channel named", authn.User, viewer, nothing, [groups]string{fine, args, gone, args, fine, gone, args, gone}},
		{"user without a channel, own id", authn.User, viewer, viewer, [groups]string{fine, gone, gone, gone, fine, gone, gone, gone}},

		{"app, any channel", authn.App, nothing, owner, [groups]string{fine, fine, fine, fine, kind, kind, kind, kind}},
		{"app, no channel named", authn.App, nothing, nothing, [groups]string{fine, args, args, args, kind, kind, kind, kind}},
		{"app, unknown channel", authn.App, nothing, nobody, [groups]string{fine, gone, gone, gone, kind, kind, kind, kind}},
		// acting-user of an app is ignored.
		{"app that claims to act for the owner, no channel named", authn.App, owner, nothing, [groups]string{fine, args, args, args, kind, kind, kind, kind}},

		{"backend, any channel", authn.Service, nothing, owner, [groups]string{fine, fine, fine, fine, kind, kind, kind, kind}},
		{"backend, no channel named", authn.Service, nothing, nothing, [groups]string{fine, args, args, args, kind, kind, kind, kind}},
		{"backend, unknown channel", authn.Service, nothing, nobody, [groups]string{fine, gone, gone, gone, kind, kind, kind, kind}},

		{"backend for the owner, own channel", authn.Service, owner, owner, [groups]string{fine, fine, fine, fine, fine, fine, fine, fine}},
		{"backend for the owner, no channel named", authn.Service, owner, nothing, [groups]string{fine, args, fine, args, fine, fine, args, fine}},
		{"backend for the owner, another's channel", authn.Service, owner, other, [groups]string{fine, fine, owns, owns, fine, owns, owns, owns}},
		{"backend for a moderator, the moderated channel", authn.Service, moderator, owner, [groups]string{fine, fine, owns, owns, fine, owns, owns, owns}},
		{"backend for a moderator, no channel named", authn.Service, moderator, nothing, [groups]string{fine, args, gone, args, fine, gone, args, gone}},
		{"backend for a viewer, another's channel", authn.Service, viewer, owner, [groups]string{fine, fine, owns, owns, fine, owns, owns, owns}},
		{"backend for a viewer, no channel named", authn.Service, viewer, nothing, [groups]string{fine, args, gone, args, fine, gone, args, gone}},
		{"backend for other channel's owner, this channel", authn.Service, other, owner, [groups]string{fine, fine, owns, owns, fine, owns, owns, owns}},
		// acting-user is not looked up: an unknown user owns no channel.
		{"backend for unknown user, a channel", authn.Service, nobody, owner, [groups]string{fine, fine, owns, owns, fine, owns, owns, owns}},
		{"backend for unknown user, no channel named", authn.Service, nobody, nothing, [groups]string{fine, args, gone, args, fine, gone, args, gone}},

		{"without a token", "", nothing, owner, [groups]string{none, none, none, none, none, none, none, none}},
	}
}

// scopesOf returns the scopes with which a caller's token is tried, each with whether it
// satisfies the operation: any does if needed is empty. A backend has every scope.
func scopesOf(kind authn.Kind, needed string) map[string]bool {
	if kind != authn.User && kind != authn.App {
		return map[string]bool{"": true}
	}
	tried := map[string]bool{"": needed == ""}
	for _, scope := range authn.Scopes() {
		tried[scope] = needed == "" || scope == needed
	}
	return tried
}

// TestChannelsAuthorization calls each operation, on both transports, with each kind of
// token, each scope and each relation to the named channel. The stores share the callers.
func TestChannelsAuthorization(t *testing.T) {
	wantAllOperations(t)
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		for _, caller := range channelsCallers() {
			if !storetest.Takes(t, url, caller.name) {
				continue
			}
			tokens := map[string]servertest.Credentials{}
			for _, o := range channelsOperations {
				args := servertest.Args{}
				maps.Copy(args, o.args)
				if !caller.names.IsZero() && o.group != channelList && o.group != followed {
					args["channelId"] = caller.names.String()
				}
				for scope, has := range scopesOf(caller.kind, o.scope) {
					if _, issued := tokens[scope]; !issued {
						tokens[scope] = caller.token(t, s, scope)
					}
					want := caller.want[o.group]
					// The kind of the token is checked first, then its scopes.
					if !has && want != "TOKEN_KIND_NOT_ACCEPTED" {
						want = "SCOPE_MISSING"
					}
					name := caller.name + " with the scope " + scope + ": " + o.method + " " + "/v1" + o.path
					before := writtenEvents(t, s)
					_, rest := s.CallREST(t, tokens[scope], o.method, "/v1"+o.path, args)
					_, grpc := s.CallGRPC(t, tokens[scope], o.method, "/v1"+o.path, args)
					if rest.Reason != want {
						t.Errorf("%s: %s, want %s", name, rest.Reason, want)
					}
					if diff := cmp.Diff(rest, grpc); diff != "" {
						t.Errorf("%s (-REST +gRPC):\n%s", name, diff)
					}
					if want == "SCOPE_MISSING" && rest.Metadata["requiredScope"] != o.scope {
						t.Errorf("%s: requires the scope %q, want %q", name, rest.Metadata["requiredScope"], o.scope)
					}
					if after := writtenEvents(t, s); after != before && (want != "OK" || o.method == http.MethodGet) {
						t.Errorf("%s: %d events are written, want none", name, after-before)
					}
				}
			}
		}
	})
}

// wantAllOperations checks that channelsOperations has every operation of the contract.
func wantAllOperations(t *testing.T) {
	t.Helper()
	var got, want []string
	for _, o := range channelsOperations {
		got = append(got, o.method+" "+"/v1"+o.path)
	}
	rpcs := moderatov1.File_moderato_v1_channels_proto.Services().ByName("ChannelsService").Methods()
	for i := range rpcs.Len() {
		rule, _ := proto.GetExtension(rpcs.Get(i).Options(), annotations.E_Http).(*annotations.HttpRule)
		switch {
		case strings.Contains(rule.GetGet(), "{"): // names a channel, which anybody may read
		case rule.GetGet() != "":
			want = append(want, "GET "+rule.GetGet())
		case rule.GetPost() != "":
			want = append(want, "POST "+rule.GetPost())
		default:
			want = append(want, "DELETE "+rule.GetDelete())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("operations in the matrix (-contract +matrix):\n%s", diff)
	}
}

func (c channelsCaller) token(t *testing.T, s *servertest.Server, scope string) servertest.Credentials {
	t.Helper()
	var scopes []string
	if scope != "" {
		scopes = []string{scope}
	}
	credentials := servertest.Credentials{}
	switch c.kind {
	case authn.User:
		return s.Token(t, authn.NewToken{Kind: c.kind, ClientID: servertest.Dashboard, UserID: c.user, Scopes: scopes})
	case authn.App:
		credentials = s.Token(t, authn.NewToken{Kind: c.kind, ClientID: servertest.Dashboard, Scopes: scopes})
	case authn.Service:
		credentials = s.AsService(t)
	}
	credentials.ActingUser = c.user
	return credentials
}

// writtenEvents returns the number of events: every change writes one.
func writtenEvents(t *testing.T, s *servertest.Server) int {
	t.Helper()
	n, err := s.Store.Read.Event.Query().Count(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}
