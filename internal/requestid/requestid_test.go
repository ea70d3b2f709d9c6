package requestid_test

import (
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/internal/secrets"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

func TestAcceptKeepsValidID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"x", "0", "_", ".", "-", "AZaz09_.-", "0b6f0001-0000-4000-8000-00000000000a", strings.Repeat("x", 64),
	} {
		if got := requestid.Accept([]string{id}); got != id {
			t.Errorf("%q: got %q, want it kept", id, got)
		}
	}
}

func TestAcceptReplacesInvalidID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	cases := [][]string{
		nil, {}, {""}, {strings.Repeat("x", 65)}, {"a b"}, {" a"}, {"a\n"}, {"a\x00"}, {"a/b"}, {"a,b"}, {`a"`}, {"é"}, {"\xff"},
		{"a", "b"}, {"a", "a"}, {"a", ""},
	}
	for _, prefix := range []string{"mdu_", authn.RefreshToken} {
		secret, err := secrets.New(prefix)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, []string{secret})
	}
	for _, proposed := range cases {
		id := requestid.Accept(proposed)
		for _, p := range proposed {
			if id == p {
				t.Errorf("%q: got %q, want a new one", proposed, id)
			}
		}
		if again := requestid.Accept([]string{id}); again != id {
			t.Errorf("%q: the new one, %q, is not fit itself", proposed, id)
		}
		seen[id] = true
	}
	if len(seen) != len(cases) {
		t.Errorf("got %d ids for %d requests, want one each", len(seen), len(cases))
	}
}
