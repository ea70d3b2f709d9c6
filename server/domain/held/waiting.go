package held

import (
	"context"
	"slices"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/heldmessage"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/users"
)

// waiting are messages of a channel in a change that ends their wait.
type waiting struct {
	*change.Change

	all      []*ent.HeldMessage // the first to be held first
	rows     map[uid.ID]*ent.HeldMessage
	senders  map[uid.ID]*chat.Standing
	stored   map[uid.ID]chat.Examined // those with the ids of rows that wait
	results  map[uid.ID]string        // what the change did at the request of its author
	approved []chat.Message
}

// readWaiting reads those of some messages that are or were held in the channel of a change.
func readWaiting(ctx context.Context, c *change.Change, ids []uid.ID) (*waiting, error) {
	rows, err := c.Tx.HeldMessage.Query().Where(heldmessage.IDIn(ids...), heldmessage.ChannelID(c.ChannelID)).
		Order(ent.Asc(heldmessage.FieldHeldAt, heldmessage.FieldID)).All(ctx)
	if err != nil {
		return nil, err
	}
	w := &waiting{Change: c, all: rows, rows: make(map[uid.ID]*ent.HeldMessage, len(rows)), results: map[uid.ID]string{}}
	from, wait := map[uid.ID]bool{}, map[uid.ID]bool{}
	for _, row := range rows {
		w.rows[row.ID], from[row.UserID] = row, true
		if row.Status == pending {
			wait[row.ID] = true
		}
	}
	if w.senders, err = chat.SendersIn(ctx, c, from); err != nil {
		return nil, err
	}
	w.stored, err = chat.StoredIn(ctx, c.Tx, wait)
	return w, err
}

// endDue is readWaiting for a request of a moderator: what is due, or of a sender who was deleted, is
// over, whether or not a job has come to it. It returns readPeople as well.
func endDue(ctx context.Context, c *change.Change, ids []uid.ID) (w *waiting, people map[uid.ID]*moderatov1.Person, err error) {
	if w, err = readWaiting(ctx, c, ids); err != nil {
		return nil, nil, err
	}
	c.ByNobody(func() { err = w.expire(ctx) })
	if err == nil {
		people, err = w.readPeople(ctx)
	}
	return w, people, err
}

// isStored reports whether a held message is stored already, by a post that was checked before the
// message was held.
func (w *waiting) isStored(row *ent.HeldMessage) bool {
	m, ok := w.stored[row.ID]
	return ok && m.ChannelID == row.ChannelID && m.UserID == row.UserID
}

// isTaken reports whether another message has the id of a held one.
func (w *waiting) isTaken(row *ent.HeldMessage) bool {
	_, ok := w.stored[row.ID]
	return ok && !w.isStored(row)
}

// mayPost reports whether the sender of a message exists, and is neither banned nor muted.
func (w *waiting) mayPost(row *ent.HeldMessage) bool {
	sender := w.senders[row.UserID]
	return sender != nil && sender.CanPost()
}

// approve approves messages. It cancels those whose senders may not post, or are about to be
// muted, and those whose ids other messages have taken. by is the moderator who approves; nil if
// nobody does.
func (w *waiting) approve(ctx context.Context, rows []*ent.HeldMessage, by *moderatov1.Person, mutes map[uid.ID]time.Duration) (posted, refused []*ent.HeldMessage, err error) {
	var taken []*ent.HeldMessage
	for _, row := range rows {
		switch {
		case !w.mayPost(row) || mutes[row.UserID] > 0:
			refused = append(refused, row)
		case w.isTaken(row):
			taken = append(taken, row)
		default:
			posted = append(posted, row)
		}
	}
	for _, row := range posted {
		if !w.isStored(row) {
			w.approved = append(w.approved, messageOf(row))
		}
	}
	if err := end(ctx, w.Change, slices.Concat(refused, taken), cancelled, nil); err != nil {
		return nil, nil, err
	}
	return posted, refused, end(ctx, w.Change, posted, approved, by)
}

// deny denies messages. It deletes those that are stored.
func (w *waiting) deny(ctx context.Context, rows []*ent.HeldMessage, by *moderatov1.Person) error {
	for _, row := range rows {
		if !w.isStored(row) {
			continue
		}
		if err := chat.DeleteIn(ctx, w.Change, row.ID); err != nil {
			return err
		}
	}
	return end(ctx, w.Change, rows, denied, by)
}

// expire ends the wait of the messages that are due, and of those whose senders were deleted.
func (w *waiting) expire(ctx context.Context) error {
	var toCancel, toApprove, toExpire []*ent.HeldMessage
	for _, row := range w.all {
		switch {
		case row.DueAt == nil: // it does not wait
		case w.senders[row.UserID] == nil:
			toCancel = append(toCancel, row)
		case w.Now < *row.DueAt:
		case row.Approves:
			toApprove = append(toApprove, row)
		default:
			toExpire = append(toExpire, row)
		}
	}
	if _, _, err := w.approve(ctx, toApprove, nil, nil); err != nil {
		return err
	}
	if err := end(ctx, w.Change, toCancel, cancelled, nil); err != nil {
		return err
	}
	return end(ctx, w.Change, toExpire, expired, nil)
}

func (w *waiting) setResults(of []*ent.HeldMessage, result string) {
	for _, row := range of {
		w.results[row.ID] = result
	}
}

// readPeople reads the author of the change, and who has decided about the messages or claims
// them.
func (w *waiting) readPeople(ctx context.Context) (map[uid.ID]*moderatov1.Person, error) {
	ids := []uid.ID{w.ActorID}
	for _, row := range w.all {
		for _, id := range []*uid.ID{row.DecidedBy, row.ClaimedBy} {
			if id != nil {
				ids = append(ids, *id)
			}
		}
	}
	rows, err := w.Tx.User.Query().Where(user.IDIn(ids...)).All(ctx)
	people := make(map[uid.ID]*moderatov1.Person, len(rows))
	for _, row := range rows {
		people[row.ID] = users.Person(row)
	}
	return people, err
}
