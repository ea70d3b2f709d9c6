package livestream_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/servertest"
)

// TestStreamInfoWhileCategoryIsDeleted has a channel with a category that does not exist, as
// a call sees it that read the channel before it got another category.
func TestStreamInfoWhileCategoryIsDeleted(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		if _, err := s.Store.DB().ExecContext(t.Context(), "UPDATE channels SET category_id = 987654 WHERE id = ?", servertest.Owner); err != nil {
			t.Fatal(err)
		}
		r, _ := s.CallREST(t, s.As(t, servertest.Owner), http.MethodGet, "/v1/channels/stream-info", servertest.Args{})
		if want := `"category":{"id":0,"title":"Uncategorized"}`; r.Status != http.StatusOK || !strings.Contains(r.Body, want) {
			t.Errorf("got %d %s, want %s", r.Status, r.Body, want)
		}
	})
}
