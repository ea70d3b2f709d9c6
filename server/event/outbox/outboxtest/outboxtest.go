// Package outboxtest helps tests that write and sequence events without a server.
package outboxtest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// EachWorld runs a test on servertest.World in a store of each kind, without a server.
func EachWorld(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, url store.URL) { test(t, OpenWorld(t, url)) })
}

// OpenWorld opens a new database with servertest.World.
func OpenWorld(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	ctx := context.Background()
	storetest.Migrate(t, url)
	s, err := store.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	servertest.Import(t, s, servertest.World()...)
	return s
}

// NewSequencer returns a Sequencer without log output.
func NewSequencer(s *store.Store) *outbox.Sequencer {
	return outbox.NewSequencer(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
}

// Emit writes n events of a channel in one transaction.
func Emit(s *store.Store, channelID uid.ID, n int) error {
	return EmitThen(s, channelID, n, func() error { return nil })
}

// EmitThen is Emit, and calls then before the transaction commits.
func EmitThen(s *store.Store, channelID uid.ID, n int, then func() error) error {
	return change.ApplyUnattended(context.Background(), s, channelID, func(_ context.Context, c *change.Change) error {
		for range n {
			c.Emit("channel.chat.clear_user_messages", servertest.Viewer, &moderatov1.ClearUserMessagesEvent{ChannelId: channelID.String(), ClearedAt: c.Now.Proto()})
		}
		return then()
	})
}

// Turn lets a Sequencer assign positions to all events.
func Turn(t *testing.T, q *outbox.Sequencer) {
	t.Helper()
	if err := q.Turn(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Payload returns an empty payload of an event type.
func Payload(kind eventtype.Type) proto.Message {
	e := (*moderatov1.Event)(nil).ProtoReflect()
	fields := e.Descriptor().Oneofs().ByName("payload").Fields()
	for i := range fields.Len() {
		payload := e.Type().New().NewField(fields.Get(i)).Message().Interface()
		if kind.CheckPayload(payload) == nil {
			return payload
		}
	}
	panic("the contract does not declare the event type " + kind)
}

// RunJobs runs jobs until ctx ends.
func RunJobs(ctx context.Context, s *store.Store, all ...jobs.Job) {
	jobs.NewRunner(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry()).Run(ctx, all...)
}
