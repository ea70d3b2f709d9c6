package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// placeholder returns what a placeholder of the tables stands for, such as $channel or
// $row.id, and any other value unchanged.
func (r *run) placeholder(a *actor, value string, row any) string {
	if name, ok := strings.CutPrefix(value, "@$"); ok {
		return "@" + r.placeholder(a, "$"+name, row)
	}
	path, isRow := strings.CutPrefix(value, "$row.")
	switch {
	case isRow:
		if v := valueAt(row, path); v != nil {
			return fmt.Sprint(v)
		}
		return ""
	case value == "$target":
		return r.target
	case value == "$nobody":
		return nobody
	case value == "$channel":
		return r.channelOf(a)
	case value == "$CHANNEL":
		return strings.ToUpper(r.channelOf(a))
	case value == "$other":
		return r.other
	case value == "$cursor":
		return r.foreign
	case value == "$user" && a.userID == "": // of an app
		return r.channelOf(a) // the id of a channel is that of its owner
	case value == "$user":
		return a.userID
	case strings.HasPrefix(value, "$"):
		return ""
	}
	return value
}

// unknownPath checks the response to a path that no server has.
func (r *run) unknownPath(ctx context.Context) {
	o := &operation{path: "/v1/no-such-path"}
	r.send(ctx, o, r.request(o, r.actors[0], nil), expectation{http.StatusNotFound, "PATH_NOT_FOUND", "", "errors.md"})
}

// check sends the probes of an operation.
func (r *run) check(ctx context.Context, o *operation) {
	r.foreign = ""
	for path, cursor := range r.cursors {
		if path != o.path {
			r.foreign = cursor
		}
	}
	in := &inspection{shown: map[string]bool{}, find: func(section, path, text string) { r.find(section, o.String(), path, text) }}
	var best *actor
	var rows []any
	var first any // of the rows, or the data
	if o.isAddition && !r.isServed(ctx, o) {
		return
	}
	for _, a := range r.actors {
		if !a.mayCall(o) {
			r.refuse(ctx, o, a)
			continue
		}
		got := r.plain(ctx, o, a, in)
		if best == nil || len(rowsOf(got)) > len(rows) {
			best, rows, first = a, rowsOf(got), got
		}
		if len(rows) > 0 {
			first = rows[0]
		}
	}
	if best == nil {
		r.skip(o.String(), "no token was given that may call it")
		return
	}
	r.credentials(ctx, o, best)
	r.asks(ctx, o, best, first)
	if o.hasCursor {
		r.pages(ctx, o, best, in)
	}
	if r.err == nil {
		r.notShown(o, in)
	}
}

// isServed reports whether a server has an operation that it need not have.
func (r *run) isServed(ctx context.Context, o *operation) bool {
	status, data := r.read(ctx, r.actors[0], o.path, "")
	if code := valueAt(data, "code"); status == http.StatusNotFound && (code == nil || code == "PATH_NOT_FOUND") {
		r.skip(o.String(), "the server does not have this operation, which is not in the interface document")
		return false
	}
	return true
}

// mayCall reports whether an actor may call an operation.
func (a *actor) mayCall(o *operation) bool {
	return !a.lacksRead && o.accepts(a.kind) && (a.kind == app || isOwner(a) || o.channel == "" || o.channel == "any" || (o.channel == "moderated" && a.moderates != ""))
}

// refuse checks that an operation refuses an actor that may not call it.
func (r *run) refuse(ctx context.Context, o *operation, a *actor) {
	e := expectation{http.StatusForbidden, "SCOPE_MISSING", "", "5"}
	switch {
	case a.lacksRead && (o.scope != "users.read" || !o.accepts(app)):
		return // the kind of the token, which is not known, is checked before the scope
	case a.lacksRead:
	case !o.accepts(a.kind):
		e.code = "TOKEN_KIND_NOT_ACCEPTED"
	case o.channel == "own" || o.channel == "own by default":
		e = expectation{http.StatusBadRequest, "CHANNEL_NOT_FOUND", "", "decisions.md"}
	default:
		return // there is no channel to name
	}
	query, _ := r.fill(a, o.query(a), nil)
	r.send(ctx, o, r.request(o, a, query), e)
}

// query returns the query of a plain request.
func (o *operation) query(a *actor) url.Values {
	query := url.Values{}
	if o.needsChannel(a.kind) {
		query.Set("channelId", "$channel")
	}
	for _, p := range o.required {
		if p.kind == "" || p.kind == a.kind {
			query.Set(p.name, p.value)
		}
	}
	return query
}

func (r *run) request(o *operation, a *actor, query url.Values) *request {
	path, query := o.path, maps.Clone(query)
	for name, values := range query {
		if variable := "{" + name + "}"; strings.Contains(path, variable) {
			path = strings.ReplaceAll(path, variable, url.PathEscape(cmp.Or(values[0], "none")))
			query.Del(name)
		}
	}
	return &request{method: http.MethodGet, path: path, query: query, token: a.token, client: r.clientID, as: a.String()}
}

// plain checks the response to a plain request, and returns its data.
func (r *run) plain(ctx context.Context, o *operation, a *actor, in *inspection) any {
	query, missing := r.fill(a, o.query(a), nil)
	if missing != "" {
		r.skip(o.String(), "nothing is known that could stand for "+missing)
		return nil
	}
	got := r.send(ctx, o, r.request(o, a, query), expectation{status: http.StatusOK, section: o.section})
	if got == nil {
		return nil
	}
	r.data(o, got, in)
	for _, name := range o.headers {
		if got.header.Get(name) == "" {
			r.find(o.section, o.String(), "header "+name, "is missing")
		}
	}
	return got.payload["data"]
}

// data checks the shape of the data.
func (r *run) data(o *operation, got *answer, in *inspection) {
	data, ok := got.payload["data"]
	if !ok {
		r.find("1", o.String(), "data", "is missing")
		return
	}
	in.value(o.data, data, nil, o.section, "data")
}

// notShown reports what the responses could not show.
func (r *run) notShown(o *operation, in *inspection) {
	var hidden []string
	for path, isShown := range in.shown {
		if !isShown {
			hidden = append(hidden, path)
		}
	}
	if slices.Sort(hidden); len(hidden) > 0 {
		r.skip(o.String(), "always null or empty in the responses: "+strings.Join(hidden, ", "))
	}
}

// credentials checks that an operation refuses who does not say who calls.
func (r *run) credentials(ctx context.Context, o *operation, a *actor) {
	query, missing := r.fill(a, o.query(a), nil)
	for _, c := range []struct{ as, token, client, code string }{
		{"nobody, without a token", "", r.clientID, "TOKEN_MISSING"},
		{"nobody, with an unknown token", "no-such-token", r.clientID, "TOKEN_INVALID"},
		{"user, without client-id", a.token, "", "CLIENT_ID_MISSING"},
		{"user, with another client-id", a.token, r.clientID + "-other", "CLIENT_ID_MISMATCH"},
	} {
		q := r.request(o, a, query)
		q.as, q.token, q.client = c.as, c.token, c.client
		r.send(ctx, o, q, expectation{http.StatusUnauthorized, c.code, "", "5"})
	}
	q := r.request(o, a, query)
	if missing != "" {
		return
	}
	q.method, q.as = http.MethodHead, q.as+", with HEAD"
	r.send(ctx, o, q, expectation{status: http.StatusOK, section: "decisions.md"})
}

// with returns a query with other values of its parameters, and without those whose value is
// empty.
func with(query url.Values, changes string) url.Values {
	changed := url.Values{}
	for pair := range strings.SplitSeq(changes, "&") {
		name, value, _ := strings.Cut(pair, "=")
		changed.Add(name, value)
	}
	query = maps.Clone(query)
	maps.Copy(query, changed)
	maps.DeleteFunc(query, func(_ string, values []string) bool { return values[0] == "" })
	return query
}

// asks sends the requests of the table, and checks what the table says of their rows.
func (r *run) asks(ctx context.Context, o *operation, best *actor, first any) {
	for _, k := range o.asks {
		a := best
		if k.kind != "" {
			a = r.actor(func(a *actor) bool { return a.kind == k.kind && a.mayCall(o) })
		}
		if a == nil {
			continue
		}
		query, missing := r.fill(a, with(o.query(a), k.query), first)
		if missing != "" {
			r.skip(o.String(), "nothing is known that could stand for "+missing)
			continue
		}
		e := k.expectation()
		q := r.request(o, a, query)
		if got := r.send(ctx, o, q, e); got != nil && e.status == http.StatusOK {
			r.rows(o, k, q.String(), rowsOf(got.payload["data"]), func(v string) string { return r.placeholder(a, v, first) })
		}
	}
}

// expectation returns what the response must be: 200 unless the table names another status.
func (k *ask) expectation() expectation {
	e := expectation{status: http.StatusOK, section: k.section}
	words := append(strings.Fields(k.want), "", "")
	if status, err := strconv.Atoi(words[0]); err == nil {
		e.status, e.code, e.field = status, words[1], words[2]
	}
	return e
}

// rows checks an expectation of rows: "no rows", "at most N", "every FIELD is VALUE",
// "first FIELD is VALUE" or "FIELD falls".
func (r *run) rows(o *operation, k ask, with string, rows []any, fill func(string) string) {
	find := func(text string) { r.find(k.section, o.String(), with, text) }
	words := strings.Fields(k.want)
	switch words[0] {
	case "200":
	case "at":
		if limit, _ := strconv.Atoi(words[2]); len(rows) > limit {
			find(fmt.Sprintf("there are %d rows, want at most %d", len(rows), limit))
		}
	case "no":
		if len(rows) > 0 {
			find(fmt.Sprintf("there are %d rows, want none", len(rows)))
		}
	case "first":
		if len(rows) == 0 || fmt.Sprint(valueAt(rows[0], words[1])) != fill(words[3]) {
			find(fmt.Sprintf("the first of %d rows has not the %s %s", len(rows), words[1], fill(words[3])))
		}
	case "every":
		if strings.HasPrefix(words[3], "$row") && len(rows) == 0 {
			find("there are no rows, want that of the list")
		}
		for _, row := range rows {
			if v := valueAt(row, words[1]); fmt.Sprint(v) != fill(words[3]) {
				find(fmt.Sprintf("a row has the %s %s, want %s", words[1], abbreviate(v), fill(words[3])))
				return
			}
		}
	default:
		for i := 1; i < len(rows); i++ {
			if before, v := valueAt(rows[i-1], words[0]), valueAt(rows[i], words[0]); isLess(before, v) {
				find(fmt.Sprintf("%s %s follows %s, want falling values", words[0], abbreviate(v), abbreviate(before)))
				return
			}
		}
	}
}

// isLess compares numbers, or timestamps as text.
func isLess(a, b any) bool {
	x, isNumber := a.(json.Number)
	y, _ := b.(json.Number)
	if isNumber {
		i, _ := x.Int64()
		j, _ := y.Int64()
		return i < j
	}
	return fmt.Sprint(a) < fmt.Sprint(b)
}
