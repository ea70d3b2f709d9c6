package conformance

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The tables of the interface document, and of what else is served.
var (
	//go:embed interface.txt
	interfaceTable string
	//go:embed additions.txt
	additionsTable string
)

// kinds of tokens
const (
	user = "user"
	app  = "app"
)

// operation is what the document says about an operation.
type operation struct {
	method        string // GET if empty
	path, section string
	isAddition    bool     // not in the interface document
	tokens        []string // the kinds that are accepted
	scope         string
	// channel is what channelId may be: empty or one of own, "own, required", any, moderated,
	// and "own by default", which may be any.
	channel     string
	hasCursor   bool
	limit, rows int // the maximum and the default of limit; 0 if there is no limit
	headers     []string
	required    []requirement
	asks        []ask
	data        *valueType
	// expires is a field of the data of a change that holds when it ends, which is expiresIn
	// later.
	expires, expiresIn string
}

func (o *operation) String() string { return cmp.Or(o.method, http.MethodGet) + " " + o.path }

func (o *operation) accepts(kind string) bool { return slices.Contains(o.tokens, kind) }

// requirement is a parameter of a plain request.
type requirement struct {
	kind        string // of the token; any if empty
	name, value string
}

// ask is a request that differs from the plain one in its query, where an empty value leaves a
// parameter out, and what is expected of the response: a status, a code and the field of a
// violation, or something about the rows.
type ask struct {
	kind    string // of the token; any if empty
	query   string
	want    string
	section string
}

// parseTable parses tables. It panics if they are malformed, because they are part of the
// program.
func parseTable(texts ...string) []*operation {
	var operations []*operation
	shapes := map[string]*shape{}
	shapeOf := func(name string) *shape {
		if shapes[name] == nil {
			shapes[name] = &shape{name: name}
		}
		return shapes[name]
	}
	for _, text := range texts {
		section := ""
		var s *shape
		var o *operation
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), "#")
			key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			rest = strings.TrimSpace(rest)
			switch {
			case key == "":
			case line[0] != ' ' && key == "section":
				section = rest
			case line[0] != ' ' && (key == http.MethodPost || key == http.MethodDelete):
				s, o = nil, parseWrite(key, rest, section, shapeOf)
				operations = append(operations, o)
			case line[0] != ' ' && key == http.MethodGet:
				s, o = nil, &operation{path: rest, section: section, isAddition: strings.HasSuffix(section, ".md")}
				operations = append(operations, o)
			case line[0] != ' ':
				s, o = shapeOf(strings.TrimSpace(line)), nil
				s.section = section
				if !strings.HasSuffix(section, ".md") {
					s.section += " " + s.name
				}
			case s != nil:
				s.fields = append(s.fields, field{key, parseType(rest, shapeOf)})
			default:
				o.parse(key, rest, shapeOf)
			}
		}
	}
	for _, o := range operations {
		o.addAsks()
	}
	for name, s := range shapes {
		if len(s.fields) == 0 {
			panic(fmt.Sprintf("conformance: the tables do not describe %q", name))
		}
	}
	return operations
}

// parse parses a line of an operation.
func (o *operation) parse(key, rest string, shapeOf func(string) *shape) {
	switch key {
	case "tokens":
		o.tokens = strings.Split(rest, ", ")
	case "scope":
		o.scope = rest
	case "channel":
		o.channel = rest
	case "cursor":
		o.hasCursor = true
	case "limit":
		limit, rows, hasDefault := strings.Cut(rest, ", default ")
		if !hasDefault {
			rows = "20"
		}
		o.limit, _ = strconv.Atoi(limit)
		o.rows, _ = strconv.Atoi(rows)
	case "header":
		o.headers = append(o.headers, rest)
	case "path":
		name, value, _ := strings.Cut(rest, " ")
		o.required = append(o.required, requirement{"", name, value})
	case "query", "query.user", "query.app":
		o.parseParameter(kindOf(key), rest)
	case "ask", "ask.user", "ask.app":
		query, want, _ := strings.Cut(rest, " ")
		o.ask(kindOf(key), query, strings.TrimSpace(want), o.section)
	case "data":
		o.data = parseType(rest, shapeOf)
	default:
		name, ok := strings.CutPrefix(key, "data.")
		if !ok {
			panic(fmt.Sprintf("conformance: %s: unknown key %q", o, key))
		}
		if o.data == nil {
			o.data = &valueType{text: "object", shape: &shape{section: o.section}}
		}
		o.data.shape.fields = append(o.data.shape.fields, field{name, parseType(rest, shapeOf)})
	}
}

// kindOf returns the kind of token that a key names, such as app in ask.app; empty if it names
// none.
func kindOf(key string) string {
	_, kind, _ := strings.Cut(key, ".")
	return kind
}

// parseParameter parses a parameter such as "epoch integer or all, required: all", and adds the
// requests that its type suggests.
func (o *operation) parseParameter(kind, text string) {
	name, typ, _ := strings.Cut(text, " ")
	typ, value, isRequired := strings.Cut(typ, ", required: ")
	invalid := "400 INVALID_ARGUMENT " + name
	if isRequired {
		o.required = append(o.required, requirement{kind, name, value})
		o.ask(kind, name+"=", "400 INVALID_ARGUMENT", o.section)
	}
	o.ask(kind, name+"=no-such-value", invalid, o.section)
	if values, ok := strings.CutPrefix(typ, "one of "); ok {
		for value := range strings.SplitSeq(values, ", ") {
			o.ask(kind, name+"="+value, "200", o.section)
		}
	}
}

func (o *operation) ask(kind, query, want, section string) {
	o.asks = append(o.asks, ask{kind, query, want, section})
}

// addAsks adds the requests that the lines about the channel, the limit and the cursor suggest.
func (o *operation) addAsks() {
	for _, kind := range o.tokens {
		if o.channel == "" {
			break
		}
		if !o.needsChannel(kind) {
			o.ask(kind, "channelId=$channel", "200", "decisions.md")
		} else {
			o.ask(kind, "channelId=", "400 INVALID_ARGUMENT channelId", o.section)
		}
		o.ask(kind, "channelId=no-such-value", "400 INVALID_ARGUMENT channelId", o.section)
		o.ask(kind, "channelId=$CHANNEL", "200", "decisions.md")
		switch {
		case o.channel == "moderated":
			o.ask(kind, "channelId=$nobody", "403 NOT_CHANNEL_MODERATOR", "decisions.md")
			o.ask(kind, "channelId=$other", "403 NOT_CHANNEL_MODERATOR", "decisions.md")
		case kind == user && (o.channel == "own" || o.channel == "own, required"):
			o.ask(kind, "channelId=$nobody", "403 NOT_CHANNEL_OWNER", "5")
			o.ask(kind, "channelId=$other", "403 NOT_CHANNEL_OWNER", "5")
		default:
			o.ask(kind, "channelId=$nobody", "400 CHANNEL_NOT_FOUND", "errors.md")
			o.ask(kind, "channelId=$other", "200", o.section)
		}
	}
	if o.limit > 0 {
		section := "paging.md"
		if o.limit == 20 {
			section = "8"
		}
		for _, limit := range []string{"0", "-1", strconv.Itoa(o.limit + 1), "x", "1.5"} {
			o.ask("", "limit="+limit, "400 INVALID_ARGUMENT limit", section)
		}
		for _, limit := range []string{"1", strconv.Itoa(o.limit)} {
			o.ask("", "limit="+limit, "at most "+limit, section)
		}
		o.ask("", "limit=", fmt.Sprintf("at most %d", o.rows), "paging.md")
	}
	if o.hasCursor {
		o.ask("", "cursor=no-such-cursor", "400 CURSOR_INVALID", "paging.md")
		o.ask("", "cursor=$cursor", "400 CURSOR_INVALID", "paging.md")
	}
}

// needsChannel reports whether a plain request has a channelId.
func (o *operation) needsChannel(kind string) bool {
	return o.channel != "" && o.channel != "own by default" && (o.channel != "own" || kind == app)
}

// rowsOf returns the rows of a list; nil if the operation returns none.
func rowsOf(data any) []any {
	if object, ok := data.(map[string]any); ok && object["pagination"] != nil {
		if data, ok = object["rows"]; !ok {
			data = object["messages"]
		}
	}
	rows, _ := data.([]any)
	return rows
}

// valueAt returns the value at a path such as category.id.
func valueAt(row any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := row.(map[string]any)
		row = object[name]
	}
	return row
}

// identityOf returns what distinguishes a row from others: the first field of its shape.
func (o *operation) identityOf(row any) any {
	rows := o.data
	for _, f := range rows.shape.fields {
		if f.typ.element != nil {
			rows = f.typ
		}
	}
	return valueAt(row, rows.element.shape.fields[0].name)
}
