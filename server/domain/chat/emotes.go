package chat

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// namedEmote matches the place of an emote in a text.
var namedEmote = regexp.MustCompile(`\[emote:([0-9A-Fa-f-]{36})\]`)

// emotesIn returns the ids that a text has at the places of emotes, each once, in the order of
// the text.
func emotesIn(text string) (ids []uid.ID) {
	for _, match := range namedEmote.FindAllStringSubmatch(text, -1) {
		if id, err := uid.Parse(match[1]); err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// emotesQuery holds the parameters of shownEmotes.
type emotesQuery struct {
	channelID uid.ID
	ids       []any
}

// shownEmotes selects those of some emotes that show in a channel: those of the platform, whose
// channel is zero, the channel's own, and public ones of other channels.
var shownEmotes = store.Declare(func(d *store.Dialect, q emotesQuery) (string, []any) {
	return "SELECT id, name, image_url FROM emotes" + d.ByPrimaryKey("emotes") +
			" WHERE id IN (" + store.Placeholders(len(q.ids)) + ") AND (channel_id = ? OR channel_id = ? OR is_public)",
		append(slices.Clone(q.ids), uid.ID{}, q.channelID)
})

// emotes are emotes that show in a channel.
type emotes map[uid.ID]*moderatov1.ChatEmote

// readEmotes reads the emotes of messages in a channel, in at most one statement: texts without
// the place of an emote need none.
func readEmotes(ctx context.Context, s *store.Store, channelID uid.ID, messages ...Message) (emotes, error) {
	ids := map[uid.ID]bool{}
	for _, m := range messages {
		for _, id := range emotesIn(m.Text) {
			ids[id] = true
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found := make(emotes, len(ids))
	err := shownEmotes.Each(ctx, s, emotesQuery{channelID, store.PaddedArgs(ids)}, func(r *store.Row) error {
		id := r.ID()
		found[id] = &moderatov1.ChatEmote{Id: id.String(), Name: r.Text(), ImageUrl: r.Text()}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read emotes: %w", s.Classify(err))
	}
	return found, nil
}

// of returns the emotes of a text. An id that is none of them is only text.
func (e emotes) of(text string) (shown []*moderatov1.ChatEmote) {
	if len(e) == 0 {
		return nil
	}
	for _, id := range emotesIn(text) {
		if found := e[id]; found != nil {
			shown = append(shown, found)
		}
	}
	return shown
}
