package rules

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/rules/match"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// sampleSize is how many messages a preview shows, and recentMessages how many of the latest it
	// chooses from if fewer users sent some.
	sampleSize     = 20
	recentMessages = 400
	// trustTime is how long a trusted follower has followed.
	trustTime = 7 * 24 * time.Hour
)

// previewedMessage is a message that matches.
type previewedMessage struct {
	id    uid.ID
	at    instant.Instant
	of    *previewed
	found finding
}

// readUsers reads what the rules need to know about senders.
func (p *preview) readUsers(ctx context.Context, unknown map[uid.ID]bool, yield func(context.Context) error) error {
	for some := range slices.Chunk(slices.Collect(maps.Keys(unknown)), previewUsers) {
		if err := yield(ctx); err != nil {
			return err
		}
		read, err := chat.ReadSenders(ctx, p.service.Store, p.channelID, some)
		if err != nil {
			return err
		}
		for _, id := range some {
			p.users[id] = &previewed{id: id, standing: read[id]}
			if read[id] != nil {
				read[id].Now = p.now
			}
		}
	}
	return nil
}

// note notes a message of a sender that matches.
func (p *preview) note(of *previewed, m chat.Message, hits []match.Hit) {
	if of.latest == nil {
		p.matched = append(p.matched, of)
	}
	found := previewedMessage{m.ID, m.SentAt, of, findingOf(p.rules, hits)}
	of.latest = &found
	if p.recent = append(p.recent, found); len(p.recent) > 2*recentMessages {
		p.recent = slices.Clone(p.recent[recentMessages:])
	}
}

// judge counts for which users the rules are probably right, and for which they are wrong.
func (p *preview) judge(ctx context.Context, yield func(context.Context) error) error {
	for some := range slices.Chunk(p.matched, previewUsers) {
		if err := yield(ctx); err != nil {
			return err
		}
		sanctioned, err := p.readSanctioned(ctx, some)
		if err != nil {
			return p.service.Store.Classify(err)
		}
		for _, of := range some {
			st := of.standing
			switch {
			case sanctioned[of.id]:
				p.result.SanctionedUsers++
			case st.IsVIP, st.IsOG, st.IsSubscriber, st.FollowedAt != nil && *st.FollowedAt < p.now.Add(-trustTime):
				p.result.TrustedUsers++
			}
		}
	}
	return nil
}

// readSanctioned returns which of some users are banned or muted, or were since the first message.
func (p *preview) readSanctioned(ctx context.Context, some []*previewed) (map[uid.ID]bool, error) {
	ids := map[uid.ID]bool{}
	for _, of := range some {
		ids[of.id] = true
	}
	args := store.PaddedArgs(ids)
	in := " IN (" + store.Placeholders(len(args)) + ")"
	sanctioned := map[uid.ID]bool{}
	err := store.QueryEach(ctx, p.service.Store.Read, "SELECT user_id FROM bans WHERE channel_id = ? AND user_id"+in+" AND (expires_at IS NULL OR expires_at > ?)"+
		" UNION ALL SELECT user_id FROM mutes WHERE channel_id = ? AND user_id"+in+" AND expires_at > ?"+
		" UNION ALL SELECT target_id FROM events WHERE target_id"+in+" AND channel_id = ? AND type IN ('channel.ban', 'channel.mute') AND occurred_at >= ?",
		slices.Concat([]any{p.channelID}, args, []any{p.now, p.channelID}, args, []any{p.now}, args, []any{p.channelID, p.since}),
		func(scan func(...any) error) error {
			var id uid.ID
			err := scan(&id)
			sanctioned[id] = true
			return err
		})
	return sanctioned, err
}

// addSample chooses messages, the newest of each user first, and reads their texts.
func (p *preview) addSample(ctx context.Context) error {
	newestFirst := func(a, b previewedMessage) int {
		return cmp.Or(cmp.Compare(b.at, a.at), slices.Compare(b.id[:], a.id[:]))
	}
	var chosen []previewedMessage
	for _, of := range p.matched {
		chosen = append(chosen, *of.latest)
	}
	slices.SortFunc(chosen, newestFirst)
	chosen = chosen[:min(len(chosen), sampleSize)]
	for _, m := range slices.Backward(p.recent) {
		if len(chosen) < sampleSize && m.id != m.of.latest.id {
			chosen = append(chosen, m)
		}
	}
	slices.SortFunc(chosen, newestFirst)
	ids := make([]uid.ID, len(chosen))
	for i, m := range chosen {
		ids[i] = m.id
	}
	rows, err := p.service.Store.Read.Message.Query().Where(message.IDIn(ids...)).All(ctx)
	if err != nil {
		return p.service.Store.Classify(err)
	}
	for _, m := range chosen {
		i := slices.IndexFunc(rows, func(row *ent.Message) bool { return row.ID == m.id })
		if i < 0 {
			continue // it was removed meanwhile
		}
		row := p.shown(m.found, rows[i].Text)
		row.SentAt, row.User = m.at.Proto(), m.of.standing.Person(m.of.id)
		p.result.Sample = append(p.result.Sample, row)
	}
	return nil
}

// shown returns a message as the sample has it, without its sender.
func (p *preview) shown(found finding, text string) *moderatov1.PreviewedMessage {
	r := found.strictest
	return &moderatov1.PreviewedMessage{Text: text, Spans: found.spans, RuleId: p.idOf(r), RuleName: r.name, Action: r.action}
}
