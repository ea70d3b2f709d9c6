package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/gateway"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
)

// chunked is a ModerationService whose list of moderators has chunks of one row.
type chunked struct {
	stub

	chunks int
	// err ends the list in place of its last chunk.
	err   error
	calls int
}

func (s *chunked) ListModerators(context.Context, *moderatov1.ListModeratorsRequest) (*moderatov1.ListModeratorsResponse, error) {
	s.calls++
	response := &moderatov1.ListModeratorsResponse{Moderators: []*moderatov1.UserSummary{{Slug: strings.Repeat("x", 1000)}}}
	if s.calls < s.chunks {
		response.Pagination = &moderatov1.Pagination{Cursor: "more"}
	} else if s.err != nil {
		return nil, s.err
	}
	return response, nil
}

// serveChunked serves a facade for s.
func serveChunked(t *testing.T, s *chunked) *httptest.Server {
	t.Helper()
	conn := gateway.NewConn(plain, nil)
	moderatov1.RegisterModerationServiceServer(conn, s)
	served := httptest.NewServer(facadeOver(t, conn))
	t.Cleanup(served.Close)
	return served
}

func readAll(t *testing.T, r *http.Request) (status int, body string, err error) {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func request(t *testing.T, method, url, encoding string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", encoding)
	return r
}

// A client must not mistake a partial list for the complete one.
func TestListFailingMidwayClosesConnection(t *testing.T) {
	for _, encoding := range []string{"identity", "gzip"} {
		for _, failure := range []error{errors.New("the database is gone"), apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)} {
			served := serveChunked(t, &chunked{chunks: 50, err: failure})
			_, body, err := readAll(t, request(t, "GET", served.URL+listModerators(), encoding))
			if err == nil {
				t.Errorf("%s, %v: got a body of %d bytes, want an error while reading", encoding, failure, len(body))
			}
		}
	}
}

func TestListFailingAtStartReturnsError(t *testing.T) {
	served := serveChunked(t, &chunked{chunks: 1, err: apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)})
	status, body, err := readAll(t, request(t, "GET", served.URL+listModerators(), "identity"))
	if err != nil || status != http.StatusBadRequest || !strings.Contains(body, "CHANNEL_NOT_FOUND") {
		t.Errorf("got %d %s %v, want CHANNEL_NOT_FOUND", status, body, err)
	}
}

func TestHeadReadsOnlyFirstChunkOfList(t *testing.T) {
	list := &chunked{chunks: 50}
	served := serveChunked(t, list)
	status, _, err := readAll(t, request(t, "HEAD", served.URL+listModerators(), "identity"))
	if err != nil || status != http.StatusOK || list.calls != 1 {
		t.Errorf("got %d, %v and %d calls, want 200 and one", status, err, list.calls)
	}
}
