package middleware_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for range 2 {
		s.REST(t, owner, "GET", listOf(servertest.Owner), "")
	}
	s.REST(t, owner, "GET", listOf(servertest.Nobody), "")
	s.REST(t, servertest.Credentials{}, "GET", listOf(servertest.Owner), "")
	s.REST(t, owner, "POST", moderatorsPath, roleOf(servertest.Viewer))
	for range 3 {
		_, err := s.Moderation.ListModerators(owner.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Owner.String()})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Requests that never become a call are counted separately, without names from the
	// client.
	s.REST(t, owner, "PUT", moderatorsPath, "")
	s.REST(t, owner, "GET", "/v1/secret", "")
	s.REST(t, owner, "POST", moderatorsPath, "{")

	text := s.Metrics(t)
	count := func(method, transport, code string, n int) string {
		return fmt.Sprintf(`moderato_requests_total{code="%s",method="%s",transport="%s"} %d`, code, method, transport, n)
	}
	for _, want := range []string{
		count(listModerators, "rest", "OK", 2),
		count(listModerators, "rest", "CHANNEL_NOT_FOUND", 1),
		count(listModerators, "rest", "TOKEN_MISSING", 1),
		count(listModerators, "grpc", "OK", 3),
		count(addModerator, "rest", "OK", 1),
		fmt.Sprintf(`moderato_request_duration_seconds_count{method="%s",transport="rest"} 4`, listModerators),
		fmt.Sprintf(`moderato_request_duration_seconds_count{method="%s",transport="grpc"} 3`, listModerators),
		`moderato_rest_refused_total{code="METHOD_NOT_ALLOWED"} 1`,
		`moderato_rest_refused_total{code="PATH_NOT_FOUND"} 1`,
		`moderato_rest_refused_total{code="INVALID_ARGUMENT"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics lack %s; there are\n%s", want, strings.Join(regexp.MustCompile(`(?m)^moderato_re.*(total|count)\{.*`).FindAllString(text, -1), "\n"))
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("a path of the client's is in the metrics")
	}
}
