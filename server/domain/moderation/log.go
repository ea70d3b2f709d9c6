package moderation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/moderato-live/moderato/ent"
	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/pictures"
)

// logged lists the event types that a log shows by default: what moderators and owners
// do. Events of the audience, such as follows, are omitted.
var logged = eventtype.TypesOf(optionsv1.Origin_ORIGIN_MODERATION)

// logQuery is a parsed request for a page of a log.
type logQuery struct {
	channelID, userID, moderatorID, actorID uid.ID

	types  []string
	filter logFilter
	list   string
	before int64 // the page has entries with a lower sequence
	only   []any // the sequences of the entries, if they are known
	limit  int
}

func parseLog(req *moderatov1.ListLogRequest) (*logQuery, error) {
	f := validate.Of(req)
	q := &logQuery{
		channelID:   f.UUID("channelId", req.GetChannelId()),
		userID:      f.OptionalUUID("userId", req.GetUserId()),
		moderatorID: f.OptionalUUID("moderatorId", req.GetModeratorId()),
		actorID:     f.OptionalUUID("actorId", req.GetActorId()),
		filter:      parseLogFilter(f, req),
		types:       f.KeptEventTypes(req.GetType()),
		limit:       f.Limit("limit", req.Limit),
		before:      math.MaxInt64,
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if len(q.types) == 0 {
		q.types = logged
	}
	q.list = fmt.Sprintf("ListLog/%s/%s/%s/%s/%s/%v", q.channelID, q.userID, q.moderatorID, q.actorID, strings.Join(q.types, ","), q.filter)
	return q, nil
}

// ListLog returns a page of a channel's log, which records who did what.
func (s *Service) ListLog(ctx context.Context, req *moderatov1.ListLogRequest) (*moderatov1.ListLogResponse, error) {
	q, err := parseLog(req)
	if err != nil {
		return nil, err
	}
	if err := authz.AuthorizeModerator(ctx, s.Store, q.channelID); err != nil {
		return nil, err
	}
	result := &moderatov1.ListLogResponse{}
	if result.Rows, result.Pagination, err = s.logPage(ctx, q, req.GetCursor()); err != nil {
		return nil, err
	}
	// The channel is read after the rows, so that its trimmed_sequence covers every
	// event that retention removed before the rows were read.
	channel, err := s.Store.Read.Channel.Get(ctx, q.channelID)
	if ent.IsNotFound(err) {
		return nil, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	result.TrimmedSequence = channel.TrimmedSequence
	return result, nil
}

// logPage returns a page of a log, and the cursor of the next one.
func (s *Service) logPage(ctx context.Context, q *logQuery, cursor string) ([]*moderatov1.LogEntry, *moderatov1.Pagination, error) {
	if !q.filter.isEmpty() {
		return s.searchLog(ctx, q, cursor)
	}
	if err := paging.Read(ctx, s.Store, q.list, cursor, &q.before); err != nil {
		return nil, nil, err
	}
	rows, err := readLog(ctx, s.Store, q)
	if err != nil {
		return nil, nil, s.Store.Classify(err)
	}
	return paging.Cut(ctx, s.Store, q.list, rows, q.limit, func(e *moderatov1.LogEntry) any { return e.GetSequence() })
}

// keys returns a query for the keys of the page, with its arguments. Without a user in the
// query, it reads the newest entries of each type by index.
func (q *logQuery) keys(d *store.Dialect) (query string, args []any) {
	if q.only != nil {
		return "SELECT id, sequence FROM events WHERE channel_id = ? AND sequence IN (" + store.Placeholders(len(q.only)) + ")", append([]any{q.channelID}, q.only...)
	}
	index := ""
	if !q.userID.IsZero() {
		index = d.ByIndex("event_target_id_channel_id_sequence")
	}
	keys := "SELECT * FROM (SELECT id, sequence FROM events" + index + " WHERE channel_id = ? AND sequence < ?"
	end := " ORDER BY sequence DESC" + store.Limit(q.limit+1) + ") AS t"
	if q.userID.IsZero() && q.moderatorID.IsZero() && q.actorID.IsZero() {
		parts := make([]string, len(q.types))
		for i, kind := range q.types {
			parts[i] = keys + " AND type = ?" + end
			args = append(args, q.channelID, q.before, kind)
		}
		return strings.Join(parts, " UNION ALL "), args
	}
	where, args := "", []any{q.channelID, q.before}
	for _, by := range []struct {
		column string
		id     uid.ID
	}{{"target_id", q.userID}, {"actor_id", q.moderatorID}, {"actor_id", q.actorID}} {
		if !by.id.IsZero() {
			where += " AND " + by.column + " = ?"
			args = append(args, by.id)
		}
	}
	for _, kind := range q.types {
		args = append(args, kind)
	}
	return keys + where + " AND type IN (" + store.Placeholders(len(q.types)) + ")" + end, args
}

// logEntries selects entries of a log, in no order. The names of users who no longer exist
// are those of deleted users.
var logEntries = store.Declare(func(d *store.Dialect, q *logQuery) (string, []any) {
	keys, args := q.keys(d)
	return `
		SELECT e.id, e.sequence, e.type, e.occurred_at, e.client_id, e.request_id, e.payload,
			e.actor_id, COALESCE(a.display_name, ?), COALESCE(a.slug, ?), e.target_id, COALESCE(u.display_name, ?), COALESCE(u.slug, ?),
			CASE WHEN u.` + users.Exists + ` THEN COALESCE(e.evidence, '') ELSE '' END
		FROM (SELECT id FROM (` + keys + `) AS k ORDER BY sequence DESC` + store.Limit(q.limit+1) + `) AS p` + d.OrderedJoin() + `events e` + d.ByPrimaryKey("events") + ` ON e.id = p.id
		LEFT JOIN users a ON a.id = e.actor_id
		LEFT JOIN users u ON u.id = e.target_id`,
		append([]any{users.DeletedDisplayName, users.DeletedUsername, users.DeletedDisplayName, users.DeletedUsername}, args...)
})

// readLog reads up to q.limit+1 entries, newest first.
func readLog(ctx context.Context, s *store.Store, q *logQuery) ([]*moderatov1.LogEntry, error) {
	var rows []*moderatov1.LogEntry
	err := logEntries.Each(ctx, s, q, func(r *store.Row) error {
		row, err := readEntry(r, s.Pictures)
		rows = append(rows, row)
		return err
	})
	slices.SortFunc(rows, func(a, b *moderatov1.LogEntry) int { return cmp.Compare(b.GetSequence(), a.GetSequence()) })
	return rows, err
}

// readUser reads the user of an entry; it returns nil if the entry has no such user.
func readUser(r *store.Row) *moderatov1.LogUser {
	id, displayName, slug := r.OptionalID(), r.Text(), r.Text()
	if id == nil {
		return nil
	}
	return &moderatov1.LogUser{Id: id.String(), DisplayName: displayName, Slug: slug}
}

func readEntry(r *store.Row, filled *pictures.Filler) (*moderatov1.LogEntry, error) {
	row := &moderatov1.LogEntry{
		Id: r.ID().String(), Sequence: r.Int(), Type: r.Text(), CreatedAt: r.Instant().Proto(), ClientId: r.Text(), RequestId: r.Text(),
		Payload: &structpb.Struct{},
	}
	payload := filled.FillJSON([]byte(r.Text()))
	row.Moderator, row.User = readUser(r), readUser(r)
	evidence := r.Text()
	err := protojson.Unmarshal(payload, row.GetPayload())
	if err == nil {
		err = addSanction(row, payload)
	}
	if err == nil && row.GetSanction() != nil {
		row.Sanction.Evidence, err = parseEvidence(evidence)
	}
	if err != nil {
		return nil, fmt.Errorf("payload of event %s: %w", row.GetId(), err)
	}
	return row, nil
}

// addSanction adds what only entries of bans and mutes, and of their ends, have.
func addSanction(row *moderatov1.LogEntry, payload []byte) (err error) {
	read := func(e proto.Message) { err = jsonapi.Unmarshal(payload, e, jsonapi.Options{}) }
	switch row.GetType() {
	case "channel.ban":
		var e moderatov1.BanEvent
		read(&e)
		row.Sanction = &moderatov1.LoggedSanction{Reason: e.Reason, ExpiresAt: e.GetExpiresAt(), BatchId: e.BatchId}
	case "channel.mute":
		var e moderatov1.MuteEvent
		read(&e)
		row.Sanction = &moderatov1.LoggedSanction{Reason: e.Reason, ExpiresAt: e.GetMuteExpiresAt(), BatchId: e.BatchId}
	case "channel.unban":
		var e moderatov1.UnbanEvent
		read(&e)
		row.End = &moderatov1.LoggedEnd{EndReason: e.EndReason}
	case "channel.unmute":
		var e moderatov1.UnmuteEvent
		read(&e)
		row.End = &moderatov1.LoggedEnd{EndReason: e.EndReason}
	}
	return err
}
