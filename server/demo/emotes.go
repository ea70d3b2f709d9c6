package demo

import (
	"strings"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

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

func (w *world) emoteRecords(pictures string) (records []*platformv1.Record) {
	for i, e := range emotes {
		record := &platformv1.EmoteRecord{
			Id: w.emotes[i].String(), Name: e.name, ImageUrl: pictures + "emote-" + strings.ToLower(e.name) + ".svg", IsPublic: e.isPublic,
		}
		if e.channel != noChannel {
			record.ChannelId = w.people[e.channel].ID.String()
		}
		records = append(records, &platformv1.Record{Kind: &platformv1.Record_Emote{Emote: record}})
	}
	return records
}

// addEmotes ends every eighth message of a channel with a public emote that it may use.
func (w *world) addEmotes(channel int, messages []message) {
	usable := w.usableEmotes(channel)
	for i := 0; i < len(messages); i += 8 {
		messages[i].text += usable[i/8%len(usable)]
	}
}

// usableEmotes returns the public emotes that a channel may use, as they end a text.
func (w *world) usableEmotes(channel int) (texts []string) {
	for i, e := range emotes {
		if e.isPublic && (e.channel == noChannel || e.channel == channel) {
			texts = append(texts, " [emote:"+w.emotes[i].String()+"]")
		}
	}
	return texts
}
