package activity

import (
	"context"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// activityPlace is a place in a list of activities. The list continues after it.
type activityPlace struct {
	At     instant.Instant
	Number int64
}

// row is an activity with its place in the list.
type row struct {
	activityPlace
	row *moderatov1.Activity
}

// ListActivities returns a page of the activities in the authorized channel.
func (s *Service) ListActivities(ctx context.Context, req *moderatov1.ListActivitiesRequest) (*moderatov1.ListActivitiesResponse, error) {
	f := validate.Of(req)
	channelID := listing.AuthorizedChannel(ctx, f, req.GetChannelId())
	limit := f.Limit("limit", req.Limit)
	if req.GetType() != "" {
		f.Choice("type", req.GetType())
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	list := fmt.Sprintf("ListActivities/%s/%s", channelID, req.GetType())
	place := activityPlace{At: math.MaxInt64}
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &place); err != nil {
		return nil, err
	}
	if err := listing.Authorize(ctx, channelID); err != nil {
		return nil, err
	}
	rows, err := s.readActivities(ctx, activitiesQuery{channelID, req.GetType(), place, limit + 1})
	if err == nil {
		err = listing.CheckChannel(ctx, s.Store, channelID)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, list, rows, limit, func(a row) any { return a.activityPlace })
	result := &moderatov1.ListActivitiesResponse{Pagination: pagination}
	for _, a := range page {
		result.Rows = append(result.Rows, a.row)
	}
	return result, err
}

// activitiesQuery holds the parameters of activitiesPage.
type activitiesQuery struct {
	channelID uid.ID
	kind      string // the only type to list; empty for all
	after     activityPlace
	limit     int
}

// activitiesPage selects a page of a channel's activities.
var activitiesPage = store.Declare(func(d *store.Dialect, q activitiesQuery) (string, []any) {
	index, where, args := "activity_channel_id_created_at_number", "channel_id = ?", []any{q.channelID}
	if q.kind != "" {
		index, where, args = "activity_channel_id_type_created_at_number", where+" AND type = ?", append(args, q.kind)
	}
	further, furtherArgs := d.Below("created_at", "number", q.after.At, q.after.Number)
	return `
		SELECT created_at, number, type, info, action, ` + users.Erased("activities.user_id") + ` FROM activities` + d.ByIndex(index) + `
		WHERE ` + where + ` AND ` + further + `
		ORDER BY created_at DESC, number DESC` + store.Limit(q.limit), append(args, furtherArgs...)
})

func (s *Service) readActivities(ctx context.Context, q activitiesQuery) ([]row, error) {
	rows := make([]row, 0, q.limit)
	err := activitiesPage.Each(ctx, s.Store, q, func(r *store.Row) error {
		a := row{activityPlace: activityPlace{r.Instant(), r.Int()}}
		a.row = &moderatov1.Activity{
			Id: a.Number, CreatedAt: a.At.Proto(), Type: r.Text(), Info: &structpb.Struct{}, Action: &structpb.Struct{},
		}
		info, action := r.Text(), r.Text()
		rows = append(rows, a)
		if err := protojson.Unmarshal([]byte(info), a.row.GetInfo()); err != nil {
			return fmt.Errorf("info of activity %d: %w", a.Number, err)
		}
		if err := protojson.Unmarshal([]byte(action), a.row.GetAction()); err != nil {
			return fmt.Errorf("action of activity %d: %w", a.Number, err)
		}
		if isErased := r.Bool(); isErased {
			anonymize(a.row)
		}
		return nil
	})
	return rows, err
}

// anonymize removes the names and the words of a user who is being deleted. The numbers, such
// as the amount of a vote, remain.
func anonymize(a *moderatov1.Activity) {
	info := a.GetInfo().GetFields()
	for name, value := range info {
		if _, isNumber := value.GetKind().(*structpb.Value_NumberValue); !isNumber && name != "userId" {
			delete(info, name)
		}
	}
	info["displayName"] = structpb.NewStringValue(users.DeletedDisplayName)
	info["slug"] = structpb.NewStringValue(users.DeletedUsername)
	if a.GetType() == thanks {
		info["message"] = structpb.NewStringValue("")
	}
	a.Action = &structpb.Struct{}
}
