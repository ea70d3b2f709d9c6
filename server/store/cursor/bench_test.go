package cursor_test

import (
	"testing"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
)

func BenchmarkCursor(b *testing.B) {
	type place struct {
		At instant.Instant
		ID uid.ID
	}
	const list = "ListFollowers/0198c0de-0000-7000-8000-000000000001/00000000-0000-0000-0000-000000000000"
	at := place{1_790_000_000_123, uid.MustParse("0198c0de-0000-7000-8000-000000000002")}
	s, _ := newSealer(b, key(1))
	text := seal(b, s, list, at)
	b.Run("seal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			seal(b, s, list, at)
		}
	})
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got place
			if err := s.Open(b.Context(), list, text, &got); err != nil {
				b.Fatal(err)
			}
		}
	})
}
