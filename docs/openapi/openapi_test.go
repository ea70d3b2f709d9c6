package openapi_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moderato-live/moderato/docs/openapi"
)

// TestDocumentIsValid checks the document as OpenAPI 3.1, and its examples against its
// schemas.
func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{"JSON": openapi.JSON(), "YAML": openapi.YAML()} {
		document, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := document.Validate(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEmbeddedDocuments compares the embedded documents with those that people read.
func TestEmbeddedDocuments(t *testing.T) {
	t.Parallel()
	for path, embedded := range map[string]func() []byte{"openapi.json": openapi.JSON, "openapi.yaml": openapi.YAML} {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(embedded()) != string(want) {
			t.Errorf("%s.gz is not %s: run make gen", path, path)
		}
	}
}

// TestEveryOperationRefusesLongHeaders checks that the response to a header section that is too
// long is documented everywhere: the server sends it before it looks at the path.
func TestEveryOperationRefusesLongHeaders(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(openapi.JSON())
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Responses.Status(http.StatusRequestHeaderFieldsTooLarge) == nil {
				t.Errorf("%s %s has no response 431", method, path)
			}
		}
	}
}

// TestExamplesHaveValues looks for empty texts in examples. What can be absent is null; only the
// cursor of the last page, and what people may leave empty, is an empty text.
func TestExamplesHaveValues(t *testing.T) {
	t.Parallel()
	var document any
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	mayBeEmpty := map[string]bool{"cursor": true, "bio": true, "address": true}
	found := 0
	var walk func(value any, path, name string, isExample bool)
	walk = func(value any, path, name string, isExample bool) {
		switch value := value.(type) {
		case map[string]any:
			for k, v := range value {
				walk(v, path+"/"+k, k, isExample || k == "example" || k == "examples")
			}
		case []any:
			for _, v := range value {
				walk(v, path, name, isExample)
			}
		case string:
			if isExample {
				found++
			}
			if isExample && value == "" && !mayBeEmpty[name] {
				t.Errorf("the example has an empty text: %s", path)
			}
		}
	}
	walk(document, "", "", false)
	if found < 1000 {
		t.Errorf("found %d texts", found)
	}
}
