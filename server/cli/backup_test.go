package cli_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent/ban"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// banned is the bans that a server acknowledged.
type banned struct {
	mu    sync.Mutex
	users []uid.ID
}

func (b *banned) all() []uid.ID {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.users[:len(b.users):len(b.users)]
}

// banAll bans users of the Owner's channel, concurrently, until ctx ends.
func (b *banned) banAll(ctx context.Context, t *testing.T, client moderatov1.ModerationServiceClient, users []uid.ID) (wait func()) {
	t.Helper()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(users) {
					return
				}
				_, err := client.BanUser(context.WithoutCancel(ctx), &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: users[n].String()})
				if err != nil {
					t.Errorf("ban under load: %v", err)
					return
				}
				b.mu.Lock()
				b.users = append(b.users, users[n])
				b.mu.Unlock()
			}
		})
	}
	return workers.Wait
}

// TestBackupUnderLoad makes backups of a database while a server writes to it, checks each
// with fsck, and serves the last one. A backup must have every change that was
// acknowledged before it began.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	db := prepare(t, url)
	users := servertest.AddUsers(t, db, 20_000)
	p := process.Serve(t, url)
	conn := p.Dial(t)
	ctx, cancel := context.WithCancel(callerContext(t, db))
	var acknowledged banned
	wait := acknowledged.banAll(ctx, t, moderatov1.NewModerationServiceClient(conn), users)
	defer wait()
	defer cancel()

	dir := t.TempDir()
	var before []uid.ID
	var file string
	for n, during := 0, 0; during == 0 || n < 3; n++ {
		if n == 20 {
			t.Fatal("no ban was acknowledged while a backup ran")
		}
		waitForBans(t, &acknowledged, len(acknowledged.all())+20)
		before, file = acknowledged.all(), filepath.Join(dir, fmt.Sprint(n, ".db"))
		if got := process.Run(t, nil, "", "backup", process.DBFlag(url), file); got.Code != 0 || got.Out != "" {
			t.Fatalf("backup: %+v", got)
		}
		during += len(acknowledged.all()) - len(before)
		if got := process.Run(t, nil, "", "fsck", "--db=sqlite:"+file); got.Code != 0 {
			t.Fatalf("fsck of a backup: %+v", got)
		}
	}
	cancel()
	wait()
	if got := process.Run(t, nil, "", "backup", process.DBFlag(url), file); got.Code != 1 || !strings.Contains(got.Err, file+" already exists") {
		t.Errorf("backup to an existing file: %+v", got)
	}

	restored := process.Serve(t, store.URL{Path: file})
	backup, err := store.Open(t.Context(), store.URL{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close()
	for _, id := range before {
		isBanned, err := backup.Read.Ban.Query().Where(ban.ChannelID(servertest.Owner), ban.UserID(id)).Exist(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !isBanned {
			t.Fatalf("the backup has no ban of %s, which was acknowledged before", id)
		}
	}
	if code := restored.Terminate(); code != 0 {
		t.Errorf("the server on the backup ended with %d", code)
	}
}

// waitForBans waits until a number of bans are acknowledged.
func waitForBans(t *testing.T, b *banned, n int) {
	t.Helper()
	for late := time.Now().Add(patience); len(b.all()) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%d bans are acknowledged, want %d", len(b.all()), n)
		}
	}
}

func TestBackupRefusesWhatItCannotCopy(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "copy.db")
	for db, want := range map[string]string{
		"mysql://u:secret@127.0.0.1:1/n": "SQLite only",
		"sqlite:" + file + ".none":       "there is no database",
	} {
		if got := process.Run(t, nil, "", "backup", "--db="+db, file); got.Code != 1 || !strings.Contains(got.Err, want) || strings.Contains(got.Err, "secret") {
			t.Errorf("%s: got %+v, want %q", db, got, want)
		}
	}
}
