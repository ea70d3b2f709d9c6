package live

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/chatbatch"
	"github.com/moderato-live/moderato/ent/chatserver"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// keepBatches is how long a batch is kept for the other servers.
	keepBatches = 10 * time.Second
	// removeInterval is how often old batches are removed, and removedAtOnce is how many
	// one transaction removes.
	removeInterval = 5 * time.Second
	removedAtOnce  = 200
)

// Tables describes the tables with which servers exchange messages.
var Tables = []domain.Table{
	{
		// The rows exist for some seconds. Messages of a deleted user or channel are not
		// delivered, because they are not visible.
		Name: "chat_batches", Impersonal: []string{"server_id", "messages"},
		Expire: &jobs.Job{
			Name: "remove delivered chat messages", Interval: removeInterval,
			Run: func(ctx context.Context, env jobs.Env) error { return removeBatches(ctx, env.Store) },
		},
	},
	{
		Name: "chat_servers",
		Expire: &jobs.Job{
			Name: "remove stopped chat servers", Interval: time.Minute,
			Run: func(ctx context.Context, env jobs.Env) error { return removeServers(ctx, env.Store) },
		},
	},
}

// removeBatches removes the batches that every server has read. It writes nothing if there
// are none.
func removeBatches(ctx context.Context, s *store.Store) error {
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return err
	}
	for {
		ids, err := s.Read.ChatBatch.Query().Where(chatbatch.CreatedAtLTE(now.Add(-keepBatches))).Limit(removedAtOnce).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return err
		}
		err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			_, err := tx.ChatBatch.Delete().Where(chatbatch.IDIn(ids...)).Exec(ctx)
			return err
		})
		if err != nil || len(ids) < removedAtOnce {
			return err
		}
	}
}

// removeServers removes the rows of servers that have stopped.
func removeServers(ctx context.Context, s *store.Store) error {
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return err
	}
	ids, err := s.Read.ChatServer.Query().Where(chatserver.ExpiresAtLTE(now)).Limit(removedAtOnce).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := tx.ChatServer.Delete().Where(chatserver.IDIn(ids...), chatserver.ExpiresAtLTE(now)).Exec(ctx)
		return err
	})
}
