package livestream_test

import (
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/directory"
	"github.com/moderato-live/moderato/server/servertest"
)

// TestStreamInfoWhileCategoryIsDeleted has a channel with a category that does not exist, as
// a call sees it that read the channel before it got another category.
func TestStreamInfoWhileCategoryIsDeleted(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		if _, err := s.Store.DB().ExecContext(t.Context(), "UPDATE channels SET category_id = 987654 WHERE id = ?", servertest.Owner); err != nil {
			t.Fatal(err)
		}
		r, err := moderatov1.NewChannelsServiceClient(s.Conn).GetStreamInfo(s.As(t, servertest.Owner).Context(), &moderatov1.GetStreamInfoRequest{})
		if err != nil || r.GetCategory().GetId() != 0 || r.GetCategory().GetTitle() != directory.UncategorizedName {
			t.Errorf("got %v (%v), want no category", r, err)
		}
	})
}
