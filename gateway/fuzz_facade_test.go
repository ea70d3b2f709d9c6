package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// The facade itself must never respond to any request with a server error, and each of
// its responses must be an envelope.
func FuzzFacade(f *testing.F) {
	for _, seed := range []struct{ method, target, name, value, body string }{
		{"GET", listModerators(), "Accept", "application/json", ""},
		{"GET", moderatorsPath + "?channelId=%ff;&x", "X-Request-Id", "mine", ""},
		{"POST", banPath, "Content-Type", "application/json", `{"channelId":"x"}`},
		{"DELETE", moderatorsPath, "Content-Type", "application/json; charset=latin1", "{}"},
		{"POST", channelsPath, "X-HTTP-Method-Override", "GET", "userId=x"},
		{"OPTIONS", mutePath, "Access-Control-Request-Method", "POST", ""},
		{"HEAD", "//v1/moderation%2Fban", "Grpc-Timeout", "x", ""},
		{"GET", "/", "Grpc-Metadata-X-Bin", "%", "x"},
		{"GET", listModerators(), "Te", "trailers", ""},
	} {
		f.Add(seed.method, seed.target, seed.name, seed.value, seed.body)
	}
	facade := facadeOver(f, stubConn(plain, succeed))
	f.Fuzz(func(t *testing.T, method, target, name, value, body string) {
		location, err := url.ParseRequestURI(target)
		if err != nil || method == "" {
			return // rejected before the request reaches the facade
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Method, r.RequestURI, r.URL = method, target, location
		r.Header.Set(name, value)
		answer := record(facade, r)
		if answer.Status >= 500 || answer.Status < 200 {
			t.Fatalf("%s %q with %q: %q: got %d %s", method, target, name, value, answer.Status, answer.Body)
		}
		if answer.Header.Get("X-Request-Id") == "" {
			t.Fatalf("%s %q: the answer has no request id", method, target)
		}
		var envelope struct {
			Success *bool
			Message string
		}
		switch {
		case answer.Status == http.StatusNoContent && answer.Body == "":
		case json.Unmarshal([]byte(answer.Body), &envelope) != nil, envelope.Success == nil, envelope.Message == "",
			*envelope.Success != (answer.Status == http.StatusOK):
			t.Fatalf("%s %q: got %d and no envelope: %s", method, target, answer.Status, answer.Body)
		}
	})
}
