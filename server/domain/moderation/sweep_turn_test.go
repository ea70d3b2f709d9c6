package moderation_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// asOwner returns the context of a call of a client.
func asOwner(ctx context.Context, client string, maxWait time.Duration) context.Context {
	return fair.NewContext(ctx, fair.Request{Owner: fair.Owner{Client: client}, MaxWait: maxWait})
}

func sweepOf(pattern string) *moderatov1.PreviewSweepRequest {
	return &moderatov1.PreviewSweepRequest{ChannelId: servertest.Owner.String(), Pattern: new(pattern), WithinSeconds: new(int64(60))}
}

// TestPreviewsTakeTurns has a second preview begin while the first one examines messages. It is
// given its turn before the first one ends.
func TestPreviewsTakeTurns(t *testing.T) {
	gate := &storetest.Gate{}
	config := servertest.Config(storetest.SQLite(t))
	config.DBLayer = gate.Layer()
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	d := newDrive(t, s)
	d.raid(5, "free sub")
	turns := moderation.NewTurns(1)
	release, err := turns.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var reads []string
	gate.Fail(func(query string) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case strings.Contains(query, examines):
			reads = append(reads, "messages")
		case strings.Contains(query, "FROM users u"):
			reads = append(reads, "users")
		}
		return 0, nil
	})
	ended := make(chan error)
	for i, client := range []string{"first", "second"} {
		go func() {
			n, err := turns.FindSweep(asOwner(t.Context(), client, 0), s.Store, sweepOf("free"))
			if err == nil && n != 5 {
				t.Errorf("the %s preview finds %d users, want 5", client, n)
			}
			ended <- err
		}()
		for turns.Waiting() < i+1 {
			runtime.Gosched()
		}
	}
	release()
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Error(err)
	}
	gate.Fail(nil)
	if want := []string{"messages", "messages", "users", "users"}; !slices.Equal(reads, want) {
		t.Errorf("the previews read %v, want %v", reads, want)
	}
}

// TestPatternsAreCompiledInTurns previews a pattern that does not compile. Only a moderator
// learns that, and only in a turn.
func TestPatternsAreCompiledInTurns(t *testing.T) {
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	d := newDrive(t, s)
	const fields = `"pattern":"(free","withinSeconds":60`
	if r := d.REST(t, d.creds[servertest.Viewer], "POST", sweepsPath, channelBody(fields)); r.Status != 403 {
		t.Errorf("a viewer: got %d %s", r.Status, r.Body)
	}
	if r := d.REST(t, d.creds[servertest.Moderator], "POST", sweepsPath, channelBody(fields)); r.Status != 400 || !strings.Contains(r.Body, `"field":"pattern"`) {
		t.Errorf("a moderator: got %d %s", r.Status, r.Body)
	}
	turns := moderation.NewTurns(1)
	release, err := turns.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var overloaded *fair.OverloadedError
	if _, err := turns.FindSweep(asOwner(t.Context(), "waits", time.Nanosecond), s.Store, sweepOf("(free")); !errors.As(err, &overloaded) {
		t.Errorf("without a turn: got %v, want an OverloadedError", err)
	}
}

// TestPreviewsInProgressAreBounded begins as many previews as may be in progress, of one owner
// and of all, and more.
func TestPreviewsInProgressAreBounded(t *testing.T) {
	turns := moderation.NewTurns(2 * moderation.MaxPreviews)
	begin := func(client string, count int) (ends []func()) {
		t.Helper()
		for range count {
			end, err := turns.Begin(asOwner(t.Context(), client, 0))
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, end)
		}
		return ends
	}
	wantNoRoom := func(client string) {
		t.Helper()
		var overloaded *fair.OverloadedError
		for range moderation.MaxPreviews { // a preview that is refused keeps no turn
			if _, err := turns.Begin(asOwner(t.Context(), client, 0)); !errors.As(err, &overloaded) {
				t.Errorf("got %v, want an OverloadedError", err)
			}
		}
	}
	ends := begin("greedy", moderation.MaxOwnPreviews)
	wantNoRoom("greedy")
	for n := moderation.MaxOwnPreviews; n < moderation.MaxPreviews; n++ {
		begin(fmt.Sprint("client ", n), 1)
	}
	wantNoRoom("another")
	ends[0]()
	begin("another", 1)
}
