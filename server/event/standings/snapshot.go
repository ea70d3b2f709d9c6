package standings

import (
	"context"
	"maps"
	"slices"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// rowsAtOnce is how many rows of a snapshot one statement reads, and one message has.
	rowsAtOnce = 4000
	// channelsAtOnce is how many channels one statement of a snapshot names.
	channelsAtOnce = 50
	// readsAtOnce is how many statements of snapshots run concurrently, for all streams of
	// a process. Streams take turns.
	readsAtOnce = 2
)

// row is a ban, mute or role.
type row struct {
	channelID, userID uid.ID
	// first and second are the columns of the table: the time of a ban and its end, the end
	// of a mute, or the role.
	first, second int64
	// number is the number of the row, if the query has one.
	number int64
}

// source is a table of a snapshot.
type source struct {
	table string
	rows  store.Statement[rowsQuery]
	read  func(r *store.Row, into *row)
	// isSplit reports that a user may have several rows in a channel.
	isSplit bool
	add     func(m *platformv1.StandingsSnapshot, rows []row)
}

// rowsQuery asks for the rows that follow a place, in the order of channels and users.
type rowsQuery struct {
	// channels are the channels; none for every channel. One channel continues after a user,
	// several begin with their first rows.
	channels []uid.ID
	// channelID and userID are the place after which to continue.
	channelID, userID uid.ID
	// number and last are used instead of the place if the database stores rows by number:
	// that after which to continue, and the last one.
	number, last int64
}

// declare declares the statement for the rows of a table.
func declare(table, columns string, along func(*store.Dialect) string) store.Statement[rowsQuery] {
	return store.Declare(func(d *store.Dialect, q rowsQuery) (string, []any) {
		var where string
		var args []any
		switch len(q.channels) {
		case 0:
			if number := d.RowNumber(); number != "" {
				// Along the primary key, each row would be looked up by its number.
				return "SELECT channel_id, user_id, " + columns + ", " + number + " FROM " + table + " WHERE " + number + " > ? AND " + number + " <= ? ORDER BY " +
					number + store.Limit(rowsAtOnce), []any{q.number, q.last}
			}
			where, args = d.Above("channel_id", "user_id", q.channelID, q.userID)
		case 1:
			where, args = "channel_id = ? AND user_id > ?", []any{q.channels[0], q.userID}
		default:
			where, args = "channel_id IN ("+store.Placeholders(len(q.channels))+")", store.Args(q.channels)
		}
		return "SELECT channel_id, user_id, " + columns + " FROM " + table + along(d) + " WHERE " + where +
			" ORDER BY channel_id, user_id" + store.Limit(rowsAtOnce), args
	})
}

func alongKey(table string) func(*store.Dialect) string {
	return func(d *store.Dialect) string { return d.ByPrimaryKey(table) }
}

// sources are the tables of a snapshot.
var sources = []source{
	{
		table: "bans",
		rows:  declare("bans", "banned_at, expires_at", alongKey("bans")),
		read: func(r *store.Row, into *row) {
			into.first, into.second = r.Int(), 0
			if at := r.OptionalInt(); at != nil {
				into.second = *at
			}
		},
		add: addBans,
	},
	{
		table: "mutes",
		rows:  declare("mutes", "expires_at", alongKey("mutes")),
		read:  func(r *store.Row, into *row) { into.first = r.Int() },
		add:   addMutes,
	},
	{
		table: "roles",
		rows:  declare("roles", "role", func(d *store.Dialect) string { return d.ByIndex("role_channel_id_user_id_role") }),
		read: func(r *store.Row, into *row) {
			into.first = int64(effects[eventtype.Type("channel."+r.Text()+".add")].role)
		},
		isSplit: true,
		add:     addRoles,
	},
}

// sendSnapshot sends all rows. Users and channels whose rows are being erased are told of
// afterwards: whoever is deleted after the list of them was read is told of as a change.
func (s *stream) sendSnapshot(ctx context.Context, present *state) error {
	began := time.Now()
	deleted, err := s.observer.underErasure(ctx)
	if err != nil {
		return err
	}
	caller := authn.FromContext(ctx)
	reading := fair.NewContext(ctx, fair.Request{Owner: fair.Owner{Client: caller.ClientID}}) // it waits for its turn
	page := &page{stream: s, state: present, rows: make([]row, 0, rowsAtOnce)}
	for _, from := range sources {
		if err := page.sendAll(reading, from); err != nil {
			return err
		}
	}
	s.metrics.snapshots.Observe(time.Since(began).Seconds())
	return s.sendDeletions(ctx, slices.Collect(maps.Keys(deleted)), present)
}

// sendDeletions sends deletions in messages that a gRPC client accepts by default.
func (s *stream) sendDeletions(ctx context.Context, deleted []deletion, present *state) error {
	for some := range slices.Chunk(deleted, rowsAtOnce) {
		m := &platformv1.WatchStandingsResponse{ServerTime: int64(present.present())}
		for _, d := range some {
			s.addDeletion(m, d)
		}
		if len(m.GetChanges()) == 0 {
			continue
		}
		if err := s.deliver(ctx, m, present); err != nil {
			return err
		}
	}
	return nil
}

// page reads and sends the rows of a snapshot, one page at a time.
type page struct {
	*stream

	state *state
	rows  []row
}

// sendAll sends the rows of a table.
func (p *page) sendAll(ctx context.Context, from source) error {
	if p.channels.isEverything() {
		return p.sendTable(ctx, from)
	}
	left := p.channels.ids
	for len(left) > 0 {
		some := left[:min(len(left), channelsAtOnce)]
		isFull, err := p.sendPage(ctx, from, rowsQuery{channels: some})
		if err != nil {
			return err
		}
		if !isFull {
			left = left[len(some):]
			continue
		}
		// Continue with the last channel alone, and then with those after it.
		last := p.rows[len(p.rows)-1]
		if err := p.sendRange(ctx, from, rowsQuery{channels: []uid.ID{last.channelID}, userID: last.userID}); err != nil {
			return err
		}
		for len(left) > 0 && compareIDs(left[0], last.channelID) <= 0 {
			left = left[1:]
		}
	}
	return nil
}

// sendTable sends all rows of a table. Rows that are inserted meanwhile need not be among
// them, because their changes follow.
func (p *page) sendTable(ctx context.Context, from source) error {
	var q rowsQuery
	if number := p.Store.RowNumber(); number != "" {
		err := store.QueryRow(ctx, p.Store.Read, "SELECT COALESCE(MAX("+number+"), 0) FROM "+from.table, nil, &q.last)
		if err != nil {
			return p.Store.Classify(err)
		}
	}
	return p.sendRange(ctx, from, q)
}

// sendRange sends the rows of a query and all that follow them.
func (p *page) sendRange(ctx context.Context, from source, q rowsQuery) error {
	for {
		isFull, err := p.sendPage(ctx, from, q)
		if err != nil || !isFull {
			return err
		}
		last := p.rows[len(p.rows)-1]
		q.channelID, q.userID, q.number = last.channelID, last.userID, last.number
	}
}

// sendPage sends the next rows of a query. It reports whether more may follow the last of
// p.rows.
func (p *page) sendPage(ctx context.Context, from source, q rowsQuery) (isFull bool, err error) {
	if err := p.read(ctx, from, q); err != nil {
		return false, err
	}
	isFull = len(p.rows) == rowsAtOnce
	if isFull && from.isSplit && q.last == 0 {
		// The last user may have more rows. They are read again with the next page.
		last := p.rows[len(p.rows)-1]
		for p.rows[len(p.rows)-1].userID == last.userID && p.rows[len(p.rows)-1].channelID == last.channelID {
			p.rows = p.rows[:len(p.rows)-1]
		}
	}
	if len(p.rows) == 0 {
		return false, nil
	}
	m := &platformv1.WatchStandingsResponse{ServerTime: int64(p.state.present()), Snapshot: &platformv1.StandingsSnapshot{}}
	all := p.rows
	if q.last > 0 {
		all = slices.SortedStableFunc(slices.Values(all), func(a, b row) int { return compareIDs(a.channelID, b.channelID) })
	}
	for rows := all; len(rows) > 0; {
		n := 1
		for n < len(rows) && rows[n].channelID == rows[0].channelID {
			n++
		}
		from.add(m.GetSnapshot(), rows[:n])
		rows = rows[n:]
	}
	return isFull, p.deliver(ctx, m, p.state)
}

func (p *page) read(ctx context.Context, from source, q rowsQuery) error {
	slot, err := p.reads.Acquire(ctx)
	if err != nil {
		return err
	}
	defer slot.Release()
	p.rows = p.rows[:0]
	err = from.rows.Each(ctx, p.Store, q, func(r *store.Row) error {
		next := row{channelID: r.ID(), userID: r.ID()}
		from.read(r, &next)
		if q.last > 0 {
			next.number = r.Int()
		}
		p.rows = append(p.rows, next)
		return nil
	})
	return p.Store.Classify(err)
}

// userIDs returns the ids of the users of some rows, one after the other.
func userIDs(rows []row) []byte {
	ids := make([]byte, 0, len(rows)*len(uid.ID{}))
	for i := range rows {
		ids = append(ids, rows[i].userID[:]...)
	}
	return ids
}

func addBans(m *platformv1.StandingsSnapshot, rows []row) {
	b := &platformv1.StandingsBans{ChannelId: rows[0].channelID[:], UserIds: userIDs(rows), BannedAt: make([]int64, len(rows))}
	for i := range rows {
		b.BannedAt[i] = rows[i].first
		if rows[i].second != 0 && b.ExpiresAt == nil {
			b.ExpiresAt = make([]int64, len(rows))
		}
		if b.ExpiresAt != nil {
			b.ExpiresAt[i] = rows[i].second
		}
	}
	m.Bans = append(m.Bans, b)
}

func addMutes(m *platformv1.StandingsSnapshot, rows []row) {
	b := &platformv1.StandingsMutes{ChannelId: rows[0].channelID[:], UserIds: userIDs(rows), ExpiresAt: make([]int64, len(rows))}
	for i := range rows {
		b.ExpiresAt[i] = rows[i].first
	}
	m.Mutes = append(m.Mutes, b)
}

func addRoles(m *platformv1.StandingsSnapshot, rows []row) {
	b := &platformv1.StandingsRoles{ChannelId: rows[0].channelID[:], UserIds: userIDs(rows), Roles: make([]platformv1.Role, len(rows))}
	for i := range rows {
		b.Roles[i] = platformv1.Role(rows[i].first)
	}
	m.Roles = append(m.Roles, b)
}
