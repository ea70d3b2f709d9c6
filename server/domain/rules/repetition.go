package rules

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/rules/match"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// maxRemembered is how many posts the rules of a channel about repetition remember together, and
	// minRemembered how many each of them does: more than the senders that it may count.
	maxRemembered = 40_000
	minRemembered = 2000
)

// textSeed is the seed of the digests of texts, so that nobody can find texts with one digest.
var textSeed = maphash.MakeSeed()

// textDigest returns a digest of what two texts that look alike have in common.
func textDigest(text string) uint64 {
	return maphash.String(textSeed, cmp.Or(textmatch.Fold(text), text))
}

// remember gives the rules about repetition their memories.
func (c *compiled) remember() {
	n := 0
	for i := range c.rules {
		if c.rules[i].within > 0 {
			n++
		}
	}
	c.hasMemory = n > 0
	for i := range c.rules {
		if r := &c.rules[i]; r.within > 0 {
			r.memory = match.NewRepeats(r.within, max(minRemembered, maxRemembered/n))
		}
	}
}

// seed counts the latest stored messages of the channel. The roles and follows of senders are those
// of now.
func (c *compiled) seed(ctx context.Context, s *store.Store, channelID uid.ID) error {
	longest := time.Duration(0)
	for i := range c.rules {
		longest = max(longest, c.rules[i].within)
	}
	if longest == 0 {
		return nil
	}
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return s.Classify(err)
	}
	latest, err := chat.LatestIn(ctx, s, channelID, now.Add(-longest), minRemembered)
	if err != nil {
		return err
	}
	ids := map[uid.ID]bool{}
	for _, m := range latest {
		ids[m.UserID] = true
	}
	senders := make(map[uid.ID]*chat.Standing, len(ids))
	for some := range slices.Chunk(slices.Collect(maps.Keys(ids)), previewUsers) {
		read, err := chat.ReadSenders(ctx, s, channelID, some)
		if err != nil {
			return err
		}
		maps.Copy(senders, read)
	}
	for _, m := range slices.Backward(latest) {
		st := senders[m.UserID]
		if st == nil || m.UserID == channelID || st.IsModerator {
			continue
		}
		st.Now = m.SentAt
		c.repeated(m.Text, m.UserID, m.SentAt, func(r *rule) bool { return !r.exempts(st) })
	}
	if len(latest) > 0 {
		c.seededAt = latest[0].SentAt
	}
	return nil
}

// repeated counts a post with the rules about repetition that apply to it, and returns those that
// it matches.
func (c *compiled) repeated(text string, sender uid.ID, at instant.Instant, applies func(*rule) bool) (hits []match.Hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	digest := uint64(0)
	for i := range c.rules {
		r := &c.rules[i]
		if r.memory == nil || !applies(r) {
			continue
		}
		if digest == 0 {
			digest = textDigest(text)
		}
		same, senders := r.memory.Add(at.Time(), digest, sender)
		if r.sameSender > 0 && same >= r.sameSender || r.senders > 0 && senders >= r.senders {
			hits = append(hits, match.Hit{Rule: i})
		}
	}
	return hits
}

// Run counts what other servers post for the rules about repetition, until ctx ends.
func (f *Filter) Run(ctx context.Context) {
	if f.Live == nil {
		return
	}
	var from *live.Listener
	defer func() {
		if from != nil {
			from.Close()
		}
	}()
	for {
		var arrived <-chan struct{}
		if from != nil {
			arrived = from.Wake
		}
		select {
		case <-ctx.Done():
			return
		case <-f.rules.changed:
			from = f.listen(ctx, from)
		case <-arrived:
			f.countElsewhere(from)
		}
	}
}

// listen returns the listener to the channels with rules about repetition, in place of an earlier one.
// If there are none, it returns nil, so that other servers write nothing for this one.
func (f *Filter) listen(ctx context.Context, from *live.Listener) *live.Listener {
	channels := f.rules.repeating()
	if len(channels) == 0 {
		if from != nil {
			from.Close()
		}
		return nil
	}
	if from == nil {
		from = f.Live.Listen(ctx, live.Type)
	}
	from.SetChannels(channels, false)
	return from
}

// countElsewhere counts the messages of other servers that have arrived.
func (f *Filter) countElsewhere(from *live.Listener) {
	for {
		batch, _ := from.Take()
		if batch == nil {
			return
		}
		c := f.rules.find(batch.ChannelID)
		if c == nil {
			continue
		}
		for _, e := range batch.Elsewhere() {
			c.countEvent(e.GetChatMessage())
		}
		f.rules.resize(batch.ChannelID, c)
	}
}

// countEvent counts a message of another server. How long its sender has followed is not known, so
// of the exemptions only those of roles count.
func (c *compiled) countEvent(m *moderatov1.ChatMessageEvent) {
	from, at := m.GetSender(), instant.OfProto(m.GetCreatedAt())
	id, err := uid.Parse(from.GetId())
	if err != nil || at <= c.seededAt || from.GetIsOwner() || from.GetIsModerator() {
		return
	}
	st := &chat.Standing{IsVIP: from.GetIsVip(), IsOG: from.GetIsOg(), IsSubscriber: from.GetIsSubscriber()}
	c.repeated(m.GetMessage(), id, at, func(r *rule) bool { return !r.exempts(st) })
}
