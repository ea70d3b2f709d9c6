package authn_test

import (
	"context"
	"testing"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkAuthenticate measures the authentication of a call, with a cached token and
// with a token that is looked up each time.
func BenchmarkAuthenticate(b *testing.B) {
	s := servertest.Start(b, servertest.Config(storetest.SQLite(b)))
	servertest.Import(b, s.Store, servertest.World()...)
	text := s.As(b, servertest.Owner).Token
	ctx, md := context.Background(), request(text)
	b.Run("cached", func(b *testing.B) {
		a := authn.NewAuthenticator(s.Store)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := a.Authenticate(ctx, "", md.Get); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("looked up", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := authn.NewAuthenticator(s.Store).Authenticate(ctx, "", md.Get); err != nil {
				b.Fatal(err)
			}
		}
	})
}
