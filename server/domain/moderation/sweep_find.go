package moderation

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

// sweepLimits bounds what one preview reads.
type sweepLimits struct {
	// rows is the maximum number of messages, and that of follows.
	rows int
	// users is the maximum number of users who match, so that one transaction can undo the
	// sweep.
	users int
	// time is how long its turns may take.
	time time.Duration
}

var defaultSweepLimits = sweepLimits{rows: 200_000, users: 20_000, time: 10 * time.Second}

const (
	// readRows is how many messages or follows one statement reads, and readUsers how many
	// users.
	readRows  = 5000
	readUsers = 500
)

// found is what a sweep found.
type found struct {
	matched  []uid.ID
	exempted moderatov1.SweepExemptions
	sample   []*moderatov1.SweepMatch
}

// candidate is a user who may match. messages are the first matching messages of each
// generation: those of the present one are visible.
type candidate struct {
	id       uid.ID
	messages []chat.Examined
}

// finder finds the users who match the conditions of a sweep.
type finder struct {
	*conditions
	sweepLimits

	store *store.Store
	turns *turns
	now   instant.Instant
	// channelGeneration is the part of the generation of every visible message that the
	// channel has.
	channelGeneration int64
	candidates        []*candidate
	found             found
}

var errTooLarge = apierr.New(moderatov1.Reason_REASON_SWEEP_TOO_LARGE)

// findSweep finds the users who match the conditions of a sweep, in turns.
func findSweep(ctx context.Context, s *store.Store, q *conditions, t *turns, limits sweepLimits) (*found, error) {
	bounded, cancel := t.limit(ctx, limits.time)
	defer cancel()
	f := &finder{conditions: q, sweepLimits: limits, store: s, turns: t}
	err := f.find(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), errTooLarge) {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, s.Classify(err)
	}
	return &f.found, nil
}

func (f *finder) find(ctx context.Context) (err error) {
	if f.now, err = f.store.Clock.Now(ctx, f.store.Read); err != nil {
		return err
	}
	if f.needsMessages() {
		err = f.readMessages(ctx)
	} else {
		err = f.readFollows(ctx)
	}
	if err != nil {
		return err
	}
	// After the messages, so that what was deleted meanwhile is not found.
	if f.channelGeneration, err = chat.ChannelGeneration(ctx, f.store.Read, f.channelID); err != nil {
		return err
	}
	for some := range slices.Chunk(f.candidates, readUsers) {
		if err := f.turns.yield(ctx); err != nil {
			return err
		}
		if err := f.judge(ctx, some); err != nil {
			return err
		}
		if len(f.found.matched) > f.users {
			return errTooLarge
		}
	}
	return nil
}

// readMessages makes candidates of the users who posted a message that matches.
func (f *finder) readMessages(ctx context.Context) error {
	known := map[uid.ID]*candidate{}
	after := chat.Place{SentAt: f.now.Add(-f.within) - 1, ID: uid.ID(bytes.Repeat([]byte{0xff}, len(uid.ID{})))}
	for examined := 0; ; {
		page, err := chat.Examine(ctx, f.store, f.channelID, after, readRows)
		if err != nil {
			return err
		}
		if examined += len(page); examined > f.rows {
			return errTooLarge
		}
		for _, m := range page {
			if err := f.turns.yield(ctx); err != nil {
				return err
			}
			f.examine(known, m)
		}
		if len(page) < readRows {
			return nil
		}
		last := page[len(page)-1]
		after = chat.Place{SentAt: last.SentAt, ID: last.ID}
	}
}

func (f *finder) examine(known map[uid.ID]*candidate, m chat.Examined) {
	of := known[m.UserID]
	if of != nil && slices.ContainsFunc(of.messages, func(e chat.Examined) bool { return e.Generation == m.Generation }) {
		return
	}
	if f.matcher != nil && !f.matcher.Match(m.Text) {
		return
	}
	if of == nil {
		of = &candidate{id: m.UserID}
		known[m.UserID] = of
		f.candidates = append(f.candidates, of)
	}
	of.messages = append(of.messages, m)
}

// readFollows makes candidates of the users who followed the channel recently.
func (f *finder) readFollows(ctx context.Context) error {
	at, id := f.now.Add(-f.followedWithin)-1, uid.ID(bytes.Repeat([]byte{0xff}, len(uid.ID{})))
	for {
		after, args := f.store.Above("f.followed_at", "f.user_id", at, id)
		n := 0
		err := store.QueryEach(ctx, f.store.Read, "SELECT f.followed_at, f.user_id FROM follows f"+f.store.ByIndex("follow_channel_id_followed_at_user_id")+
			" WHERE f.channel_id = ? AND "+after+" ORDER BY f.followed_at, f.user_id"+store.Limit(readRows),
			append([]any{f.channelID}, args...), func(scan func(...any) error) error {
				n++
				err := scan(&at, &id)
				f.candidates = append(f.candidates, &candidate{id: id})
				return err
			})
		if err != nil {
			return err
		}
		if len(f.candidates) > f.rows {
			return errTooLarge
		}
		if n < readRows {
			return nil
		}
		if err := f.turns.yield(ctx); err != nil {
			return err
		}
	}
}

// judge adds the candidates who match to f.found, and counts those who are exempted.
func (f *finder) judge(ctx context.Context, some []*candidate) error {
	ids := make([]uid.ID, len(some))
	for i, c := range some {
		ids[i] = c.id
	}
	states, err := readStates(ctx, f.store, f.store.Read, f.conditions, f.now, ids)
	if err != nil {
		return err
	}
	for _, c := range some {
		state := states[c.id]
		if state == nil || state.isBanned {
			continue
		}
		i := slices.IndexFunc(c.messages, func(m chat.Examined) bool { return m.Generation == state.generation+f.channelGeneration })
		switch {
		case f.needsMessages() && i < 0,
			f.followedWithin > 0 && (state.followedAt == nil || *state.followedAt < f.now.Add(-f.followedWithin)),
			f.firstWithin > 0 && state.hasEarlier:
			continue
		}
		if counter := f.exemption(state, f.now); counter != nil {
			*counter(&f.found.exempted)++
			continue
		}
		f.found.matched = append(f.found.matched, c.id)
		if len(f.found.sample) < sampleSize {
			row := &moderatov1.SweepMatch{UserId: c.id.String(), Username: state.username, DisplayName: state.displayName}
			if f.needsMessages() {
				m := c.messages[i]
				row.Message = &moderatov1.UserMessage{MessageId: m.ID.String(), Message: m.Text, CreatedAt: m.SentAt.Proto()}
			}
			f.found.sample = append(f.found.sample, row)
		}
	}
	return nil
}
