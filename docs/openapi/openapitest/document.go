package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/moderato-live/moderato/docs/openapi"
)

// Document is an OpenAPI document with which exchanges are compared. Each of its schemas is
// compiled once.
type Document struct {
	library  *library
	root     map[string]any
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by pointer
}

// served returns the document that the server serves. It is read once in a process.
var served = sync.OnceValue(func() *Document {
	document, err := Parse(openapi.JSON())
	if err != nil {
		panic(err)
	}
	return document
})

// resource is what the document is called in the pointers of the compiler.
const resource = "openapi.json"

// Parse returns a document. Responses may have no fields that it does not describe, although
// it lets later versions add some.
func Parse(text []byte) (*Document, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	root, isObject := parsed.(map[string]any)
	if !isObject {
		return nil, fmt.Errorf("a document is an object, not a %T", parsed)
	}
	library, err := newLibrary(text)
	if err != nil {
		return nil, err
	}
	d := &Document{library: library, root: root, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	closeResponses(root)
	return d, d.compiler.AddResource(resource, root)
}

// closeResponses makes the schemas of responses and events refuse other properties.
func closeResponses(root map[string]any) {
	components, _ := root["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for name, schema := range schemas {
		if !strings.HasSuffix(name, "Request") && !strings.HasSuffix(name, "Input") {
			closeSchema(schema)
		}
	}
	closeSchema(components["responses"])
	paths, _ := root["paths"].(map[string]any)
	for _, item := range paths {
		operations, _ := item.(map[string]any)
		for _, o := range operations {
			operation, _ := o.(map[string]any)
			closeSchema(operation["responses"])
		}
	}
}

// closeSchema makes all schemas of objects within a value refuse other properties.
func closeSchema(value any) {
	switch v := value.(type) {
	case map[string]any:
		_, hasProperties := v["properties"].(map[string]any)
		if _, isDecided := v["additionalProperties"]; v["type"] == "object" && hasProperties && !isDecided {
			v["additionalProperties"] = false
		}
		for name, inner := range v {
			if name != "example" && name != "examples" {
				closeSchema(inner)
			}
		}
	case []any:
		for _, inner := range v {
			closeSchema(inner)
		}
	}
}

// at returns the value at a pointer, and the pointer to which its references lead; nil if
// there is none.
func (d *Document) at(pointer string) (value map[string]any, _ string) {
	var found any = d.root
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := found.(type) {
		case map[string]any:
			found = in[unescape.Replace(name)]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				return nil, pointer
			}
			found = in[i]
		default:
			return nil, pointer
		}
	}
	value, _ = found.(map[string]any)
	if to, isReference := value["$ref"].(string); isReference {
		return d.at(strings.TrimPrefix(to, "#"))
	}
	return value, pointer
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// validate checks a value against the schema at a pointer.
func (d *Document) validate(pointer string, value any) error {
	schema, err := d.schema(pointer)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func (d *Document) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if schema := d.schemas[pointer]; schema != nil {
		return schema, nil
	}
	schema, err := d.compiler.Compile(resource + "#" + pointer)
	if err == nil {
		d.schemas[pointer] = schema
	}
	return schema, err
}

// checkJSON checks a text against the schema at a pointer.
func (d *Document) checkJSON(pointer string, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return d.validate(pointer, value)
}

// checkSchema checks a text against a schema of the components.
func (d *Document) checkSchema(name string, text []byte) error {
	pointer := "/components/schemas/" + name
	if schema, _ := d.at(pointer); schema == nil {
		return fmt.Errorf("there is no schema %s", name)
	}
	return d.checkJSON(pointer, text)
}

// checkMessage checks a message of the event stream.
func (d *Document) checkMessage(name string, data []byte) error {
	switch name {
	case "":
		var event struct {
			Metadata struct{ SubscriptionType string }
		}
		if err := json.Unmarshal(data, &event); err != nil {
			return err
		}
		return d.checkSchema(notification(event.Metadata.SubscriptionType), data)
	case "missed":
		return d.checkSchema("MissedMessages", data)
	case "end":
		return d.checkSchema("Error", data)
	}
	return fmt.Errorf("the event %s is not documented", name)
}

// notification returns the name of the schema of events of a type.
func notification(eventType string) string {
	var name strings.Builder
	for word := range strings.FieldsFuncSeq(eventType, func(r rune) bool { return r == '.' || r == '_' }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String() + "Notification"
}
