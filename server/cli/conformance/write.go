package conformance

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

//go:embed writes.txt
var writesTable string

const (
	// undoTimeout is how long the undo of a run that ended early may take.
	undoTimeout = 30 * time.Second
	// clockSkew is how much a time may differ from that of the checking host.
	clockSkew = 30 * time.Second
)

// write makes the changes of the table in a test channel, and undoes them.
func (r *run) write(ctx context.Context, channel string) error {
	owner := r.actor(func(a *actor) bool { return a.channelID == channel })
	if owner == nil {
		return fmt.Errorf("--write %s: none of the tokens is of this channel's owner", channel)
	}
	if r.target = r.findTarget(ctx, owner); r.target == "" {
		r.skip(anyOperation, "--write: no other user is known who has no role, ban or mute in the channel")
		return nil
	}
	steps := parseTable(writesTable)
	var last any
	for _, o := range steps {
		r.report.Operations++
		arguments, missing := r.fill(owner, with(url.Values{}, o.asks[0].query), last)
		if missing != "" {
			r.skip(o.String(), "nothing is known that could stand for "+missing)
			continue
		}
		if data := r.change(ctx, o, r.changeRequest(o, owner, arguments)); data != nil {
			last = data
		}
	}
	if r.err != nil {
		r.undo(ctx, steps, owner)
	}
	return nil
}

// findTarget returns a user for whom the undo restores the state before: one without role, ban
// and mute in the channel. The users of the tokens come first.
func (r *run) findTarget(ctx context.Context, owner *actor) string {
	var users []string
	for _, a := range r.actors {
		if a.userID != "" && a.userID != owner.userID {
			users = append(users, a.userID)
		}
	}
	_, data := r.read(ctx, owner, "/v1/channels/followers", "limit=20")
	for _, row := range rowsOf(data) {
		users = append(users, fmt.Sprint(valueAt(row, "id")))
	}
	for _, id := range users {
		status, data := r.read(ctx, owner, "/v1/moderation/users", "channelId="+owner.channelID+"&userId="+id)
		roles, _ := valueAt(data, "roles").([]any)
		if status == http.StatusOK && len(roles) == 0 && valueAt(data, "ban") == nil && valueAt(data, "mute") == nil {
			return id
		}
	}
	return ""
}

// parseWrite parses a line of the table of writes.
func parseWrite(method, text, section string, shapeOf func(string) *shape) *operation {
	words := strings.Fields(text)
	o := &operation{method: method, path: words[0], section: section}
	want := strings.Join(words[2:], " ")
	if name, ok := strings.CutPrefix(want, "200 "); ok && name != "none" {
		want = "200"
		name, expiry, _ := strings.Cut(name, ", ")
		o.data = parseType(name, shapeOf)
		o.expires, o.expiresIn, _ = strings.Cut(expiry, " in ")
	}
	o.ask("", words[1], strings.TrimSuffix(want, " none"), section)
	return o
}

// changeRequest returns the request of a step.
func (r *run) changeRequest(o *operation, owner *actor, arguments url.Values) *request {
	q := r.request(o, owner, url.Values{})
	q.method, q.body = o.method, map[string]any{}
	q.as += ", " + strings.ReplaceAll(o.asks[0].query, "&", ", ")
	for name, values := range arguments {
		q.body[name] = values[0]
	}
	return q
}

// change makes a change, checks the response and returns its data.
func (r *run) change(ctx context.Context, o *operation, q *request) any {
	e := o.asks[0].expectation()
	got := r.send(ctx, o, q, e)
	if got == nil || e.status != http.StatusOK {
		return nil
	}
	data, hasData := got.payload["data"]
	if o.data == nil {
		if hasData {
			r.find(o.section, o.String(), "data", "is "+abbreviate(data)+", want none")
		}
		return nil
	}
	in := &inspection{shown: map[string]bool{}, find: func(section, path, text string) { r.find(section, o.String(), path, text) }}
	r.data(o, got, in)
	if o.expires != "" {
		r.expiry(o, valueAt(data, o.expires))
	}
	return data
}

// expiry checks when something ends that begins now.
func (r *run) expiry(o *operation, value any) {
	at, err := time.Parse(time.RFC3339, fmt.Sprint(value))
	want, _ := time.ParseDuration(o.expiresIn)
	if in := time.Until(at); err == nil && (in-want).Abs() > clockSkew {
		r.find(o.section, o.String(), "data."+o.expires, fmt.Sprintf("is in %s, want in %s", in.Round(time.Minute), o.expiresIn))
	}
}

// undo sends the requests that end what may be in force, after a run that ended early.
func (r *run) undo(ctx context.Context, steps []*operation, owner *actor) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	for _, o := range steps {
		arguments, missing := r.fill(owner, with(url.Values{}, o.asks[0].query), nil)
		if o.method == http.MethodDelete && missing == "" && o.asks[0].want == "200" {
			_, _ = r.client.try(ctx, r.changeRequest(o, owner, arguments))
		}
	}
}
