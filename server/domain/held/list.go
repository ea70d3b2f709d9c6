package held

import (
	"context"
	"fmt"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// listed is a message with its place in the list.
type listed struct {
	listing.TimePlace
	row *moderatov1.HeldMessage
}

// ListHeldMessages returns a page of the messages of a channel that have a status.
func (s *Service) ListHeldMessages(ctx context.Context, req *moderatov1.ListHeldMessagesRequest) (*moderatov1.ListHeldMessagesResponse, error) {
	f := validate.Of(req)
	q := heldQuery{
		channelID: f.UUID("channelId", req.GetChannelId()),
		status:    pending,
		userID:    f.OptionalUUID("userId", req.GetUserId()),
		ruleID:    f.OptionalUUID("ruleId", req.GetRuleId()),
	}
	if req.GetStatus() != "" {
		q.status = f.Choice("status", req.GetStatus())
	}
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	if !q.isAscending() {
		q.after = listing.Start()
	}
	list := fmt.Sprintf("ListHeldMessages/%s/%s/%s/%s", q.channelID, q.status, q.userID, q.ruleID)
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &q.after); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, q.channelID); err != nil {
		return nil, err
	}
	q.limit = limit + 1
	rows, err := s.read(ctx, q)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, list, rows, limit, func(r listed) any { return r.TimePlace })
	result := &moderatov1.ListHeldMessagesResponse{Pagination: pagination}
	for _, r := range page {
		result.Rows = append(result.Rows, r.row)
	}
	return result, err
}

// heldQuery holds the parameters of heldPage. Zero ids do not filter.
type heldQuery struct {
	channelID, userID, ruleID uid.ID
	status                    string
	after                     listing.TimePlace
	limit                     int
}

// isAscending reports whether the list has the messages that were held first, first: those that
// wait do.
func (q heldQuery) isAscending() bool { return q.status == pending }

// heldPage selects a page of a channel's messages. Each filter has an index in the order of the
// list. A message that is due waits no more.
var heldPage = store.Declare(func(d *store.Dialect, q heldQuery) (string, []any) {
	index, where, args := "heldmessage_channel_id_status_held_at_id", "held_messages.channel_id = ? AND held_messages.status = ?", []any{q.channelID, q.status}
	if !q.ruleID.IsZero() {
		index, where, args = "heldmessage_channel_id_rule_id_status_held_at_id", where+" AND held_messages.rule_id = ?", append(args, q.ruleID)
	}
	if !q.userID.IsZero() {
		index, where, args = "heldmessage_user_id_channel_id_status_held_at_id", where+" AND held_messages.user_id = ?", append(args, q.userID)
	}
	order, after, place := " DESC", "", []any(nil)
	if q.isAscending() {
		order = ""
		where += " AND held_messages.expires_at > " + d.Clock.Present()
		after, place = d.Above("held_messages.held_at", "held_messages.id", q.after.At, q.after.ID)
	} else {
		after, place = d.Below("held_messages.held_at", "held_messages.id", q.after.At, q.after.ID)
	}
	from, end := d.Page(store.Page{
		Table: "held_messages", By: d.ByIndex(index), Limit: q.limit, Where: where + " AND " + ofExistingSender + " AND " + after,
		Order: "held_messages.held_at" + order + ", held_messages.id" + order,
	})
	return selectFrom(d, from) + end, append(args, place...)
})

// ofExistingSender is the condition that the sender of a message was not deleted.
var ofExistingSender = users.IsOfExisting("held_messages.user_id")

// selectFrom returns a SELECT of the columns that readRow reads. The FROM clause begins with the
// rows of held_messages.
func selectFrom(d *store.Dialect, from string) string {
	return `
		SELECT held_messages.held_at, held_messages.id, ` + users.PersonColumns("u") + `, held_messages.text, held_messages.details,
			held_messages.reply_to_message_id, held_messages.expires_at, held_messages.status, held_messages.claimed_until, held_messages.decided_at,
			` + users.PersonColumns("c") + `, ` + users.PersonColumns("d") + `
		FROM ` + from + d.OrderedJoin() + `users u ON u.id = held_messages.user_id
		LEFT JOIN users c ON c.id = held_messages.claimed_by AND held_messages.claimed_until > ` + d.Clock.Present() + `
		LEFT JOIN users d ON d.id = held_messages.decided_by`
}

func (s *Service) read(ctx context.Context, q heldQuery) (rows []listed, err error) {
	err = heldPage.Each(ctx, s.Store, q, func(r *store.Row) error {
		l, err := readRow(r)
		rows = append(rows, l)
		return err
	})
	return rows, err
}

func readRow(r *store.Row) (listed, error) {
	l := listed{TimePlace: listing.TimePlace{At: r.Instant(), ID: r.ID()}}
	l.row = &moderatov1.HeldMessage{MessageId: l.ID.String(), User: users.ReadPerson(r), Message: r.Text(), HeldAt: l.At.Proto()}
	details := r.Text()
	l.row.ReplyToMessageId = uid.Text(r.OptionalID())
	l.row.ExpiresAt, l.row.Status = r.Instant().Proto(), r.Text()
	claimedUntil, decidedAt := r.OptionalInstant(), r.OptionalInstant()
	if l.row.ClaimedBy = users.ReadPerson(r); l.row.GetClaimedBy() != nil {
		l.row.ClaimedUntil = claimedUntil.Proto()
	}
	l.row.DecidedBy = users.ReadPerson(r)
	if decidedAt != nil {
		l.row.DecidedAt = decidedAt.Proto()
	}
	return l, addDetails(l.row, details)
}
