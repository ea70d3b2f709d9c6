package rules

import (
	"cmp"
	"context"
	"errors"
	"slices"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/domain/rules/match"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

// Filter checks posts with the rules of their channels.
type Filter struct {
	// Store is the database.
	Store *store.Store
	// Live tells moderators of flagged and of held messages.
	Live *live.Hub

	turns *moderation.Sweeps
	rules *cache
}

// NewFilter returns a Filter, which takes its turns with sweeps.
func NewFilter(s *store.Store, to *live.Hub, turns *moderation.Sweeps) *Filter {
	return &Filter{Store: s, Live: to, turns: turns, rules: newCache(s, turns.Turn, compiledBudget)}
}

// maxChecks is how often a post is checked whose rules or sender change meanwhile.
const maxChecks = 3

// Check is the check of the rules. All rules look at the message, and the strictest action is done.
// What changes something happens only if the rules and the sender are still what they were. If
// not, the message is checked again.
func (f *Filter) Check(ctx context.Context, st *chat.Standing, m chat.Message) error {
	var c *compiled
	var hits []match.Hit
	for range maxChecks {
		if st.Stored.Rules == nil {
			f.rules.drop(m.ChannelID)
			return nil
		}
		if m.UserID == m.ChannelID || st.IsModerator {
			return nil
		}
		present, err := f.rules.get(ctx, m.ChannelID, *st.Stored.Rules)
		if err == nil && present == c {
			hits = c.applying(hits, st) // it counts as one post
		} else if c = present; err == nil {
			hits, err = f.match(ctx, c, st, m)
		}
		if err != nil || len(hits) == 0 {
			return err
		}
		err = f.act(ctx, c, st, m, findingOf(c, hits))
		if !errors.Is(err, errChanged) {
			return err
		}
		if err = st.Reread(ctx, f.Store, m); err == nil {
			err = chat.CheckSilenced(ctx, st, m)
		}
		if err != nil {
			return err
		}
	}
	return apierr.MessageBlocked("")
}

// match returns the rules in force that a message matches, in their order.
func (f *Filter) match(ctx context.Context, c *compiled, st *chat.Standing, m chat.Message) ([]match.Hit, error) {
	hits, err := f.matchText(ctx, c, m)
	if err != nil {
		return nil, err
	}
	hits = c.applying(hits, st)
	if !c.hasMemory {
		return hits, nil
	}
	if isStored, err := chat.IsStored(ctx, f.Store, m); err != nil || isStored {
		return hits, err // a repeat of a post is no repetition
	}
	hits = append(hits, c.repeated(m.Text, m.UserID, st.Now, func(r *rule) bool { return r.applies(st) })...)
	f.rules.resize(m.ChannelID, c)
	slices.SortFunc(hits, func(a, b match.Hit) int { return cmp.Compare(a.Rule, b.Rule) })
	return hits, nil
}

// matchText returns the rules that the text of a message matches. What takes long waits for a turn.
func (f *Filter) matchText(ctx context.Context, c *compiled, m chat.Message) ([]match.Hit, error) {
	text := textmatch.NewText(m.Text)
	defer text.Release()
	if text.Len()*c.set.Steps() > moderation.FreeSteps {
		release, err := f.turns.Turn(ctx, m.ChannelID)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	return c.set.Match(text), nil
}

// applying returns those hits whose rules apply to a sender.
func (c *compiled) applying(hits []match.Hit, st *chat.Standing) []match.Hit {
	return slices.DeleteFunc(hits, func(h match.Hit) bool { return !c.rules[h.Rule].applies(st) })
}

// finding is what the rules of a channel found in a message.
type finding struct {
	strictest *rule
	ids       []uid.ID // of all rules that match, the strictest first
	spans     []*moderatov1.Span
}

func findingOf(c *compiled, hits []match.Hit) finding {
	hits = slices.Clone(hits)
	slices.SortStableFunc(hits, func(a, b match.Hit) int {
		x, y := &c.rules[a.Rule], &c.rules[b.Rule]
		return cmp.Or(cmp.Compare(severity[y.action], severity[x.action]), cmp.Compare(y.muteTime, x.muteTime))
	})
	found := finding{strictest: &c.rules[hits[0].Rule]}
	var spans []textmatch.Span
	for _, h := range hits {
		found.ids = append(found.ids, c.rules[h.Rule].id)
		spans = append(spans, h.Spans...)
	}
	for _, s := range match.Joined(spans) {
		found.spans = append(found.spans, &moderatov1.Span{Start: int32(s.Start), End: int32(s.End)}) //nolint:gosec // within a text
	}
	return found
}

// act does what the strictest rule does.
func (f *Filter) act(ctx context.Context, c *compiled, st *chat.Standing, m chat.Message, found finding) error {
	switch r := found.strictest; r.action {
	case "flag":
		st.Flagged = &chat.Flagged{Rules: found.ids, Spans: found.spans}
		st.OnPosted(func(m chat.Message) { f.flag(st, m, found) })
		return nil
	case "delete":
		return f.refuse(ctx, c.version, r, m, deleteMessage)
	case "hold":
		why := held.Reason{Rules: found.ids, Spans: found.spans, Message: r.message}
		why.Confirm = func(ctx context.Context, change *change.Change, sender *chat.Standing) error {
			return r.confirm(ctx, change, c.version, sender)
		}
		return held.Hold(ctx, f.Store, f.Live, st, m, why)
	case "mute":
		return f.refuse(ctx, c.version, r, m, muteSender)
	default:
		if isStored, err := chat.IsStored(ctx, f.Store, m); err != nil || isStored {
			return err
		}
		return apierr.MessageBlocked(r.message)
	}
}

// flag tells the moderators of a message that was posted.
func (f *Filter) flag(st *chat.Standing, m chat.Message, found finding) {
	f.Live.Post(live.New("channel.chat.flag", m.ChannelID, m.SentAt, &moderatov1.ChatFlagEvent{
		ChannelId: m.ChannelID.String(), MessageId: m.ID.String(), Message: m.Text, Rules: uid.Texts(found.ids), Spans: found.spans,
		User: st.Person(m.UserID),
	}))
}
