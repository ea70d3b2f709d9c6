package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store"
)

type place struct {
	At int64
	ID string
}

func TestCursorLeadsBackToItsPlace(t *testing.T) {
	want := place{1763700000123, "x"}
	cursor, err := store.EncodeCursor("list/a", want)
	if err != nil {
		t.Fatal(err)
	}
	var got place
	if err := store.DecodeCursor("list/a", cursor, &got); err != nil || got != want {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
}

func TestCursorOfAnotherListIsRefused(t *testing.T) {
	cursor, err := store.EncodeCursor("list/a", place{1, "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"list/b", "list/", "list/a/", ""} {
		if err := store.DecodeCursor(list, cursor, &place{}); !errors.Is(err, store.ErrCursor) {
			t.Errorf("for %q: %v, want ErrCursor", list, err)
		}
	}
}

func TestDamagedCursorIsRefused(t *testing.T) {
	cursor, err := store.EncodeCursor("list/a", place{1, "x"})
	if err != nil {
		t.Fatal(err)
	}
	damaged := []string{"", "A", cursor[1:], cursor[:len(cursor)-1], cursor + "A", cursor + "=", " " + cursor, "äöü"}
	for i := range cursor {
		flipped := "A"
		if cursor[i] == 'A' {
			flipped = "B"
		}
		damaged = append(damaged, cursor[:i]+flipped+cursor[i+1:])
	}
	for _, c := range damaged {
		if err := store.DecodeCursor("list/a", c, &place{}); !errors.Is(err, store.ErrCursor) {
			t.Errorf("%q: %v, want ErrCursor", c, err)
		}
	}
}

func FuzzDecodeCursor(f *testing.F) {
	cursor, _ := store.EncodeCursor("list/a", place{1, "x"})
	f.Add(cursor)
	f.Add(strings.Repeat("A", 40))
	f.Fuzz(func(t *testing.T, text string) {
		var got place
		if store.DecodeCursor("list/a", text, &got) != nil {
			return
		}
		again, err := store.EncodeCursor("list/a", got)
		if err != nil {
			t.Fatal(err)
		}
		var same place
		if err := store.DecodeCursor("list/a", again, &same); err != nil || same != got {
			t.Errorf("%q leads to %v, and that to %v (%v)", text, got, same, err)
		}
	})
}
