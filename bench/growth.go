package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// timing measures two operations in turns, one call at a time, and returns their
// median times. Warm-up calls are not counted.
func timing(calls int, a, b func() error) (medianA, medianB time.Duration, err error) {
	const warmUp = 50
	var took [2][]time.Duration
	for n := range warmUp + calls {
		for i, call := range []func() error{a, b} {
			start := time.Now()
			if err := call(); err != nil {
				return 0, 0, err
			}
			if n >= warmUp {
				took[i] = append(took[i], time.Since(start))
			}
		}
	}
	return median(took[0]), median(took[1]), nil
}

// compared returns r with two medians and their ratio.
func compared(r row, base, other time.Duration) row {
	r.Floor.P50, r.Moderato.P50 = base, other
	r.Value, r.AtMost = float64(other)/float64(base), true
	if r.Unit == "" {
		r.Unit = "× the time"
	}
	return r
}

// grown is a server on a data set, with one connection.
type grown struct {
	*server
	client moderatov1.ChannelsServiceClient
	owner  context.Context //nolint:containedctx // who asks, for all calls
}

func (b *bench) openGrown(ctx context.Context, store string, d *dataset) (*grown, error) {
	db, err := b.database(ctx, store, d)
	if err != nil {
		return nil, err
	}
	s, err := b.startModerato(ctx, db)
	if err != nil {
		return nil, err
	}
	owners, err := b.issueOwners(ctx, s, db)
	if err != nil {
		return nil, err
	}
	conns, _, err := dial(ctx, s, 1)
	if err != nil {
		return nil, err
	}
	return &grown{s, moderatov1.NewChannelsServiceClient(conns[0]), owners[0].outgoing(ctx)}, nil
}

func (g *grown) followers(cursor string, limit int32) (*moderatov1.ListFollowersResponse, error) {
	return g.client.ListFollowers(g.owner, &moderatov1.ListFollowersRequest{Cursor: cursor, Limit: &limit})
}

// count requests one channel of a category, and the number of its channels.
func (g *grown) count() error {
	one := int32(1)
	_, err := g.client.ListChannels(g.owner, &moderatov1.ListChannelsRequest{CategoryId: []int64{7}, Limit: &one})
	return err
}

// deepPages returns the last cursors before page n, at most 100, for pages of 20. It
// reads 100 rows at a time, so the cursors are 5 pages apart.
func (g *grown) deepPages(n int) ([]string, error) {
	const kept, most, size = 100, 100, 20
	var cursors []string
	cursor := ""
	for passed := 0; passed < n*size; passed += most {
		res, err := g.followers(cursor, most)
		if err != nil {
			return nil, err
		}
		if next := res.GetPagination().GetCursor(); next != "" {
			cursor = next
			cursors = append(cursors, cursor)
		}
	}
	return cursors[max(0, len(cursors)-kept):], nil
}

// growth compares requests on few rows with requests on many rows.
func (b *bench) growth(ctx context.Context, store string) error {
	sizes := []*dataset{&small, &medium, &large}
	if b.large {
		sizes = append(sizes, &largest)
	}
	if !b.wants("first page of followers, page 50,000, count", store, "gRPC") {
		return nil
	}
	few, err := b.openGrown(ctx, store, sizes[0])
	if err != nil {
		return err
	}
	for _, size := range sizes[1:] {
		many, err := b.openGrown(ctx, store, size)
		if err != nil {
			return err
		}
		if size == sizes[len(sizes)-1] {
			if err := b.byPage(many, store, size.followers); err != nil {
				return err
			}
		}
		if err := b.bySize(few, many, store, size, size == sizes[len(sizes)-1]); err != nil {
			return err
		}
		many.stop()
	}
	return nil
}

// byPage compares page 50,000 with the first page. Each is requested again and again,
// so that both are in memory. The note has the ratio for other deep pages, which
// shows the cost of a page that is not in memory.
func (b *bench) byPage(g *grown, store string, followers int) error {
	deep, err := g.deepPages(pagesOfDeep)
	if err != nil {
		return err
	}
	if err := b.plotDepth(g, store, followers); err != nil {
		return err
	}
	const calls = 1000
	at := 0
	ask := func(cursor string) error { _, err := g.followers(cursor, 20); return err }
	first, others, err := timing(calls, func() error { return ask("") }, func() error { at++; return ask(deep[at%len(deep)]) })
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%.2f × for %d pages before it, in turns", float64(others)/float64(first), len(deep))
	first, last, err := timing(calls, func() error { return ask("") }, func() error { return ask(deep[len(deep)-1]) })
	return b.report(compared(row{
		What:  fmt.Sprintf("followers: page %s against the first, of %s", thousands(pagesOfDeep), thousands(followers)),
		Store: store, Transport: "gRPC", Connections: 1, Target: 1.2, Note: note,
	}, first, last), err)
}

// bySize compares the first page and the count on few rows and on many. It adds them
// to the plots, and reports them if isReported is true.
func (b *bench) bySize(few, many *grown, store string, size *dataset, isReported bool) error {
	const calls = 1000
	first := func(g *grown) func() error { return func() error { _, err := g.followers("", 20); return err } }
	firstOfFew, firstOfMany, err := timing(calls, first(few), first(many))
	if err != nil {
		return err
	}
	countOfFew, countOfMany, err := timing(calls, few.count, many.count)
	if err != nil {
		return err
	}
	b.plotSize(store, size, firstOfMany, countOfMany)
	if !isReported {
		return nil
	}
	b.plotSize(store, &small, firstOfFew, countOfFew)
	r := row{Store: store, Transport: "gRPC", Connections: 1, Target: 1.2}
	r.What = fmt.Sprintf("followers: first page of %s against %s", thousands(size.followers), thousands(small.followers))
	if err := b.report(compared(r, firstOfFew, firstOfMany), nil); err != nil {
		return err
	}
	r.What = fmt.Sprintf("channels: count and one row of %s against %s", thousands(size.channels-1), thousands(small.channels-1))
	return b.report(compared(r, countOfFew, countOfMany), nil)
}

// plotDepth measures pages of followers at increasing depths of the list.
func (b *bench) plotDepth(g *grown, store string, followers int) error {
	const most, size, calls = 100, 20, 200
	cursor, read := "", 0
	for _, page := range []int{1, 10, 100, 1000, 10_000, pagesOfDeep} {
		for ; read+most <= (page-1)*size; read += most {
			res, err := g.followers(cursor, most)
			if err != nil {
				return err
			}
			cursor = res.GetPagination().GetCursor()
		}
		ask := func() error { _, err := g.followers(cursor, size); return err }
		took, again, err := timing(calls, ask, ask)
		if err != nil {
			return err
		}
		b.addPoint(plot{
			File: "followers-by-page.svg", Axis: "page", Title: "A page of 20 of " + thousands(followers) + " followers, by how far into the list",
		}, store, duration(page, (took+again)/2))
	}
	return nil
}

// plotSize adds the first page and the count of a data set to the plots.
func (b *bench) plotSize(store string, d *dataset, page, count time.Duration) {
	b.addPoint(plot{File: "followers-by-size.svg", Axis: "followers", Title: "The first page of 20 followers, by how many there are"},
		store, duration(d.followers, page))
	b.addPoint(plot{File: "count-by-size.svg", Axis: "channels", Title: "One channel of a category and how many it has, by how many there are"},
		store, duration(d.channels-1, count))
}

// thousands formats a number with commas.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	var parts []string
	for len(digits) > 3 {
		parts = append(parts, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	parts = append(parts, digits)
	slices.Reverse(parts)
	text := parts[0]
	for _, p := range parts[1:] {
		text += "," + p
	}
	return text
}
