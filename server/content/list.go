package content

import (
	"context"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/listing"
	"github.com/moderato-live/moderato/server/paging"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// The values of orderBy for clips and VODs.
const (
	mostRecent = "most_recent"
	mostViewed = "most_viewed"
)

// contentPlace is a place in a list of clips or VODs. The list continues after the row
// with this key, which is a time or a number of views, and id.
type contentPlace struct {
	Key int64
	ID  uid.ID
}

// content is a parsed request for clips or VODs.
type content struct {
	list    string
	channel *ent.Channel
	column  string // the sort column
	after   contentPlace
	limit   int
}

// parseContent reads a request. recent is the sort column of most_recent, standard the
// default order.
func (s *Service) parseContent(ctx context.Context, operation, recent, standard string, req interface {
	proto.Message
	GetChannelId() string
	GetOrderBy() string
	GetCursor() string
}, limit *int32) (*content, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	c := &content{after: contentPlace{Key: math.MaxInt64}, limit: f.Limit("limit", limit)}
	order := standard
	if req.GetOrderBy() != "" {
		order = f.Choice("orderBy", req.GetOrderBy())
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	c.column = recent
	if order == mostViewed {
		c.column = "view_count"
	}
	c.list = fmt.Sprintf("%s/%s/%s", operation, channelID, order)
	if err := paging.Read(ctx, s.Store, c.list, req.GetCursor(), &c.after); err != nil {
		return nil, err
	}
	var err error
	c.channel, err = listing.GetChannel(ctx, s.Store, channelID)
	return c, err
}

// keys returns a query for up to limit+1 rows of the page, with its arguments. The query
// reads only these rows, by an index.
func (c *content) keys(s *store.Store, entity string) (query string, args []any) {
	where, args := s.Below(c.column, "id", c.after.Key, c.after.ID)
	return "SELECT * FROM " + entity + "s" + s.ByIndex(entity+"_channel_id_"+c.column+"_id") + `
		WHERE channel_id = ? AND ` + where + `
		ORDER BY ` + c.column + ` DESC, id DESC LIMIT ?`,
		append(append([]any{c.channel.ID}, args...), c.limit+1)
}

// clipRow is a clip with its place in the list.
type clipRow struct {
	contentPlace
	row *moderatov1.Clip
}

// ListClips returns a page of a channel's clips.
func (s *Service) ListClips(ctx context.Context, req *moderatov1.ListClipsRequest) (*moderatov1.ListClipsResponse, error) {
	c, err := s.parseContent(ctx, "ListClips", "created_at", mostViewed, req, req.Limit)
	if err != nil {
		return nil, err
	}
	keys, args := c.keys(s.Store, "clip")
	var rows []clipRow
	err = store.QueryEach(ctx, s.Store.Read, fmt.Sprintf(`
		SELECT c.%[1]s, c.id, c.title, c.view_count, c.duration, c.preview_img_url, c.clip_url,
			u.id, u.username, u.avatar_url, `+contentColumns+`
		FROM (%[2]s) c
		JOIN users u ON u.id = c.creator_id
		JOIN users o ON o.id = c.channel_id
		LEFT JOIN categories g ON g.id = c.category_id
		ORDER BY c.%[1]s DESC, c.id DESC`, c.column, keys),
		append(append([]any{}, contentArgs...), args...),
		func(scan func(...any) error) error {
			r := clipRow{row: &moderatov1.Clip{Category: &moderatov1.ContentCategory{}}}
			var creator, owner person
			g := r.row.GetCategory()
			err := scan(&r.Key, &r.ID, &r.row.Title, &r.row.ViewCount, &r.row.Duration, &r.row.PreviewImgUrl, &r.row.ClipUrl,
				&creator.id, &creator.Username, &creator.AvatarUrl, &g.Id, &g.ParentId, &g.Name, &g.Slug, &g.ImageUrl,
				&owner.id, &owner.Username, &owner.AvatarUrl)
			r.row.ClipId, r.row.Creator, r.row.Channel = r.ID.String(), creator.proto(), owner.proto()
			rows = append(rows, r)
			return err
		})
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, c.list, rows, c.limit, func(r clipRow) any { return r.contentPlace })
	result := &moderatov1.ListClipsResponse{Count: c.channel.ClipCount, Pagination: pagination}
	for _, r := range page {
		result.Rows = append(result.Rows, r.row)
	}
	return result, err
}

// vodRow is a VOD with its place in the list.
type vodRow struct {
	contentPlace
	row *moderatov1.Vod
}

// ListVods returns a page of a channel's recorded streams.
func (s *Service) ListVods(ctx context.Context, req *moderatov1.ListVodsRequest) (*moderatov1.ListVodsResponse, error) {
	c, err := s.parseContent(ctx, "ListVods", "started_at", mostRecent, req, req.Limit)
	if err != nil {
		return nil, err
	}
	keys, args := c.keys(s.Store, "vod")
	var rows []vodRow
	err = store.QueryEach(ctx, s.Store.Read, fmt.Sprintf(`
		SELECT c.%[1]s, c.id, c.title, c.view_count, c.duration, c.preview_img_url, c.started_at, c.ended_at, `+contentColumns+`
		FROM (%[2]s) c
		JOIN users o ON o.id = c.channel_id
		LEFT JOIN categories g ON g.id = c.category_id
		ORDER BY c.%[1]s DESC, c.id DESC`, c.column, keys),
		append(append([]any{}, contentArgs...), args...),
		func(scan func(...any) error) error {
			r := vodRow{row: &moderatov1.Vod{Category: &moderatov1.ContentCategory{}}}
			var startedAt, endedAt instant.Instant
			var owner person
			g := r.row.GetCategory()
			err := scan(&r.Key, &r.ID, &r.row.Title, &r.row.ViewCount, &r.row.Duration, &r.row.PreviewImgUrl, &startedAt, &endedAt,
				&g.Id, &g.ParentId, &g.Name, &g.Slug, &g.ImageUrl, &owner.id, &owner.Username, &owner.AvatarUrl)
			r.row.Id, r.row.StartedAt, r.row.EndedAt, r.row.Channel = r.ID.String(), startedAt.Proto(), endedAt.Proto(), owner.proto()
			rows = append(rows, r)
			return err
		})
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, c.list, rows, c.limit, func(r vodRow) any { return r.contentPlace })
	result := &moderatov1.ListVodsResponse{Count: c.channel.VodCount, Pagination: pagination}
	for _, r := range page {
		result.Rows = append(result.Rows, r.row)
	}
	return result, err
}
