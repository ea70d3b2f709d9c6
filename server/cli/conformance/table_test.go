package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/docs/openapi"
)

// exceptions are the GET operations that the tables do not have.
var exceptions = map[string]string{
	"/v1/events":        "a stream of events, not JSON",
	"/openapi.json":     "a document",
	"/openapi.yaml":     "a document",
	"/oauth2/authorize": "a page",
	"/.well-known/oauth-authorization-server": "RFC 8414 describes it",
}

// TestTablesHaveEveryOperation compares the tables with the GET operations that are served.
func TestTablesHaveEveryOperation(t *testing.T) {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	var described []string
	ofInterface := 0
	for _, o := range parseTable(interfaceTable, additionsTable) {
		if !o.isAddition {
			ofInterface++
		}
		described = append(described, o.path)
		if document.Paths[o.path]["get"] == nil {
			t.Errorf("%s is not served", o)
		}
		if o.data == nil || len(o.tokens) == 0 {
			t.Errorf("%s: nothing is expected", o)
		}
	}
	if ofInterface != 17 {
		t.Errorf("the table of the interface document has %d operations, want 17", ofInterface)
	}
	for path, methods := range document.Paths {
		if isMissing := !slices.Contains(described, path); methods["get"] != nil && isMissing != (exceptions[path] != "") {
			t.Errorf("GET %s: not in the tables: %t, an exception: %q", path, isMissing, exceptions[path])
		}
	}
}

func TestTypes(t *testing.T) {
	shapes := map[string]*shape{"Row": {section: "2 Row", fields: []field{{"id", parseType("integer", nil)}}}}
	shapeOf := func(name string) *shape { return shapes[name] }
	for _, c := range []struct {
		typ, owner string // owner has the value as v
		want       string // the finding, empty if there is none
	}{
		{"string", `{"v":""}`, ""},
		{"string", `{"v":null}`, "null, want string"},
		{"string (UUID)", `{"v":"0b6f0001-0000-4000-8000-00000000000a"}`, ""},
		{"string (UUID)", `{"v":"0B6F0001-0000-4000-8000-00000000000A"}`, "want string (UUID)"},
		{"string (URL)", `{"v":"https://img.example.com/a.png"}`, ""},
		{"string (URL)", `{"v":""}`, "want string (URL)"},
		{"string (URL)", `{"v":"/a.png"}`, "want string (URL)"},
		{"string (language code)", `{"v":"pt-BR"}`, ""},
		{"string (language code)", `{"v":"pt_BR"}`, "want string (language code)"},
		{"integer", `{"v":-12}`, ""},
		{"integer", `{"v":9007199254740993}`, ""},
		{"integer", `{"v":1.0}`, "1.0, want integer"},
		{"integer", `{"v":"1"}`, "want integer"},
		{"boolean", `{"v":0}`, "0, want boolean"},
		{"object", `{"v":{}}`, ""},
		{"object", `{"v":[]}`, "[], want object"},
		{"timestamp", `{"v":"2026-11-26T11:47:50.069Z"}`, ""},
		{"timestamp", `{"v":"2026-11-26T11:47:50Z"}`, "want timestamp"},
		{"timestamp", `{"v":"2026-11-26T11:47:50.069123Z"}`, "want timestamp"},
		{"timestamp", `{"v":"2026-11-26T11:47:50.069+00:00"}`, "want timestamp"},
		{"timestamp", `{"v":"2026-13-26T11:47:50.069Z"}`, "want timestamp"},
		{"integer or null", `{"v":null}`, ""},
		{"integer or null", `{"v":1}`, ""},
		{"integer or null", `{}`, "is missing, want integer or null"},
		{"timestamp if a or b, else null", `{"v":null,"a":false,"b":false}`, ""},
		{"timestamp if a or b, else null", `{"v":null,"a":false,"b":true}`, "null, want timestamp"},
		{"timestamp if a or b, else null", `{"v":"2026-11-26T11:47:50.069Z","a":false}`, "else null"},
		{`string (URL) if a, else ""`, `{"v":"","a":false}`, ""},
		{`string (URL) if a, else ""`, `{"v":"","a":true}`, "want string (URL)"},
		{`string (URL) if a, else ""`, `{"v":null,"a":false}`, "null, want"},
		{"one of a, b", `{"v":"b"}`, ""},
		{"one of a, b", `{"v":"c"}`, "want one of a, b"},
		{"array of integer", `{"v":[]}`, ""},
		{"array of integer", `{"v":null}`, "null, want array"},
		{"array of integer", `{"v":[1,"2"]}`, `owner.v[] is "2"`},
		{"array of Row", `{"v":[{"id":1,"other":2}]}`, ""},
		{"array of Row", `{"v":[{"id":1},{}]}`, "owner.v[].id is missing"},
		{"Row", `{"v":[]}`, "[], want Row"},
	} {
		decoder := json.NewDecoder(strings.NewReader(c.owner))
		decoder.UseNumber()
		var owner map[string]any
		if err := decoder.Decode(&owner); err != nil {
			t.Fatal(err)
		}
		got := ""
		in := inspection{shown: map[string]bool{}, find: func(section, path, text string) { got += fmt.Sprintf("%s %s\n", path, text) }}
		in.object(&shape{fields: []field{{"v", parseType(c.typ, shapeOf)}}}, owner, "owner")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 1 {
			t.Errorf("%s in %s: found %q, want %q", c.typ, c.owner, got, c.want)
		}
	}
}
