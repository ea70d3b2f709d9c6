package held

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// The results of decisions and claims that are no statuses.
const (
	notFound       = "NOT_FOUND"
	alreadyDecided = "ALREADY_DECIDED"
	senderRefused  = "SENDER_REFUSED"
)

// decision is a decision about a message.
type decision struct {
	messageID uid.ID
	approves  bool
	mute      time.Duration // 0 for no mute
}

func parseDecisions(f *validate.Fields, given []*moderatov1.HeldDecision) []decision {
	if !f.Count("decisions", len(given)) {
		return nil
	}
	decisions := make([]decision, len(given))
	isGiven := map[uid.ID]bool{}
	for i, g := range given {
		e := f.Element("decisions", i, g)
		d := decision{messageID: e.UUID("messageId", g.GetMessageId()), approves: e.Choice("decision", g.GetDecision()) == "approve"}
		if g.MuteSeconds != nil {
			d.mute = time.Duration(e.Number("muteSeconds", int64(g.GetMuteSeconds()))) * time.Second
			if d.approves {
				e.Add("muteSeconds", "must be null unless the decision is deny")
			}
		}
		if isGiven[d.messageID] && !d.messageID.IsZero() {
			e.Add("messageId", "must not be given twice")
		}
		isGiven[d.messageID] = true
		f.Include(e)
		decisions[i] = d
	}
	return decisions
}

// DecideHeldMessages approves or denies messages. All decisions are one change.
func (s *Service) DecideHeldMessages(ctx context.Context, req *moderatov1.DecideHeldMessagesRequest) (*moderatov1.DecideHeldMessagesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	decisions := parseDecisions(f, req.GetDecisions())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.DecideHeldMessagesResponse
	idempotency.Result(ctx, &result)
	err := s.apply(ctx, change.Apply, channelID, func(ctx context.Context, c *change.Change) (*waiting, error) {
		ids := make([]uid.ID, len(decisions))
		for i, d := range decisions {
			ids[i] = d.messageID
		}
		w, people, err := endDue(ctx, c, ids)
		if err == nil {
			err = s.carryOut(ctx, w, decisions, people[c.ActorID])
		}
		if err != nil {
			return nil, err
		}
		result = &moderatov1.DecideHeldMessagesResponse{}
		for _, d := range decisions {
			result.Results = append(result.Results, w.result(d, people))
		}
		return w, nil
	})
	return result, err
}

// carryOut carries out the decisions about the messages that wait.
func (s *Service) carryOut(ctx context.Context, w *waiting, decisions []decision, by *moderatov1.Person) error {
	var toApprove, toDeny []*ent.HeldMessage
	mutes := map[uid.ID]time.Duration{}
	for _, d := range decisions {
		row := w.rows[d.messageID]
		switch {
		case row == nil || row.Status != pending:
		case d.approves:
			toApprove = append(toApprove, row)
		default:
			toDeny = append(toDeny, row)
			if d.mute > 0 {
				mutes[row.UserID] = max(mutes[row.UserID], d.mute)
			}
		}
	}
	posted, refused, err := w.approve(ctx, toApprove, by, mutes)
	if err == nil {
		err = w.deny(ctx, toDeny, by)
	}
	if err != nil {
		return err
	}
	w.setResults(posted, approved)
	w.setResults(refused, senderRefused)
	w.setResults(toDeny, denied)
	if len(mutes) == 0 {
		return nil
	}
	if err := s.Mute(ctx, w.Change, mutes); err != nil {
		return fmt.Errorf("mute the senders of held messages: %w", err)
	}
	return nil
}

// result returns what happened to a decision.
func (w *waiting) result(d decision, people map[uid.ID]*moderatov1.Person) *moderatov1.HeldDecisionResult {
	r := &moderatov1.HeldDecisionResult{MessageId: d.messageID.String(), Result: notFound}
	row := w.rows[d.messageID]
	if row == nil {
		return r
	}
	switch own := w.results[row.ID]; {
	case own != "":
		r.Result = own
	case row.Status == expired:
		r.Result = expired
	case d.approves && row.Status == cancelled && !w.mayPost(row):
		r.Result = senderRefused
	default:
		r.Result = alreadyDecided
	}
	r.Status, r.DecidedAt = &row.Status, row.DecidedAt.Proto()
	if row.DecidedBy != nil {
		r.DecidedBy = people[*row.DecidedBy]
	}
	return r
}
