package cli_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/server/demo"
)

// described is what a test reads of the OpenAPI document.
type described struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name, In string
			Example  any
		}
		RequestBody struct {
			Content map[string]struct{ Example json.RawMessage }
		}
	}
}

// madeByCalls are the errors of examples that name what only another call makes.
var madeByCalls = []string{
	"BATCH_NOT_FOUND", "SWEEP_NOT_FOUND", "WEBHOOK_NOT_FOUND", "MESSAGE_NOT_FOUND", "SESSION_NOT_FOUND", "SUBSCRIPTION_NOT_FOUND",
}

// TestExamplesWorkInDemo sends the example of every operation as the console of the reference
// does: with the owner's token of a demo.
func TestExamplesWorkInDemo(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	var document described
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range []string{"post", "get", "delete"} {
			operation, exists := document.Paths[path][method]
			if !exists || !strings.HasPrefix(path, "/v1/") || path == "/v1/events" {
				continue
			}
			query := url.Values{}
			for _, p := range operation.Parameters {
				switch example := p.Example.(type) {
				case string:
					query.Set(p.Name, example)
				case []any:
					query.Set(p.Name, example[0].(string))
				}
			}
			if query.Has("userId") {
				query.Set("userId", demo.People().Owner.ID.String()) // as the console does
			}
			count++
			called := path
			for name := range query {
				called = strings.ReplaceAll(called, "{"+name+"}", query.Get(name))
			}
			w.sendExample(t, strings.ToUpper(method), called+"?"+query.Encode(), string(operation.RequestBody.Content["application/json"].Example))
		}
	}
	if count < 40 {
		t.Errorf("the document has %d operations, want more", count)
	}
}

func (w *workplace) sendExample(t *testing.T, method, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+w.REST+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Client-Id", demo.People().Client)
	r.Header.Set("Authorization", "Bearer "+w.DemoToken(t, "owner"))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode == http.StatusOK {
		return
	}
	if !slices.ContainsFunc(madeByCalls, func(code string) bool { return strings.Contains(string(text), `"code":"`+code+`"`) }) {
		t.Errorf("%s %s %s: %s", method, path, body, text)
	}
}
