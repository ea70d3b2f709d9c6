package chat_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// each runs a test on a store with the World, without a server and its background work.
func each(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		storetest.Migrate(t, url)
		s, err := store.Open(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		servertest.Import(t, s, servertest.World()...)
		test(t, s)
	})
}

func record(id int, user uid.ID, sentAt instant.Instant) *platformv1.Record {
	return &platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{
		Id: fmt.Sprintf("0b6fcccc-0000-4000-8000-%012d", id), ChannelId: servertest.Owner.String(), UserId: user.String(),
		Text: fmt.Sprintf("message %d", id), SentAt: sentAt.Proto(),
	}}}
}

// fill imports n messages of a user, one millisecond apart, the last one hour ago.
func fill(t *testing.T, s *store.Store, user uid.ID, first, n int) {
	t.Helper()
	start := now(t, s).Add(-time.Hour).Add(-time.Duration(n) * time.Millisecond)
	var records []*platformv1.Record
	for i := range n {
		records = append(records, record(first+i, user, start.Add(time.Duration(i)*time.Millisecond)))
	}
	servertest.Import(t, s, records...)
}

func now(t *testing.T, s *store.Store) instant.Instant {
	t.Helper()
	at, err := s.Clock.Now(context.Background(), s.Read)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// unrestorable is longer after a deletion than the purgers leave its messages.
const unrestorable = chat.RestorableFor + 5*time.Minute

func clearMessages(t *testing.T, s *store.Store, user uid.ID) {
	t.Helper()
	err := s.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		return chat.Clear(ctx, tx, s.Dialect, servertest.Owner, []uid.ID{user}, chat.Ban, now(t, s))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// list reads all pages and returns the texts, the number of pages, and the largest number
// of rows of a page.
func list(t *testing.T, s *store.Store, limit int) (texts []string, pages int) {
	t.Helper()
	var after *chat.Place
	for {
		page, next, err := chat.List(context.Background(), s, servertest.Owner, 0, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > limit {
			t.Fatalf("a page has %d messages, want at most %d", len(page), limit)
		}
		pages++
		for _, m := range page {
			texts = append(texts, m.Text)
		}
		if after = next; after == nil {
			return texts, pages
		}
	}
}

func TestMessageListIsCompleteAndNewestFirst(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		fill(t, s, servertest.Viewer, 0, 57)
		for _, limit := range []int{1, 19, 57, 100} {
			texts, _ := list(t, s, limit)
			if len(texts) != 57 {
				t.Fatalf("limit %d: %d messages, want 57", limit, len(texts))
			}
			for i, text := range texts {
				if want := fmt.Sprintf("message %d", 56-i); text != want {
					t.Fatalf("limit %d: message %d is %q, want %q", limit, i, text, want)
				}
			}
		}
	})
}

func TestMessagesWithEqualTimestampAreListedOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		at := now(t, s).Add(-time.Hour)
		for i := range 9 {
			servertest.Import(t, s, record(i, servertest.Viewer, at))
		}
		seen := map[string]int{}
		texts, _ := list(t, s, 2)
		for _, text := range texts {
			seen[text]++
		}
		if len(texts) != 9 || len(seen) != 9 {
			t.Errorf("got %q, want nine different messages", texts)
		}
	})
}

// TestListSkipsManyDeletedMessages checks that a page examines few rows: with thousands
// of deleted messages ahead of the visible one, some pages are empty but have a cursor.
func TestListSkipsManyDeletedMessages(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		fill(t, s, servertest.Viewer, 0, 1)
		fill(t, s, servertest.Raider, 1, 1500)
		clearMessages(t, s, servertest.Raider)
		texts, pages := list(t, s, 20)
		if len(texts) != 1 || texts[0] != "message 0" {
			t.Errorf("got %q, want the one visible message", texts)
		}
		if pages < 10 {
			t.Errorf("%d pages: each examined more rows than it should", pages)
		}
	})
}

func TestPurgerRemovesOnlyDeletedMessages(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		fill(t, s, servertest.Viewer, 0, 10)
		fill(t, s, servertest.Raider, 10, 1201) // more than two batches
		clearMessages(t, s, servertest.Raider)
		fill2 := record(5000, servertest.Raider, now(t, s).Add(time.Second))
		servertest.Import(t, s, fill2) // sent after the deletion
		purge(t, s)
		if got, want := rows(t, s, servertest.Raider), 1202; got != want {
			t.Errorf("%d rows of the cleared user are left while they can be restored, want %d", got, want)
		}
		s.Clock.Advance(unrestorable)
		purge(t, s)
		if got, want := rows(t, s, servertest.Raider), 1; got != want {
			t.Errorf("%d rows of the cleared user are left, want %d", got, want)
		}
		if got, want := rows(t, s, servertest.Viewer), 10; got != want {
			t.Errorf("%d rows of the other user are left, want %d", got, want)
		}
	})
}

// TestPurgerScansAgainForLateMessages stores a post after the purge that read its
// generation before the deletion.
func TestPurgerScansAgainForLateMessages(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		standing, err := chat.ReadStanding(context.Background(), s, servertest.Owner, servertest.Raider)
		if err != nil {
			t.Fatal(err)
		}
		clearMessages(t, s, servertest.Raider)
		purge(t, s)
		_, err = chat.Post(asBackend(t, s), s, standing, chat.Message{
			ID: uid.New(), ChannelID: servertest.Owner, UserID: servertest.Raider, Text: "late", SentAt: standing.Now,
		}, new(chat.Message))
		if err != nil {
			t.Fatal(err)
		}
		if texts, _ := list(t, s, 20); len(texts) != 0 {
			t.Errorf("visible: %q", texts)
		}
		s.Clock.Advance(unrestorable)
		purge(t, s)
		if got := rows(t, s, servertest.Raider); got != 0 {
			t.Errorf("%d rows are left", got)
		}
		left, err := s.Read.MessageGeneration.Query().All(context.Background())
		if err != nil || len(left) != 1 || left[0].PurgeAt != nil {
			t.Errorf("the purger is not done: %v (%v)", left, err)
		}
	})
}

// TestConcurrentAndInterruptedPurgers runs several purgers, one of which is stopped
// midway; the next run completes the work.
func TestConcurrentAndInterruptedPurgers(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		fill(t, s, servertest.Raider, 0, 3000)
		clearMessages(t, s, servertest.Raider)
		s.Clock.Advance(unrestorable)
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error)
		for i := range 3 {
			go func() {
				if i == 0 {
					ended <- purgeAll(ctx, s)
					return
				}
				ended <- purgeAll(context.Background(), s)
			}()
		}
		stop()
		for range 3 {
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		s.Clock.Advance(5 * time.Minute)
		purge(t, s)
		if got := rows(t, s, servertest.Raider); got != 0 {
			t.Errorf("%d rows are left", got)
		}
	})
}

func TestImportDoesNotRestoreDeletedMessage(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		old := record(0, servertest.Raider, now(t, s).Add(-time.Hour))
		servertest.Import(t, s, old)
		clearMessages(t, s, servertest.Raider)
		s.Clock.Advance(unrestorable)
		purge(t, s)
		if got := rows(t, s, servertest.Raider); got != 0 {
			t.Errorf("%d rows are left", got)
		}
		servertest.Import(t, s, old)
		if texts, _ := list(t, s, 20); len(texts) != 0 {
			t.Errorf("visible after a repeated import: %q", texts)
		}
	})
}

func TestPostWithExistingIDStoresNothing(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		standing, err := chat.ReadStanding(context.Background(), s, servertest.Owner, servertest.Viewer)
		if err != nil {
			t.Fatal(err)
		}
		m := chat.Message{ID: uid.New(), ChannelID: servertest.Owner, UserID: servertest.Viewer, Text: "once", SentAt: standing.Now}
		for range 2 {
			var stored chat.Message
			_, err := chat.Post(asBackend(t, s), s, standing, m, &stored)
			if err != nil || stored.Text != "once" {
				t.Fatalf("got %v (%v)", stored, err)
			}
			m.Text = "twice"
		}
		if texts, _ := list(t, s, 20); len(texts) != 1 {
			t.Errorf("visible: %q, want one message", texts)
		}
	})
}

// TestPostSurvivesLostCommit loses the connection in COMMIT, or in the statement that is a
// transaction of its own, and then the right of the caller ends. A message that was stored is
// new for its listeners, and any other is refused.
func TestPostSurvivesLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		storetest.Migrate(t, url)
		cutter := &storetest.Cutter{}
		s, err := store.OpenWith(t.Context(), url, store.Options{Layer: cutter.Layer})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		servertest.Import(t, s, servertest.World()...)
		var m chat.Message
		cutter.OnCut = func() { s.Clock.Advance(2 * tokenLifetime) } // the right of the caller ends
		for name, cuts := range map[string][]storetest.Cut{
			"before it happened":          {storetest.BeforeCommit},
			"before its answer came back": {storetest.AfterCommit},
		} {
			standing, err := chat.ReadStanding(t.Context(), s, servertest.Owner, servertest.Viewer)
			if err != nil {
				t.Fatal(err)
			}
			m = chat.Message{ID: uid.New(), ChannelID: servertest.Owner, UserID: servertest.Viewer, Text: name, SentAt: standing.Now}
			cutter.CutNext("chat.Post", cuts...)
			isNew, err := chat.Post(asBackend(t, s), s, standing, m, new(chat.Message))
			if isStored := cuts[0] == storetest.AfterCommit; isNew != isStored || (err == nil) != isStored || cutter.Made() != len(cuts) {
				t.Errorf("cut %s: got %t, %v, after %d cuts", name, isNew, err, cutter.Made())
			}
		}
		if texts, _ := list(t, s, 20); len(texts) != 1 {
			t.Errorf("got %q, want the message that was stored, once", texts)
		}
	})
}

const tokenLifetime = time.Hour

// asBackend returns the context of a call by a backend whose token is new.
func asBackend(t *testing.T, s *store.Store) context.Context {
	t.Helper()
	issued, err := authn.Issue(t.Context(), s, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer, Lifetime: tokenLifetime})
	if err != nil {
		t.Fatal(err)
	}
	return authn.NewContext(t.Context(), &authn.Caller{Kind: authn.Service, ClientID: servertest.ChatServer, Token: digest.Of(issued.Text)})
}

func purge(t *testing.T, s *store.Store) {
	t.Helper()
	if err := purgeAll(context.Background(), s); err != nil {
		t.Fatal(err)
	}
}

// purgeAll purges until nothing is left to do.
func purgeAll(ctx context.Context, s *store.Store) error {
	for _, purge := range []func(context.Context) (bool, error){
		(&chat.Purger{Store: s}).Purge, (&chat.ChannelPurger{Store: s}).Purge,
	} {
		for more := true; more; {
			var err error
			if more, err = purge(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func rows(t *testing.T, s *store.Store, user uid.ID) int {
	t.Helper()
	n, err := s.Read.Message.Query().Where(message.UserID(user)).Count(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}
