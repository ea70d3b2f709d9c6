package cursor_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moderato-live/moderato/server/store/cursor"
)

type place struct {
	At int64
	ID string
}

func key(id uint16) cursor.Key {
	return cursor.Key{ID: id, Secret: bytes.Repeat([]byte{byte(id)}, cursor.SecretSize)}
}

// keys is the key store that a Sealer reads.
type keys struct {
	present atomic.Pointer[[]cursor.Key]
	fail    atomic.Bool
	reads   atomic.Int64
}

func (k *keys) set(all ...cursor.Key) { k.present.Store(&all) }

func (k *keys) load(context.Context) ([]cursor.Key, error) {
	k.reads.Add(1)
	if k.fail.Load() {
		return nil, errors.New("the store is away")
	}
	return *k.present.Load(), nil
}

func newSealer(t testing.TB, all ...cursor.Key) (*cursor.Sealer, *keys) {
	t.Helper()
	var k keys
	k.set(all...)
	return cursor.NewSealer(k.load), &k
}

func seal(t testing.TB, s *cursor.Sealer, list string, place any) string {
	t.Helper()
	text, err := s.Seal(t.Context(), list, place)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	s, _ := newSealer(t, key(1))
	for _, want := range []place{{}, {1763700000123, "x"}, {-1, strings.Repeat("ü", 200)}} {
		var got place
		if err := s.Open(t.Context(), "list/a", seal(t, s, "list/a", want), &got); err != nil || got != want {
			t.Errorf("got %v (%v), want %v", got, err, want)
		}
	}
}

func TestEqualPositionsHaveEqualCursors(t *testing.T) {
	t.Parallel()
	s, _ := newSealer(t, key(1))
	other, _ := newSealer(t, key(1)) // another server
	if a, b := seal(t, s, "list", 7), seal(t, other, "list", 7); a != b {
		t.Errorf("got %s and %s, want the same", a, b)
	}
}

func TestCursorOfAnotherListIsInvalid(t *testing.T) {
	t.Parallel()
	s, _ := newSealer(t, key(1))
	text := seal(t, s, "list/a", place{1, "x"})
	for _, list := range []string{"list/b", "list/", "list/a/", ""} {
		if err := s.Open(t.Context(), list, text, &place{}); !errors.Is(err, cursor.ErrInvalid) {
			t.Errorf("for %q: got %v, want ErrInvalid", list, err)
		}
	}
}

func TestDamagedCursorIsInvalid(t *testing.T) {
	t.Parallel()
	s, _ := newSealer(t, key(1))
	text := seal(t, s, "list/a", place{1, "x"})
	damaged := []string{
		"", "A", text[1:], text[:len(text)-1], text + "A", text + "=", text + "\n", " " + text, "äöü", strings.Repeat("A", 1<<20),
		// Cursors of versions without keys.
		base64.RawURLEncoding.EncodeToString([]byte("12345678" + "0")),
	}
	for i := range text {
		flipped := "A"
		if text[i] == 'A' {
			flipped = "B"
		}
		damaged = append(damaged, text[:i]+flipped+text[i+1:])
	}
	for _, d := range damaged {
		if err := s.Open(t.Context(), "list/a", d, &place{}); !errors.Is(err, cursor.ErrInvalid) {
			t.Errorf("%.100q: got %v, want ErrInvalid", d, err)
		}
	}
}

func TestCursorOfAnotherKeyIsInvalid(t *testing.T) {
	t.Parallel()
	s, _ := newSealer(t, key(1))
	forger, _ := newSealer(t, cursor.Key{ID: 1, Secret: make([]byte, cursor.SecretSize)})
	if err := s.Open(t.Context(), "events", seal(t, forger, "events", 0), new(int64)); !errors.Is(err, cursor.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
}

func TestCursorRevealsNothing(t *testing.T) {
	t.Parallel()
	s, _ := newSealer(t, key(1))
	lengths := map[int]bool{}
	for _, position := range []int64{0, 9, 1e6, 1e12, 1e15 - 1} {
		text := seal(t, s, "events", position)
		lengths[len(text)] = true
		data, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || (position > 9 && bytes.Contains(data, fmt.Append(nil, position))) {
			t.Errorf("%d: got %q (%v), which shows it", position, data, err)
		}
	}
	if len(lengths) != 1 {
		t.Errorf("the lengths differ: %v", lengths)
	}
}

func TestCursorsSurviveKeyRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := newSealer(t, key(1))
		before := seal(t, s, "list", 1)
		k.set(key(1), key(2))
		time.Sleep(30 * time.Second)
		if text := seal(t, s, "list", 1); text != before {
			t.Error("a key is used that other servers may not know yet")
		}
		young := key(2)
		young.Age = 45 * time.Second
		k.set(key(1), young)
		time.Sleep(30 * time.Second)
		after := seal(t, s, "list", 1)
		if before == after {
			t.Error("the new key is not used after 75 s")
		}
		for _, text := range []string{before, after} {
			if err := s.Open(t.Context(), "list", text, new(int64)); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		k.set(key(2)) // the first one was revoked
		time.Sleep(30 * time.Second)
		if err := s.Open(t.Context(), "list", before, new(int64)); !errors.Is(err, cursor.ErrInvalid) {
			t.Errorf("of a key that was revoked: got %v, want ErrInvalid", err)
		}
	})
}

// Another server may seal with a new key before this one knows it.
func TestNewKeyOfAnotherServerIsLoaded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := newSealer(t, key(1))
		seal(t, s, "list", 1)
		k.set(key(2)) // the first one was revoked
		other, _ := newSealer(t, key(2))
		time.Sleep(time.Second)
		text := seal(t, other, "list", 1)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				if err := s.Open(t.Context(), "list", text, new(int64)); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		// Unknown keys are not looked up each time.
		unknown, _ := newSealer(t, key(99))
		reads := k.reads.Load()
		for range 100 {
			_ = s.Open(t.Context(), "list", seal(t, unknown, "list", 1), new(int64))
		}
		if n := k.reads.Load() - reads; n > 1 {
			t.Errorf("got %d reads of the keys for 100 made-up cursors, want at most 1", n)
		}
	})
}

func TestKnownKeysWorkWhenStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := newSealer(t, key(1))
		text := seal(t, s, "list", 1)
		k.fail.Store(true)
		time.Sleep(time.Hour)
		if err := s.Open(t.Context(), "list", text, new(int64)); err != nil {
			t.Error(err)
		}
		fresh := cursor.NewSealer(k.load)
		if _, err := fresh.Seal(t.Context(), "list", 1); err == nil || errors.Is(err, cursor.ErrInvalid) {
			t.Errorf("without any key: got %v, want the store's error", err)
		}
		k.fail.Store(false)
		if _, err := fresh.Seal(t.Context(), "list", 1); err != nil {
			t.Errorf("when the store is back: %v", err)
		}
	})
}

func FuzzOpen(f *testing.F) {
	s, _ := newSealer(f, key(1))
	f.Add(seal(f, s, "list/a", place{1, "x"}))
	f.Add("")
	f.Add("AAEAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		var got place
		if s.Open(t.Context(), "list/a", text, &got) != nil {
			return
		}
		if again := seal(t, s, "list/a", got); again != text {
			t.Errorf("%q opens to %v, whose cursor is %q: there is a second cursor for a place", text, got, again)
		}
	})
}
