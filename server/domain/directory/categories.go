package directory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/text/cases"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// match is how well the name of a category matches a query. A lower one is better.
type match int

const (
	matchName match = iota
	matchStart
	matchWord
	matchPart
	noMatch
)

// matchOf returns how well a name matches a query. Both are folded.
func matchOf(name, query string) match {
	switch {
	case name == query:
		return matchName
	case strings.HasPrefix(name, query):
		return matchStart
	case strings.Contains(name, " "+query):
		return matchWord
	case strings.Contains(name, query):
		return matchPart
	}
	return noMatch
}

// categoryPlace is a place in a list of categories, which are sorted by match, name and
// id.
type categoryPlace struct {
	Match match
	Name  string // folded
	ID    int64
}

func (p categoryPlace) compare(q categoryPlace) int {
	return cmp.Or(cmp.Compare(p.Match, q.Match), cmp.Compare(p.Name, q.Name), cmp.Compare(p.ID, q.ID))
}

// categoryRow is a category with its place in the list.
type categoryRow struct {
	categoryPlace
	*moderatov1.Category
}

// ListCategories returns a page of the categories whose name contains a text.
func (s *Service) ListCategories(ctx context.Context, req *moderatov1.ListCategoriesRequest) (*moderatov1.ListCategoriesResponse, error) {
	f := validate.Of(req)
	if req.GetQuery() != "" && req.GetTerm() != "" {
		f.Exclude("query", "term")
	}
	query := cases.Fold().String(cmp.Or(f.Text("query", req.GetQuery()), f.Text("term", req.GetTerm())))
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	list := "ListCategories/" + query
	var after *categoryPlace
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &after); err != nil {
		return nil, err
	}
	rows, err := s.readCategories(ctx, query, after)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	rows = rows[:min(len(rows), limit+1)]
	page, pagination, err := paging.Cut(ctx, s.Store, list, rows, limit, func(r categoryRow) any { return r.categoryPlace })
	result := &moderatov1.ListCategoriesResponse{Pagination: pagination}
	for _, r := range page {
		result.Rows = append(result.Rows, r.Category)
	}
	return result, err
}

// allCategories selects the categories. A platform has thousands of them at most, and no
// index finds a part of a name in every database, so a search reads all.
var allCategories = store.Declare(func(*store.Dialect, struct{}) (string, []any) {
	return "SELECT id, name, slug, image_url, parent_id FROM categories", nil
})

// readCategories reads the categories that match a query and follow a place, in the order
// of the list.
func (s *Service) readCategories(ctx context.Context, query string, after *categoryPlace) (rows []categoryRow, err error) {
	fold := cases.Fold()
	err = allCategories.Each(ctx, s.Store, struct{}{}, func(r *store.Row) error {
		found := &moderatov1.Category{Id: r.Int(), Name: r.Text(), Slug: r.Text(), ImageUrl: r.Text(), ParentId: r.OptionalInt()}
		found.Title = found.GetName()
		place := categoryPlace{Name: fold.String(found.GetName()), ID: found.GetId()}
		place.Match = matchOf(place.Name, query)
		if place.Match != noMatch && (after == nil || place.compare(*after) > 0) {
			rows = append(rows, categoryRow{place, found})
		}
		return nil
	})
	slices.SortFunc(rows, func(a, b categoryRow) int { return a.compare(b.categoryPlace) })
	return rows, err
}
