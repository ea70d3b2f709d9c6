package live

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/chatserver"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// sendInterval is the minimum time from one batch for other servers to the next.
	sendInterval = 50 * time.Millisecond
	// receiveInterval is how often to look for batches of other servers.
	receiveInterval = 40 * time.Millisecond
	// maxRowBytes is the size of a row from which on further messages go into another one.
	maxRowBytes = 256 << 10
	// sendTimeout bounds the writing of batches. What could not be written is dropped.
	sendTimeout = 2 * time.Second
	// listenTime is how long other servers send batches after a server announced that it
	// has listeners. It renews the announcement at each renewInterval. An announcement
	// that is older than freshTime must be renewed before a listener relies on it.
	listenTime    = 30 * time.Second
	renewInterval = 8 * time.Second
	freshTime     = 20 * time.Second
	// renewTimeout bounds the renewal of the announcement.
	renewTimeout = 5 * time.Second
	// joinTimeout bounds how long a new listener waits for the announcement, and retryTime
	// is how long further ones do not wait after it failed.
	joinTimeout = time.Second
	retryTime   = 5 * time.Second
	// rowTime is how long the row of a server is kept without a renewal.
	rowTime = 2 * time.Minute
)

// exchange passes messages on between servers. A server that has listeners announces it
// in its row of chat_servers. While any other server does so, a server writes the messages
// that it posts as rows of chat_batches, numbered without gaps, and the others read the
// numbers that they have not seen. A server that runs alone writes no batches.
type exchange struct {
	hub  *Hub
	id   uid.ID
	wake store.Signal
	// began is raised when this server begins to read the batches of others.
	began store.Signal

	mu      sync.Mutex
	posted  []posted // for other servers
	numbers numbers

	sequence int64    // of the latest batch; used by send only
	recent   []posted // over NATS, and not in the table; used by send only

	link *link // to NATS; nil if servers use only the table
	gate gate

	taking sync.Mutex

	read   store.Latest // batches of other servers were read
	wanted store.Latest // another server without NATS was found

	joining *semaphore.Weighted // of one, held while the announcement is written

	state     sync.Mutex
	listeners int
	isReading bool
	freshAt   time.Time        // when the announcement was last written
	failedAt  time.Time        // when it could not be written
	seen      map[uid.ID]int64 // the batches that were read, by server; nil before the start is known
}

func newExchange(h *Hub) exchange {
	return exchange{hub: h, id: uid.New(), wake: store.NewSignal(), began: store.NewSignal(), numbers: newNumbers(), joining: semaphore.NewWeighted(1)}
}

// post adds a message to the next batch for other servers.
func (x *exchange) post(m Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.numbers.next(m.ChannelID) // also of a message that is dropped, so that others know
	if len(x.posted) >= maxPosted {
		x.hub.dropped.WithLabelValues(causeSend).Inc()
		return
	}
	x.posted = append(x.posted, posted{m, n, time.Now()})
	x.wake.Raise()
}

// send writes batches until ctx ends.
func (x *exchange) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.wake:
		}
		began := time.Now()
		x.mu.Lock()
		posted := x.posted
		x.posted = nil
		x.mu.Unlock()
		if x.link != nil {
			if posted = x.sendOverLink(posted); len(posted) == 0 {
				continue
			}
		}
		if err := x.sendAll(ctx, posted); err != nil && ctx.Err() == nil {
			x.hub.dropped.WithLabelValues(causeSend).Add(float64(len(posted)))
			x.hub.log.WarnContext(ctx, "chat messages could not be passed on to other servers", "messages", len(posted), "error", err)
		}
		pause(ctx, sendInterval-time.Since(began))
	}
}

// sendAll writes messages if another server has listeners.
func (x *exchange) sendAll(ctx context.Context, posted []posted) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if x.link == nil {
		query, args := x.readers()
		var isWanted bool
		if err := store.QueryRow(ctx, x.hub.store.Read, "SELECT EXISTS ("+query+")", args, &isWanted); err != nil || !isWanted {
			return err
		}
	}
	for len(posted) > 0 {
		var row []byte
		var err error
		n := 0
		for n < len(posted) && len(row) < maxRowBytes {
			if x.link == nil {
				row, err = appendMessage(row, posted[n].Message)
			} else {
				row, err = appendNumbered(row, x.id, posted[n])
			}
			if err != nil {
				return err
			}
			n++
		}
		posted = posted[n:]
		if err := x.write(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// readers selects the other servers that read the table.
func (x *exchange) readers() (query string, args []any) {
	now, args := x.hub.store.Clock.Expression()
	return "SELECT 1 FROM chat_servers WHERE id <> ? AND listens_until > " + now, append([]any{x.id}, args...)
}

// write writes a batch. The row of the server has the number of its latest batch, so a
// retry can tell whether an earlier attempt committed.
func (x *exchange) write(ctx context.Context, messages []byte) error {
	s := x.hub.store
	id, sequence := uid.New(), x.sequence+1
	write := func() error {
		return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			now, err := s.Clock.Now(ctx, tx)
			if err != nil {
				return err
			}
			if err := x.advance(ctx, tx, sequence, now); err != nil {
				return err
			}
			return tx.ChatBatch.Create().SetID(id).SetServerID(x.id).SetSequence(sequence).SetCreatedAt(now).SetMessages(messages).Exec(ctx)
		})
	}
	err := write()
	if s.IsDuplicate(err) { // the announcement created the row of the server meanwhile
		err = write()
	}
	// After an error the outcome may be unknown, so the number must not be used again.
	x.sequence = sequence
	return err
}

// advance writes the number of the latest batch to the server's row. It returns
// store.ErrCommitted if an earlier attempt wrote it.
func (x *exchange) advance(ctx context.Context, tx *ent.Tx, sequence int64, now instant.Instant) error {
	updated, err := tx.ChatServer.Update().Where(chatserver.ID(x.id), chatserver.SequenceLT(sequence)).
		SetSequence(sequence).SetExpiresAt(now.Add(rowTime)).
		Save(ctx)
	if err != nil || updated > 0 {
		return err
	}
	switch exists, err := tx.ChatServer.Query().Where(chatserver.ID(x.id)).Exist(ctx); {
	case err != nil:
		return err
	case exists:
		return store.ErrCommitted
	}
	return tx.ChatServer.Create().SetID(x.id).SetListensUntil(0).SetSequence(sequence).SetExpiresAt(now.Add(rowTime)).Exec(ctx)
}

// reads reports whether this server reads the batches of others.
func (x *exchange) reads() bool {
	x.state.Lock()
	defer x.state.Unlock()
	return x.isReading
}

// readAll reads the batches of other servers.
func (x *exchange) readAll(ctx context.Context) error {
	if x.link == nil && !x.reads() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	latest, err := x.sequences(ctx)
	if err != nil {
		return err
	}
	x.state.Lock()
	x.start(latest)
	maps.DeleteFunc(x.seen, func(server uid.ID, _ int64) bool { _, exists := latest[server]; return !exists })
	x.state.Unlock()
	for server, sequence := range latest {
		if err := x.readServer(ctx, server, sequence); err != nil {
			return err
		}
	}
	return nil
}

// start makes reading begin after the batches that others have written by now: nobody has
// listened here before. The caller must hold state.
func (x *exchange) start(latest map[uid.ID]int64) {
	if x.seen == nil {
		x.seen = maps.Clone(latest)
	}
}

// begin calls start once.
func (x *exchange) begin(ctx context.Context) error {
	x.state.Lock()
	isStarted := x.seen != nil
	x.state.Unlock()
	if isStarted {
		return nil
	}
	latest, err := x.sequences(ctx)
	if err != nil {
		return err
	}
	x.state.Lock()
	defer x.state.Unlock()
	x.start(latest)
	return nil
}

// sequences returns the numbers of the latest batches of the other servers.
func (x *exchange) sequences(ctx context.Context) (map[uid.ID]int64, error) {
	latest := map[uid.ID]int64{}
	err := store.QueryEach(ctx, x.hub.store.Read, "SELECT id, sequence FROM chat_servers WHERE id <> ?", []any{x.id}, func(scan func(...any) error) error {
		var id uid.ID
		var sequence int64
		err := scan(&id, &sequence)
		latest[id] = sequence
		return err
	})
	return latest, x.hub.store.Classify(err)
}

// batchesAtOnce bounds the batches of one server that one statement reads.
const batchesAtOnce = 20

// readServer reads the batches of a server up to its latest one.
func (x *exchange) readServer(ctx context.Context, server uid.ID, latest int64) error {
	x.state.Lock()
	after := x.seen[server]
	x.state.Unlock()
	for after < latest {
		var rows [][]byte
		err := store.QueryEach(ctx, x.hub.store.Read, "SELECT sequence, messages FROM chat_batches WHERE server_id = ? AND sequence > ? ORDER BY sequence"+store.Limit(batchesAtOnce),
			[]any{server, after}, func(scan func(...any) error) error {
				var row []byte
				err := scan(&after, &row)
				rows = append(rows, row)
				return err
			})
		if err != nil {
			return x.hub.store.Classify(err)
		}
		if len(rows) > 0 {
			x.read.Note()
		}
		for _, row := range rows {
			x.take(ctx, row)
		}
		if len(rows) < batchesAtOnce {
			after = max(after, latest) // what is not there was removed
		}
		x.state.Lock()
		x.seen[server] = max(after, x.seen[server])
		x.state.Unlock()
	}
	return nil
}

// take passes on the messages of a row, whichever way it came.
func (x *exchange) take(ctx context.Context, row []byte) {
	x.taking.Lock() // the order of numbers is that of the delivery
	defer x.taking.Unlock()
	x.hub.arrive(x.decode(ctx, row)...)
}

// decode returns those messages of a row for which this process has listeners.
func (x *exchange) decode(ctx context.Context, row []byte) []Message {
	messages, err := decodeMessages(row, x.isWanted, x.isNext)
	if err != nil {
		x.hub.log.WarnContext(ctx, "a batch of chat messages of another server is damaged", "error", err)
	}
	return messages
}
