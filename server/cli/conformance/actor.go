package conformance

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// nobody is an id that no user and no channel has.
const nobody = "0b6fffff-0000-4000-8000-0000000000ff"

// actor is a token and what is known of it.
type actor struct {
	token string
	// kind is user or app.
	kind string
	// lacksRead is true if the token has not the scope users.read.
	lacksRead bool
	// userID and channelID are of the user of the token; empty if there is none.
	userID, channelID string
	moderates         string // a channel
}

// String names the actor in a finding.
func (a *actor) String() string {
	switch {
	case a.lacksRead:
		return "a token without users.read"
	case a.kind == user && a.channelID == "":
		return "user without a channel"
	}
	return a.kind
}

// meet learns what the tokens are from what they may do.
func (r *run) meet(ctx context.Context, tokens []string) error {
	for n, token := range tokens {
		a := &actor{token: token, kind: user}
		switch status, _ := r.read(ctx, a, "/v1/channels/followed", "limit=1"); status {
		case http.StatusOK:
			_, data := r.read(ctx, a, "/v1/users/profile", "")
			a.userID, _ = valueAt(data, "userId").(string)
			a.channelID, _ = valueAt(data, "channelId").(string)
			_, data = r.read(ctx, a, "/v1/moderation/channels", "userId="+a.userID)
			if rows := rowsOf(data); len(rows) > 0 {
				a.moderates, _ = valueAt(rows[0], "uuid").(string)
			}
		case http.StatusForbidden:
			a.kind = app
			status, _ := r.read(ctx, a, "/v1/channels", "limit=1")
			a.lacksRead = status == http.StatusForbidden
		default:
			if r.err != nil {
				return r.err
			}
			return fmt.Errorf("token %d of %d: GET /v1/channels/followed answers with status %d; is it a token of the client %s, and is this the server's REST address?", n+1, len(tokens), status, r.clientID)
		}
		r.actors = append(r.actors, a)
	}
	r.meetOther(ctx)
	for _, missing := range []struct {
		is     func(*actor) bool
		reason string
	}{
		{isOwner, "no token of a user with a channel was given, so the own channel was not read"},
		{func(a *actor) bool { return a.kind == user && !a.lacksRead && a.channelID == "" }, "no token of a user without a channel was given, so CHANNEL_NOT_FOUND for such a user was not checked"},
		{func(a *actor) bool { return a.kind == app && !a.lacksRead }, "no app token was given, so neither was checked what app tokens get nor that operations for users refuse them"},
		{func(a *actor) bool { return a.lacksRead }, "no token without the scope users.read was given, so SCOPE_MISSING was not checked"},
	} {
		if r.actor(missing.is) == nil {
			r.skip(anyOperation, missing.reason)
		}
	}
	return r.err
}

func isOwner(a *actor) bool { return a.channelID != "" }

// actor returns the first actor of a kind, or nil.
func (r *run) actor(is func(*actor) bool) *actor {
	for _, a := range r.actors {
		if is(a) {
			return a
		}
	}
	return nil
}

// meetOther finds a channel of another user.
func (r *run) meetOther(ctx context.Context) {
	reader := r.actor(func(a *actor) bool { return !a.lacksRead })
	if reader == nil {
		return
	}
	_, data := r.read(ctx, reader, "/v1/channels", "limit=20")
	for _, row := range rowsOf(data) {
		id, _ := valueAt(row, "id").(string)
		if r.actor(func(a *actor) bool { return a.channelID == id || a.moderates == id }) == nil {
			r.other = id
			return
		}
	}
}

// read requests data without checks; they follow later.
func (r *run) read(ctx context.Context, a *actor, path, query string) (status int, data any) {
	if r.err != nil {
		return 0, nil
	}
	got, problem, err := r.client.send(ctx, &request{method: http.MethodGet, path: path, query: with(url.Values{}, query), token: a.token, client: r.clientID})
	if r.err = err; err != nil || problem != "" {
		return 0, nil
	}
	if cursor, _ := valueAt(got.payload["data"], "pagination.cursor").(string); cursor != "" {
		r.cursors[path] = cursor
	}
	return got.status, got.payload["data"]
}

// channelOf returns the channel that an actor names: the own one or, of an app, any.
func (r *run) channelOf(a *actor) string {
	if owner := r.actor(isOwner); owner != nil {
		return cmp.Or(a.channelID, a.moderates, owner.channelID)
	}
	return cmp.Or(a.channelID, a.moderates, r.other)
}

// fill returns a query with values in the place of its placeholders. missing is the first
// placeholder for which no value is known.
func (r *run) fill(a *actor, values url.Values, row any) (filled url.Values, missing string) {
	filled = url.Values{}
	for name, all := range values {
		for _, value := range all {
			text := r.placeholder(a, value, row)
			if text == "" && value != "" && missing == "" {
				missing = value
			}
			filled.Add(name, text)
		}
	}
	return filled, missing
}
