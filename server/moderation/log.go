package moderation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/moderato-live/moderato/ent"
	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/eventtype"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/paging"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
	"github.com/moderato-live/moderato/server/watch"
)

// logged lists the event types that a log shows by default: what moderators and owners
// do. Events of the audience, such as follows, are omitted.
var logged = eventtype.TypesOf(optionsv1.Origin_ORIGIN_MODERATION)

// logQuery is a parsed request for a page of a log.
type logQuery struct {
	channelID, userID, moderatorID uid.ID
	types                          []string
	list                           string
	before                         int64 // the page has entries with a lower sequence
	limit                          int
}

func parseLog(req *moderatov1.ListLogRequest) (*logQuery, error) {
	f := validate.Of(req)
	q := &logQuery{
		channelID:   f.UUID("channelId", req.GetChannelId()),
		userID:      f.OptionalUUID("userId", req.GetUserId()),
		moderatorID: f.OptionalUUID("moderatorId", req.GetModeratorId()),
		types:       watch.ParseTypes(f, req.GetType()),
		limit:       f.Limit("limit", req.Limit),
		before:      math.MaxInt64,
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if len(q.types) == 0 {
		q.types = logged
	}
	q.list = fmt.Sprintf("ListLog/%s/%s/%s/%s", q.channelID, q.userID, q.moderatorID, strings.Join(q.types, ","))
	return q, nil
}

// ListLog returns a page of a channel's log, which records who did what.
func (s *Service) ListLog(ctx context.Context, req *moderatov1.ListLogRequest) (*moderatov1.ListLogResponse, error) {
	q, err := parseLog(req)
	if err != nil {
		return nil, err
	}
	if err := paging.Read(ctx, s.Store, q.list, req.GetCursor(), &q.before); err != nil {
		return nil, err
	}
	if err := authz.AuthorizeModerator(ctx, s.Store, q.channelID); err != nil {
		return nil, err
	}
	rows, err := s.readLog(ctx, q)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	result := &moderatov1.ListLogResponse{}
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
	result.Rows, result.Pagination, err = paging.Cut(ctx, s.Store, q.list, rows, q.limit, func(e *moderatov1.LogEntry) any { return e.GetSequence() })
	return result, err
}

// readLog reads up to q.limit+1 entries, newest first. Without a user or moderator in
// the query, it reads the newest entries of each type by index and merges them.
func (s *Service) readLog(ctx context.Context, q *logQuery) ([]*moderatov1.LogEntry, error) {
	var parts []string
	var args []any
	where := "channel_id = ? AND sequence < ?"
	switch {
	case q.userID.IsZero() && q.moderatorID.IsZero():
		for _, kind := range q.types {
			parts = append(parts, "SELECT * FROM (SELECT id, sequence FROM events WHERE "+where+" AND type = ? ORDER BY sequence DESC LIMIT ?) AS t")
			args = append(args, q.channelID, q.before, kind, q.limit+1)
		}
	default:
		args = append(args, q.channelID, q.before)
		for _, by := range []struct {
			column string
			id     uid.ID
		}{{"target_id", q.userID}, {"actor_id", q.moderatorID}} {
			if !by.id.IsZero() {
				where += " AND " + by.column + " = ?"
				args = append(args, by.id)
			}
		}
		parts = append(parts, "SELECT * FROM (SELECT id, sequence FROM events WHERE "+where+" AND type IN ("+store.Placeholders(len(q.types))+") ORDER BY sequence DESC LIMIT ?) AS t")
		for _, kind := range q.types {
			args = append(args, kind)
		}
		args = append(args, q.limit+1)
	}
	var rows []*moderatov1.LogEntry
	err := store.QueryEach(ctx, s.Store.Read, `
		SELECT e.id, e.sequence, e.type, e.occurred_at, e.client_id, e.request_id, e.payload,
			e.actor_id, a.display_name, a.slug, e.target_id, u.display_name, u.slug
		FROM (SELECT id FROM (`+strings.Join(parts, " UNION ALL ")+`) AS k ORDER BY sequence DESC LIMIT ?) AS p
		JOIN events e ON e.id = p.id
		LEFT JOIN users a ON a.id = e.actor_id
		LEFT JOIN users u ON u.id = e.target_id`,
		append(args, q.limit+1),
		func(scan func(...any) error) error {
			row, err := scanEntry(scan)
			rows = append(rows, row)
			return err
		})
	slices.SortFunc(rows, func(a, b *moderatov1.LogEntry) int { return cmp.Compare(b.GetSequence(), a.GetSequence()) })
	return rows, err
}

// person holds the scanned columns of an entry's user. id is nil if the entry has no
// such user. The names are nil if the user no longer exists.
type person struct {
	id                *uid.ID
	displayName, slug *string
}

func (p person) proto() *moderatov1.LogUser {
	if p.id == nil {
		return nil
	}
	u := &moderatov1.LogUser{Id: p.id.String(), DisplayName: users.DeletedDisplayName, Slug: users.DeletedUsername}
	if p.displayName != nil {
		u.DisplayName, u.Slug = *p.displayName, *p.slug
	}
	return u
}

func scanEntry(scan func(...any) error) (*moderatov1.LogEntry, error) {
	row := &moderatov1.LogEntry{Payload: &structpb.Struct{}}
	var id uid.ID
	var at instant.Instant
	var payload []byte
	var moderator, user person
	err := scan(&id, &row.Sequence, &row.Type, &at, &row.ClientId, &row.RequestId, &payload,
		&moderator.id, &moderator.displayName, &moderator.slug, &user.id, &user.displayName, &user.slug)
	if err != nil {
		return nil, err
	}
	row.Id, row.CreatedAt, row.Moderator, row.User = id.String(), at.Proto(), moderator.proto(), user.proto()
	if err := protojson.Unmarshal(payload, row.GetPayload()); err != nil {
		return nil, fmt.Errorf("payload of event %s: %w", id, err)
	}
	return row, nil
}
