package held

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent/heldmessage"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// claimTime is how long a claim lasts.
const claimTime = 30 * time.Second

// The results of claims that are not those of decisions.
const (
	claimed = "CLAIMED"
	taken   = "TAKEN"
)

func parseMessageIDs(f *validate.Fields, given []string) []uid.ID {
	if !f.Count("messageIds", len(given)) {
		return nil
	}
	ids := make([]uid.ID, len(given))
	isGiven := map[uid.ID]bool{}
	for i, text := range given {
		field := fmt.Sprintf("messageIds[%d]", i)
		ids[i] = f.UUID(field, text)
		if isGiven[ids[i]] && !ids[i].IsZero() {
			f.Add(field, "must not be given twice")
		}
		isGiven[ids[i]] = true
	}
	return ids
}

// ClaimHeldMessages tells the other moderators that the caller looks at messages.
func (s *Service) ClaimHeldMessages(ctx context.Context, req *moderatov1.ClaimHeldMessagesRequest) (*moderatov1.ClaimHeldMessagesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	ids := parseMessageIDs(f, req.GetMessageIds())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.ClaimHeldMessagesResponse
	idempotency.Result(ctx, &result)
	var events []live.Message
	err := s.apply(ctx, change.Apply, channelID, func(ctx context.Context, c *change.Change) (w *waiting, err error) {
		if w, result, err = claim(ctx, c, ids); err == nil {
			events = claimEvents(c, result)
		}
		return w, err
	})
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		s.Live.Post(e)
	}
	return result, nil
}

// claim claims messages for the author of a change. It ends those that are due, as a decision does.
func claim(ctx context.Context, c *change.Change, ids []uid.ID) (*waiting, *moderatov1.ClaimHeldMessagesResponse, error) {
	w, people, err := endDue(ctx, c, ids)
	if err != nil {
		return nil, nil, err
	}
	result := &moderatov1.ClaimHeldMessagesResponse{}
	var mine []uid.ID
	until := c.Now.Add(claimTime)
	for _, id := range ids {
		r := &moderatov1.HeldClaim{MessageId: id.String(), Result: claimed}
		switch row := w.rows[id]; {
		case row == nil:
			r.Result = notFound
		case row.Status != pending:
			r.Result = alreadyDecided
		case row.ClaimedBy != nil && *row.ClaimedBy != c.ActorID && c.Now < *row.ClaimedUntil:
			r.Result, r.ClaimedBy, r.ClaimedUntil = taken, people[*row.ClaimedBy], row.ClaimedUntil.Proto()
		default:
			r.ClaimedBy, r.ClaimedUntil = people[c.ActorID], until.Proto()
			mine = append(mine, id)
		}
		result.Results = append(result.Results, r)
	}
	if len(mine) == 0 {
		return w, result, nil
	}
	return w, result, c.Tx.HeldMessage.Update().Where(heldmessage.IDIn(mine...)).SetClaimedBy(c.ActorID).SetClaimedUntil(until).Exec(ctx)
}

// claimEvents returns the events of the claims that were made.
func claimEvents(c *change.Change, made *moderatov1.ClaimHeldMessagesResponse) (events []live.Message) {
	for _, r := range made.GetResults() {
		if r.GetResult() == claimed {
			events = append(events, live.New("channel.chat.hold.update", c.ChannelID, c.Now, &moderatov1.ChatHoldUpdateEvent{
				ChannelId: c.ChannelID.String(), ModeratorId: new(c.ActorID.String()), ClientId: c.ClientID,
				MessageId: r.GetMessageId(), Status: pending, ClaimedBy: r.GetClaimedBy(), ClaimedUntil: r.GetClaimedUntil(),
			}))
		}
	}
	return events
}
