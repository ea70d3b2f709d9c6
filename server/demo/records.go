// Package demo generates the data of `moderato serve --demo`: a small platform with
// users, channels, roles and an ongoing chat, so that a newcomer has something to
// look at.
package demo

import (
	"github.com/moderato-live/moderato/gateway/assets"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// Records returns the demo's state, in an order in which every record follows the
// records that it refers to. Only the times depend on now: the ids and everything
// else are the same at every start. Pictures are at origin, the URL of a server: those of
// emotes, clips and VODs. Users, categories and live streams have the default picture.
func Records(now instant.Instant, origin string) []*platformv1.Record {
	w, pictures := makeWorld(), origin+assets.Path
	var records []*platformv1.Record
	for _, c := range categories {
		records = append(records, c.record())
	}
	for _, p := range w.people {
		records = append(records, p.record())
	}
	ids := categoryIDs()
	for i, c := range channels {
		records = append(records, &platformv1.Record{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{
			Id: w.people[i].ID.String(), Title: c.title, Bio: c.bio, Lang: c.lang, CategoryId: ids[c.category], Tier: int64(popularity(i) / 2),
		}}})
	}
	for _, r := range w.roles {
		records = append(records, &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: w.people[r.channel].ID.String(), UserId: w.people[r.user].ID.String(), Role: r.name,
		}}})
	}
	for _, m := range w.messages {
		records = append(records, m.record(now))
	}
	records = append(records, w.emoteRecords(pictures)...)
	records = append(records, w.clients()...)
	return append(records, w.feed(now, pictures)...)
}

// clients returns the clients, and the grants of the cast to one of them.
func (w *world) clients() []*platformv1.Record {
	records := []*platformv1.Record{
		{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{
			Id: dashboardClient, Name: "Demo dashboard", Public: true, Scopes: authn.Scopes(),
			RedirectUris: []string{"http://127.0.0.1" + SignedInPath, "http://[::1]" + SignedInPath},
		}}},
		{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{Id: chatClient, Name: "Demo chat server", Service: true}}},
		{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{Id: ViewersClient, Name: "Demo viewers", Service: true}}},
	}
	for _, user := range []int{0, moderatorIndex, viewerIndex} {
		records = append(records, &platformv1.Record{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
			ClientId: dashboardClient, UserId: w.people[user].ID.String(), Scopes: []string{"users.read"},
		}}})
	}
	return records
}

func (c category) record() *platformv1.Record {
	record := &platformv1.CategoryRecord{Id: c.id, Name: c.name, Slug: c.slug}
	if c.parent != 0 {
		record.ParentId = &c.parent
	}
	return &platformv1.Record{Kind: &platformv1.Record_Category{Category: record}}
}

func (p Person) record() *platformv1.Record {
	return &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{
		Id: p.ID.String(), Username: p.Username, DisplayName: p.DisplayName,
	}}}
}

func (m message) record(now instant.Instant) *platformv1.Record {
	return &platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{
		Id: m.id.String(), ChannelId: m.channel.String(), UserId: m.user.String(), Text: m.text, SentAt: now.Add(-m.ago).Proto(),
	}}}
}
