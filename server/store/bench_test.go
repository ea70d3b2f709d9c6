package store_test

import (
	"testing"

	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

func BenchmarkCursor(b *testing.B) {
	type place struct {
		At instant.Instant
		ID uid.ID
	}
	const list = "ListFollowers/0198c0de-0000-7000-8000-000000000001/00000000-0000-0000-0000-000000000000"
	at := place{1_790_000_000_123, uid.MustParse("0198c0de-0000-7000-8000-000000000002")}
	cursor, err := store.EncodeCursor(list, at)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := store.EncodeCursor(list, at); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got place
			if err := store.DecodeCursor(list, cursor, &got); err != nil {
				b.Fatal(err)
			}
		}
	})
}
