package demo

import (
	"strings"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

const emoteAddress = "https://img.example.com/emotes/"

// noChannel is the channel of the platform's emotes.
const noChannel = -1

// emotes are the platform's emotes, and some of the first channels.
var emotes = []struct {
	channel  int
	name     string
	isPublic bool
}{
	{noChannel, "blazeHype", true}, {noChannel, "blazeGG", true}, {noChannel, "blazeSad", true},
	{0, "catStare", true}, {0, "catNap", false}, {1, "teaTime", true},
}

func (w *world) emotes() (records []*platformv1.Record) {
	r := stream(emoteStream)
	for _, e := range emotes {
		record := &platformv1.EmoteRecord{
			Id: randomID(r).String(), Name: e.name, ImageUrl: emoteAddress + strings.ToLower(e.name) + ".png", IsPublic: e.isPublic,
		}
		if e.channel != noChannel {
			record.ChannelId = w.people[e.channel].ID.String()
		}
		records = append(records, &platformv1.Record{Kind: &platformv1.Record_Emote{Emote: record}})
	}
	return records
}
