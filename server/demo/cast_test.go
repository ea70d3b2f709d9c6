package demo

import (
	"slices"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
)

func TestCastHasDocumentedRoles(t *testing.T) {
	cast := People()
	roles := map[uid.ID][]string{} // by user: "moderator in" and the channel
	for _, r := range all((*platformv1.Record).GetRole) {
		user := uid.MustParse(r.GetUserId())
		roles[user] = append(roles[user], r.GetRole()+" in "+r.GetChannelId())
	}
	users, owns := map[uid.ID]Person{}, map[uid.ID]bool{}
	for _, u := range all((*platformv1.Record).GetUser) {
		id := uid.MustParse(u.GetId())
		users[id] = Person{ID: id, Username: u.GetUsername(), DisplayName: u.GetDisplayName()}
	}
	channels := all((*platformv1.Record).GetChannel)
	for _, c := range channels {
		owns[uid.MustParse(c.GetId())] = true
	}
	raids := 0
	for _, m := range all((*platformv1.Record).GetMessage) {
		if m.GetUserId() == cast.Raider.ID.String() && m.GetChannelId() == cast.Owner.ID.String() {
			raids++
		}
	}
	service := map[string]bool{}
	for _, c := range all((*platformv1.Record).GetClient) {
		service[c.GetId()] = c.GetService()
	}
	_, hasClient := service[cast.Client]
	var granted []string
	for _, g := range all((*platformv1.Record).GetGrant) {
		if g.GetClientId() == cast.Client && slices.Contains(g.GetScopes(), "users.read") {
			granted = append(granted, g.GetUserId())
		}
	}
	for _, c := range []struct {
		promise string
		kept    bool
	}{
		{"the owner is a user", users[cast.Owner.ID] == cast.Owner},
		{"the moderator is a user", users[cast.Moderator.ID] == cast.Moderator},
		{"the viewer is a user", users[cast.Viewer.ID] == cast.Viewer},
		{"the raider is a user", users[cast.Raider.ID] == cast.Raider},
		{"the owner has the first channel", channels[0].GetId() == cast.Owner.ID.String()},
		{"the moderator moderates it", slices.Contains(roles[cast.Moderator.ID], "moderator in "+cast.Owner.ID.String())},
		{"the viewer has no role", len(roles[cast.Viewer.ID]) == 0 && !owns[cast.Viewer.ID]},
		{"the raider has no role", len(roles[cast.Raider.ID]) == 0 && !owns[cast.Raider.ID]},
		{"the raider has spammed", raids >= 5},
		{"the client is a client", hasClient && !service[cast.Client]},
		{"the service client is a service", service[cast.ServiceClient]},
		{"the client has the grants", slices.Equal(granted, []string{cast.Owner.ID.String(), cast.Moderator.ID.String(), cast.Viewer.ID.String()})},
		{"the cast is the same again", cast == People()},
	} {
		t.Run(c.promise, func(t *testing.T) {
			if !c.kept {
				t.Errorf("not so: %+v", cast)
			}
		})
	}
}

func TestBansCanBeApplied(t *testing.T) {
	cast := People()
	type standing struct{ channel, user uid.ID }
	moderates, holds := map[standing]bool{}, map[standing]bool{}
	for _, r := range all((*platformv1.Record).GetRole) {
		s := standing{uid.MustParse(r.GetChannelId()), uid.MustParse(r.GetUserId())}
		holds[s] = true
		moderates[s] = moderates[s] || r.GetRole() == "moderator"
	}
	users, channels := map[uid.ID]bool{}, map[uid.ID]bool{}
	for _, u := range all((*platformv1.Record).GetUser) {
		users[uid.MustParse(u.GetId())] = true
	}
	for _, c := range all((*platformv1.Record).GetChannel) {
		channels[uid.MustParse(c.GetId())] = true
	}
	bans, seen := Bans(), map[standing]bool{}
	for _, b := range bans {
		s := standing{b.Channel, b.User}
		for _, c := range []struct {
			what string
			ok   bool
		}{
			{"the channel exists", channels[b.Channel]},
			{"the user exists", users[b.User]},
			{"the moderator may ban", b.Moderator == b.Channel || moderates[standing{b.Channel, b.Moderator}]},
			{"the user has no role in the channel", b.User != b.Channel && !holds[s]},
			{"the user is not of the cast", !slices.Contains([]uid.ID{cast.Owner.ID, cast.Moderator.ID, cast.Viewer.ID, cast.Raider.ID}, b.User)},
			{"the user is banned there once", !seen[s]},
		} {
			if !c.ok {
				t.Errorf("%+v: not so: %s", b, c.what)
			}
		}
		seen[s] = true
	}
	if !slices.Equal(bans, Bans()) {
		t.Error("two calls differ")
	}
}
