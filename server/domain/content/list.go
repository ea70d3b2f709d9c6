package content

import (
	"context"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
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
func (c *content) keys(d *store.Dialect, entity string) (query string, args []any) {
	where, args := d.Below(c.column, "id", c.after.Key, c.after.ID)
	return "SELECT * FROM " + entity + "s" + d.ByIndex(entity+"_channel_id_"+c.column+"_id") + `
		WHERE channel_id = ? AND ` + where + `
		ORDER BY ` + c.column + ` DESC, id DESC` + store.Limit(c.limit+1),
		append([]any{c.channel.ID}, args...)
}

// page returns a query for the page, with its arguments: columns of the clips or VODs,
// which are c, then contentColumns. joins follows them in the FROM clause.
func (c *content) page(d *store.Dialect, entity, columns, joins string) (query string, args []any) {
	keys, args := c.keys(d, entity)
	return `
		SELECT c.` + c.column + `, c.id, ` + columns + `, ` + contentColumns + `
		FROM (` + keys + `) c ` + joins + `
		JOIN users o ON o.id = c.channel_id
		LEFT JOIN categories g ON g.id = c.category_id
		ORDER BY c.` + c.column + ` DESC, c.id DESC` + store.Limit(c.limit+1),
		append(append([]any{}, contentArgs...), args...)
}

// clipsPage selects a page of a channel's clips.
var clipsPage = store.Declare(func(d *store.Dialect, c *content) (string, []any) {
	return c.page(d, "clip", `c.title, c.view_count, c.duration, c.preview_img_url, c.clip_url,
			u.id, u.username, u.avatar_url`, "JOIN users u ON u.id = c.creator_id")
})

// vodsPage selects a page of a channel's recorded streams.
var vodsPage = store.Declare(func(d *store.Dialect, c *content) (string, []any) {
	return c.page(d, "vod", "c.title, c.view_count, c.duration, c.preview_img_url, c.started_at, c.ended_at", "")
})

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
	var rows []clipRow
	err = clipsPage.Each(ctx, s.Store, c, func(r *store.Row) error {
		clip := clipRow{contentPlace: contentPlace{r.Int(), r.ID()}}
		clip.row = &moderatov1.Clip{
			ClipId: clip.ID.String(),
			Title:  r.Text(), ViewCount: r.Int(), Duration: r.Int(), PreviewImgUrl: r.Text(), ClipUrl: r.Text(),
			Creator: readUser(r), Category: readCategory(r), Channel: readUser(r),
		}
		rows = append(rows, clip)
		return nil
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
	var rows []vodRow
	err = vodsPage.Each(ctx, s.Store, c, func(r *store.Row) error {
		vod := vodRow{contentPlace: contentPlace{r.Int(), r.ID()}}
		vod.row = &moderatov1.Vod{
			Id:    vod.ID.String(),
			Title: r.Text(), ViewCount: r.Int(), Duration: r.Int(), PreviewImgUrl: r.Text(),
			StartedAt: r.Instant().Proto(), EndedAt: r.Instant().Proto(),
			Category: readCategory(r), Channel: readUser(r),
		}
		rows = append(rows, vod)
		return nil
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
