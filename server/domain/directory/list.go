package directory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/counts"
)

// channelFilter selects the channels of a list.
type channelFilter struct {
	slugs      []string
	categories []int64
	liveOnly   bool
}

func parseChannelFilter(f *validate.Fields, req *moderatov1.ListChannelsRequest) channelFilter {
	filter := channelFilter{liveOnly: req.GetType() == "live"}
	if req.GetType() != "" {
		f.Choice("type", req.GetType())
	}
	if f.AtMost("slug[]", len(req.GetSlug())) {
		for _, slug := range req.GetSlug() {
			if strings.HasSuffix(slug, " ") {
				slug = "" // nobody's; the comparison of MariaDB and MySQL ignores spaces at the end
			}
			filter.slugs = append(filter.slugs, strings.ToLower(slug))
		}
		filter.slugs = sortedSet(filter.slugs)
	}
	if f.AtMost("categoryId[]", len(req.GetCategoryId())) {
		filter.categories = sortedSet(req.GetCategoryId())
	}
	return filter
}

func sortedSet[T interface{ ~string | ~int64 }](values []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// name returns the name of the list, to which its cursors are bound.
func (f channelFilter) name() string {
	return fmt.Sprintf("ListChannels/%q/%v/%t", f.slugs, f.categories, f.liveOnly)
}

// channelPlace is a place in a list of channels: the sort key that a channel had when it
// was read. The list continues after it.
type channelPlace struct {
	IsLive  bool
	Viewers int64
	ID      uid.ID
}

// channelRow is a channel with its place in the list.
type channelRow struct {
	channelPlace
	*moderatov1.Channel
}

// ListChannels returns a page of channels.
func (s *Service) ListChannels(ctx context.Context, req *moderatov1.ListChannelsRequest) (*moderatov1.ListChannelsResponse, error) {
	f := validate.Of(req)
	limit := f.Limit("limit", req.Limit)
	filter := parseChannelFilter(f, req)
	if err := f.Err(); err != nil {
		return nil, err
	}
	var after *channelPlace
	if err := paging.Read(ctx, s.Store, filter.name(), req.GetCursor(), &after); err != nil {
		return nil, err
	}
	count, err := s.countChannels(ctx, filter)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	rows, err := s.readChannels(ctx, filter, after, limit+1)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, filter.name(), rows, limit, func(r channelRow) any { return r.channelPlace })
	if err != nil {
		return nil, err
	}
	result := &moderatov1.ListChannelsResponse{Count: count, Pagination: pagination, Rows: make([]*moderatov1.Channel, 0, len(page))}
	for _, r := range page {
		result.Rows = append(result.Rows, r.Channel)
	}
	return result, nil
}

// channelsQuery holds the parameters of channelsPage.
type channelsQuery struct {
	filter channelFilter
	after  *channelPlace
	limit  int
}

// channelsPage selects a page of channels. A subquery, see keys, finds the keys of the
// page. Joins add the other columns.
var channelsPage = store.Declare(func(_ *store.Dialect, q channelsQuery) (string, []any) {
	keys, args := q.filter.keys(q.after, q.limit)
	return `
		SELECT k.is_live, k.viewer_count, k.id, c.title, c.bio, c.lang, c.follower_count, c.category_id,
			u.display_name, u.slug, u.avatar_url,
			COALESCE(g.name, ?), COALESCE(g.slug, ?), COALESCE(g.image_url, '')
		FROM (` + keys + `) k
		JOIN channels c ON c.id = k.id
		JOIN users u ON u.id = k.id
		LEFT JOIN categories g ON g.id = c.category_id
		ORDER BY k.is_live DESC, k.viewer_count DESC, k.id DESC` + store.Limit(q.limit),
		append([]any{UncategorizedName, UncategorizedSlug}, args...)
})

// readChannels reads up to limit rows.
func (s *Service) readChannels(ctx context.Context, filter channelFilter, after *channelPlace, limit int) ([]channelRow, error) {
	rows := make([]channelRow, 0, limit)
	err := channelsPage.Each(ctx, s.Store, channelsQuery{filter, after, limit}, func(r *store.Row) error {
		c := channelRow{channelPlace: channelPlace{r.Bool(), r.Int(), r.ID()}}
		c.Channel = &moderatov1.Channel{
			Id: c.ID.String(), IsLive: c.channelPlace.IsLive,
			Title: r.Text(), Bio: r.Text(), Lang: r.Text(), FollowerCount: r.Int(), Category: &moderatov1.ChannelCategory{Id: r.Int()},
			DisplayName: r.Text(), Slug: r.Text(), AvatarUrl: r.Text(),
		}
		c.Category.Name, c.Category.Slug, c.Category.ImageUrl = r.Text(), r.Text(), r.Text()
		rows = append(rows, c)
		return nil
	})
	return rows, err
}

// keys returns a query for the keys of a page. Slugs name few channels, so the query
// selects all of them for sorting. Otherwise the query reads ranges of an index backward,
// for each category, and merges at most limit keys of each range.
func (f channelFilter) keys(after *channelPlace, limit int) (query string, args []any) {
	if len(f.slugs) > 0 {
		return f.keysBySlug(after)
	}
	categories := f.categories
	conditions := []string{""}
	if len(categories) > 0 {
		conditions = slices.Repeat([]string{"category_id = ? AND "}, len(categories))
	}
	var parts []string
	for i, condition := range conditions {
		for _, r := range ranges(after, f.liveOnly) {
			parts = append(parts, "SELECT * FROM (SELECT is_live, viewer_count, id FROM channels WHERE "+condition+r.where+
				" ORDER BY is_live DESC, viewer_count DESC, id DESC"+store.Limit(limit)+") r"+strconv.Itoa(len(parts)))
			if condition != "" {
				args = append(args, categories[i])
			}
			args = append(args, r.args...)
		}
	}
	return strings.Join(parts, " UNION ALL "), args
}

// keyRange is a range of the index on is_live, viewer_count and id.
type keyRange struct {
	where string
	args  []any
}

// ranges returns the index ranges after a place; nil is the start. Some stores would
// evaluate a single comparison of all three columns from the start of the index.
func ranges(after *channelPlace, liveOnly bool) []keyRange {
	var found []keyRange
	if after == nil {
		found = append(found, keyRange{"is_live = ?", []any{true}})
	} else {
		found = append(found,
			keyRange{"is_live = ? AND viewer_count = ? AND id < ?", []any{after.IsLive, after.Viewers, after.ID}},
			keyRange{"is_live = ? AND viewer_count < ?", []any{after.IsLive, after.Viewers}})
	}
	if !liveOnly && (after == nil || after.IsLive) {
		found = append(found, keyRange{"is_live = ?", []any{false}})
	}
	return found
}

func (f channelFilter) keysBySlug(after *channelPlace) (query string, args []any) {
	where, args := f.whereSlug()
	if after != nil {
		where += " AND (c.is_live < ? OR (c.is_live = ? AND (c.viewer_count < ? OR (c.viewer_count = ? AND c.id < ?))))"
		args = append(args, after.IsLive, after.IsLive, after.Viewers, after.Viewers, after.ID)
	}
	return "SELECT c.is_live, c.viewer_count, c.id FROM users u JOIN channels c ON c.id = u.id WHERE " + where, args
}

func (f channelFilter) whereSlug() (where string, args []any) {
	where = "u.slug IN (" + store.Placeholders(len(f.slugs)) + ")"
	for _, slug := range f.slugs {
		args = append(args, slug)
	}
	if len(f.categories) > 0 {
		where += " AND c.category_id IN (" + store.Placeholders(len(f.categories)) + ")"
		for _, category := range f.categories {
			args = append(args, category)
		}
	}
	if f.liveOnly {
		where += " AND c.is_live = ?"
		args = append(args, true)
	}
	return where, args
}

// slugCount counts the channels that match a filter with slugs.
var slugCount = store.Declare(func(_ *store.Dialect, filter channelFilter) (string, []any) {
	where, args := filter.whereSlug()
	return "SELECT COUNT(*) FROM users u JOIN channels c ON c.id = u.id WHERE " + where, args
})

// countChannels returns how many channels match. It reads maintained counts or, with
// slugs, counts the few channels that the slugs name.
func (s *Service) countChannels(ctx context.Context, filter channelFilter) (count int64, err error) {
	if len(filter.slugs) == 0 {
		return counts.Read(ctx, s.Store, filter.categories, filter.liveOnly)
	}
	err = slugCount.One(ctx, s.Store, filter, func(r *store.Row) { count = r.Int() })
	return count, err
}
