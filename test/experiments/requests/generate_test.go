package requests_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/test/servertest"
)

// generator generates requests from the OpenAPI document: first a valid one, then some
// changes that make it invalid or unusual. The same seed gives the same requests.
type generator struct {
	root       map[string]any
	operations []documented
	rand       *rand.Rand
}

// documented is an operation of the document.
type documented struct {
	method, path string
	parameters   []map[string]any
	mediaType    string         // of the body; empty for none
	body         map[string]any // its schema
}

// request is a generated request.
type request struct {
	operation documented
	method    string
	path      string // as it is sent
	query     []string
	header    http.Header
	fields    map[string]any // of the body, until it is written
	body      []byte
}

func newGenerator(t *testing.T) *generator {
	t.Helper()
	g := &generator{}
	if err := json.Unmarshal(openapi.JSON(), &g.root); err != nil {
		t.Fatal(err)
	}
	paths := object(g.root["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := object(paths[path])
		for _, method := range slices.Sorted(maps.Keys(item)) {
			g.operations = append(g.operations, g.documented(method, path, object(item[method])))
		}
	}
	return g
}

// object returns a value of the document as an object.
func object(value any) map[string]any {
	o, _ := value.(map[string]any)
	return o
}

// resolve follows the references of an object.
func (g *generator) resolve(value any) map[string]any {
	o := object(value)
	for {
		reference, isReference := o["$ref"].(string)
		if !isReference {
			return o
		}
		var at any = g.root
		for name := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
			at = object(at)[name]
		}
		o = object(at)
	}
}

func (g *generator) documented(method, path string, operation map[string]any) documented {
	d := documented{method: strings.ToUpper(method), path: path}
	parameters, _ := operation["parameters"].([]any)
	for _, p := range parameters {
		if parameter := g.resolve(p); parameter["in"] == "query" || parameter["in"] == "path" {
			d.parameters = append(d.parameters, parameter)
		}
	}
	content := object(g.resolve(operation["requestBody"])["content"])
	for mediaType, described := range content {
		d.mediaType, d.body = mediaType, g.resolve(object(described)["schema"])
	}
	return d
}

// The client of the generated requests to sign in.
const (
	generatedClientID = "generated-client"
	generatedRedirect = "https://dashboard.example/callback"
)

// known are valid values by the name of a field or parameter.
var known = map[string]any{
	"channelId": servertest.Owner.String(), "userId": servertest.Raider.String(), "banUserId": servertest.Raider.String(),
	"mutedUserId": servertest.Viewer.String(), "moderatorId": servertest.Moderator.String(), "senderId": servertest.Viewer.String(),
	"messageId": servertest.Nobody.String(), "batchId": servertest.Nobody.String(), "webhookId": servertest.Nobody.String(),
	"eventId": servertest.Nobody.String(), "sessionId": servertest.Nobody.String(), "id": servertest.Nobody.String(),
	"clientId": generatedClientID, "client_id": generatedClientID, "response_type": "code", "code_challenge_method": "S256",
	"code_challenge": strings.Repeat("a", 43), "scope": "users.read", "redirectUri": generatedRedirect, "grant_type": "client_credentials", "url": "https://hooks.invalid/moderato", "lang": "en",
	"epoch": "all", "since": "2026-01-01T00:00:00Z", "phrase": "free gems", "type[]": "channel.ban", "username[]": "tomasz_wrona",
	"userId[]": servertest.Owner.String(), "slug[]": "ines", "redirect_uri": generatedRedirect, "version": "1",
	"condition": map[string]any{"channelId": servertest.Owner.String()}, "type": "channel.ban", "cursor": "", "lastEventId": "",
	"users": []any{map[string]any{"userId": servertest.Raider.String()}}, "withinSeconds": 600, "scopes": "users.read",
}

// valid returns a value that a schema accepts.
func (g *generator) valid(name string, schema map[string]any) any {
	schema = g.resolve(schema)
	if values, isEnum := schema["enum"].([]any); isEnum {
		return pick(g, values)
	}
	if value, isKnown := known[name]; isKnown {
		return value
	}
	kind, _ := schema["type"].(string)
	if kinds, hasSeveral := schema["type"].([]any); hasSeveral {
		kind, _ = kinds[0].(string)
	}
	switch kind {
	case "integer", "number":
		if least, isBound := schema["minimum"].(float64); isBound {
			return int64(least) + 1
		}
		return 1
	case "boolean":
		return g.rand.IntN(2) == 0
	case "array":
		return []any{g.valid("", object(schema["items"]))}
	case "object":
		return map[string]any{}
	}
	return "a"
}

func pick[T any](g *generator, from []T) T { return from[g.rand.IntN(len(from))] }

// request returns the request with a number.
func (g *generator) request(seed, number uint64) *request {
	g.rand = rand.New(rand.NewPCG(seed, number)) //nolint:gosec // requests must be repeatable
	o := g.operations[number%uint64(len(g.operations))]
	r := &request{operation: o, method: o.method, path: o.path, header: http.Header{}}
	for _, p := range o.parameters {
		name, _ := p["name"].(string)
		if p["in"] == "path" {
			r.path = strings.ReplaceAll(r.path, "{"+name+"}", fmt.Sprint(g.valid(name, object(p["schema"]))))
			continue
		}
		if p["required"] == true || g.rand.IntN(3) == 0 {
			r.query = append(r.query, url.QueryEscape(name)+"="+url.QueryEscape(fmt.Sprint(g.valid(name, object(p["schema"])))))
		}
	}
	if o.mediaType != "" {
		r.header.Set("Content-Type", o.mediaType)
		r.fields = g.fields(o.body)
	}
	var changes []func(*generator, *request)
	for range g.rand.IntN(4) { // none at all in a quarter of the requests
		changes = append(changes, pick(g, g.changesOf(r)))
	}
	for _, change := range changes {
		if r.body == nil || r.fields == nil {
			change(g, r)
		}
	}
	if r.body == nil && r.fields != nil {
		r.body = encode(o.mediaType, r.fields)
	}
	return r
}

// fields returns valid values of the required properties of a body, and of some others.
func (g *generator) fields(schema map[string]any) map[string]any {
	required, _ := schema["required"].([]any)
	properties, fields := object(schema["properties"]), map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || g.rand.IntN(4) == 0 {
			fields[name] = g.valid(name, object(properties[name]))
		}
	}
	return fields
}

// encode writes a body.
func encode(mediaType string, fields map[string]any) []byte {
	if mediaType != "application/json" {
		form := url.Values{}
		for name, value := range fields {
			form.Set(name, fmt.Sprint(value))
		}
		return []byte(form.Encode())
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return text
}

// changesOf returns the changes that a request can have.
func (g *generator) changesOf(r *request) []func(*generator, *request) {
	changes := []func(*generator, *request){changeQuery, changeQuery, changeQuery, changeHeader, changePath, changeMethod}
	if r.fields != nil {
		changes = append(changes, changeField, changeField, changeField, changeField, changeField, changeBody, changeBody, changeMediaType)
	}
	return changes
}

// String returns the request as a person can repeat it.
func (r *request) String() string {
	return fmt.Sprintf("%s %s?%s %v %.300q", r.method, r.path, strings.Join(r.query, "&"), r.header, r.body)
}
