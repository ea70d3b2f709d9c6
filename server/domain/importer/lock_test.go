package importer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestConcurrentImportsOfSameRecords has several imports create the same rows, and then
// lock the same channels in different orders: none may fail.
func TestConcurrentImportsOfSameRecords(t *testing.T) {
	const users, channels, importers = 100, 40, 3
	var people, subscriptions []string
	for i := range users {
		people = append(people, fmt.Sprintf(`{"user": {"id": %q, "username": "user%d"}}`, benchUser(i), i))
	}
	for i := range channels {
		people = append(people, fmt.Sprintf(`{"channel": {"id": %q, "title": "x"}}`, benchUser(i)))
		for j := range 10 {
			subscriptions = append(subscriptions, fmt.Sprintf(
				`{"subscription": {"channelId": %q, "userId": %q, "subscribedAt": "2026-01-01T00:00:00Z", "expiresAt": "2100-01-01T00:00:00Z"}}`,
				benchUser(i), benchUser(channels+j)))
		}
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		concurrently := func(lines []string, shuffle bool) {
			var all sync.WaitGroup
			for i := range importers {
				mine := slices.Clone(lines)
				if shuffle {
					rand.New(rand.NewPCG(1, uint64(i))).Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
				}
				all.Go(func() {
					importer := importer.Importer{Store: s.Store}
					if _, err := importer.ImportLines(context.Background(), strings.NewReader(strings.Join(mine, "\n"))); err != nil {
						t.Errorf("import %d: %v", i, err)
					}
				})
			}
			all.Wait()
		}
		concurrently(people, false)
		before := deadlocks(t, s.Store)
		concurrently(subscriptions, true)
		if after := deadlocks(t, s.Store); after != before {
			t.Errorf("%v deadlocks", after-before)
		}
		servertest.CheckCounters(t, s.Store, "after imports at once")
	})
}

// deadlocks returns how many transactions were retried because of a deadlock.
func deadlocks(t *testing.T, s *store.Store) (count float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	s.Register(registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetValue() == "deadlock" {
					count += m.GetCounter().GetValue()
				}
			}
		}
	}
	return count
}
