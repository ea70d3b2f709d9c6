package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
)

// maxPages is how many pages of a list are read.
const maxPages = 12

// pages reads the pages of a list.
func (r *run) pages(ctx context.Context, o *operation, a *actor, in *inspection) {
	if _, missing := r.fill(a, o.query(a), nil); missing != "" {
		return
	}
	repeated, problem := r.walk(ctx, o, a, in)
	if repeated { // a row may have moved meanwhile, but not always
		_, problem = r.walk(ctx, o, a, in)
	}
	if problem != "" {
		r.find("paging.md", o.String(), "over the pages:", problem)
	}
}

// walk reads the pages of a list, first small ones.
func (r *run) walk(ctx context.Context, o *operation, a *actor, in *inspection) (repeated bool, problem string) {
	seen, cursor := map[any]bool{}, ""
	for page := 1; ; page++ {
		limit := min(page, o.limit)
		if page > 3 {
			limit = o.limit
		}
		query, _ := r.fill(a, o.query(a), nil)
		query = with(query, fmt.Sprintf("limit=%d&cursor=%s", limit, cursor))
		got := r.send(ctx, o, r.request(o, a, query), expectation{status: http.StatusOK, section: "paging.md"})
		if got == nil {
			return false, ""
		}
		r.data(o, got, in)
		rows := rowsOf(got.payload["data"])
		if len(rows) > limit {
			return false, fmt.Sprintf("there are %d rows with limit=%d", len(rows), limit)
		}
		for _, row := range rows {
			id := o.identityOf(row)
			if seen[id] {
				return true, fmt.Sprintf("the row %v is on two pages", id)
			}
			seen[id] = true
		}
		cursor, _ = valueAt(got.payload["data"], "pagination.cursor").(string)
		if cursor == "" {
			return r.total(got, len(seen))
		}
		r.cursors[o.path] = cursor
		if page == maxPages {
			r.skip(o.String(), fmt.Sprintf("the list has more than %d rows: its last page was not read", len(seen)))
			return false, ""
		}
	}
}

// total compares the count of a list with the rows of its pages.
func (r *run) total(last *answer, rows int) (mayChange bool, problem string) {
	count := valueAt(last.payload["data"], "count")
	if count == nil || fmt.Sprint(count) == strconv.Itoa(rows) {
		return false, ""
	}
	return true, fmt.Sprintf("there are %d rows, want count, which is %v", rows, count)
}
