package requests_test

import (
	"context"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// allScopes are the scopes that there are.
var allScopes = []string{"users.read", "channel.moderate", "offline.access", "users.bot"}

// Clients and users beside the World.
const (
	granted      = servertest.Dashboard // Owner granted it every scope
	ungranted    = servertest.OtherDashboard
	otherGranted = "third-dashboard" // Owner granted it offline.access
)

var bannedModerator = uid.MustParse("0b6f0006-0000-4000-8000-00000000000f")

// caller is a caller of the table, as a kind of token.
type caller struct {
	name     string
	kind     string // user, app or service
	isActing bool   // a service token with acting-user
	id       uid.ID // of the user
	client   string
	another  uid.ID // the other user or channel that the caller names
}

// String describes the caller in the messages of a test.
func (c *caller) String() string {
	if c.isActing && c.name != "backend for nobody" {
		return "backend for " + c.name
	}
	return c.name
}

// callers returns the callers of the table, each with the kinds of its tokens.
func callers() []*caller {
	var all []*caller
	for _, user := range []struct {
		name        string
		id, another uid.ID
	}{
		{"owner", servertest.Owner, servertest.Other},
		{"moderator", servertest.Moderator, servertest.Owner},
		{"banned moderator", bannedModerator, servertest.Owner},
		{"viewer", servertest.Viewer, servertest.Owner},
	} {
		all = append(all,
			&caller{name: user.name, kind: "user", id: user.id, client: granted, another: user.another},
			&caller{name: user.name, kind: "service", isActing: true, id: user.id, client: servertest.ChatServer, another: user.another})
	}
	return append(all,
		&caller{name: "app", kind: "app", client: granted, another: servertest.Owner},
		&caller{name: "app without a grant", kind: "app", client: ungranted, another: servertest.Owner},
		&caller{name: "app with another grant", kind: "app", client: otherGranted, another: servertest.Owner},
		&caller{name: "backend", kind: "service", client: servertest.ChatServer, another: servertest.Owner},
		&caller{name: "backend for nobody", kind: "service", isActing: true, id: servertest.Nobody, client: servertest.ChatServer, another: servertest.Owner},
	)
}

// scopes returns the scopes with which the caller's token is tried, one at a time.
func (c *caller) scopes() []string {
	if c.kind == "service" { // it has every scope
		return []string{""}
	}
	return append([]string{""}, allScopes...)
}

// named returns the id that a caller names, and whether it names one.
func (c *caller) named(column string) (uid.ID, bool) {
	switch column {
	case "own":
		return c.id, true
	case "another's":
		return c.another, true
	case "absent":
		return servertest.Nobody, true
	}
	return uid.ID{}, false
}

// scene is a server with the callers of the table.
type scene struct {
	*servertest.Server

	tokens  map[string]servertest.Credentials
	invalid map[string]identification // credentials that are refused
	made    map[string]string         // ids of webhooks and subscriptions
}

// newScene starts a server.
func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{Server: servertest.Start(t, servertest.Config(storetest.SQLite(t))), tokens: map[string]servertest.Credentials{}, made: map[string]string{}}
	s.Load(t, servertest.World()...)
	grant := func(client string, scopes ...string) *platformv1.Record {
		return &platformv1.Record{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
			ClientId: client, UserId: servertest.Owner.String(), Scopes: scopes,
		}}}
	}
	s.Load(t,
		&platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: bannedModerator.String(), Username: "banned_moderator"}}},
		&platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: servertest.Owner.String(), UserId: bannedModerator.String(), Role: "moderator",
		}}},
		&platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{Id: otherGranted, Name: "Third dashboard"}}},
		grant(granted, allScopes...), grant(otherGranted, "offline.access"),
	)
	_, outcome := s.CallREST(t, s.As(t, servertest.Owner), "POST", "/v1/moderation/ban", servertest.Args{
		"channelId": servertest.Owner.String(), "banUserId": bannedModerator.String(),
	})
	if outcome.Reason != "OK" {
		t.Fatal(outcome)
	}
	return s
}

// credentials returns the credentials of a caller whose token has a scope, or none.
func (s *scene) credentials(t *testing.T, c *caller, scope string) servertest.Credentials {
	t.Helper()
	key := c.String() + "/" + scope
	if known, ok := s.tokens[key]; ok {
		return known
	}
	n := authn.NewToken{Kind: authn.Kind(c.kind), ClientID: c.client, Scopes: strings.Fields(scope)}
	if c.kind == "user" {
		n.UserID = c.id
	}
	issued := s.Token(t, n)
	if c.isActing {
		issued.ActingUser = c.id
	}
	s.tokens[key] = issued
	return issued
}

// identification is the headers with which a caller identifies itself.
type identification struct{ authorization, clientID, actingUser string }

func identify(c servertest.Credentials) identification {
	i := identification{authorization: "Bearer " + c.Token, clientID: c.ClientID}
	if !c.ActingUser.IsZero() {
		i.actingUser = c.ActingUser.String()
	}
	return i
}

// refused returns the credentials of the table that are refused.
func (s *scene) refused(t *testing.T) map[string]identification {
	t.Helper()
	valid := identify(s.As(t, servertest.Owner))
	expired := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: granted, UserID: servertest.Owner, Scopes: allScopes, Lifetime: time.Minute})
	s.Store.Clock.Advance(time.Hour)
	revoked := s.As(t, servertest.Owner)
	if _, err := authn.Revoke(context.Background(), s.Store, revoked.Token, nil); err != nil {
		t.Fatal(err)
	}
	unknown, err := authn.NewText(authn.User)
	if err != nil {
		t.Fatal(err)
	}
	anonymous, basic, damaged, unnamed, mismatched := valid, valid, valid, valid, valid
	anonymous.authorization = ""
	basic.authorization = strings.Replace(valid.authorization, "Bearer", "Basic", 1)
	last := valid.authorization[len(valid.authorization)-1:]
	damaged.authorization = strings.TrimSuffix(valid.authorization, last) + map[bool]string{true: "b", false: "a"}[last == "a"]
	unnamed.clientID, mismatched.clientID = "", ungranted
	return map[string]identification{
		"none": anonymous, "not a Bearer token": basic, "a damaged token": damaged,
		"a token that was never issued": {authorization: "Bearer " + unknown, clientID: granted},
		"a revoked token":               identify(revoked), "an expired token": identify(expired),
		"no client": unnamed, "another client": mismatched,
	}
}
