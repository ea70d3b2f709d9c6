package main

import (
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

type rest struct{ *tables }

func newREST(t *tables, events http.Handler) http.Handler {
	r := rest{t}
	mux := http.NewServeMux()
	mux.Handle("GET /v1/events", events)
	mux.HandleFunc("GET /v1/channels/followers", r.followers)
	mux.HandleFunc("GET /v1/channels/stats", r.stats)
	return mux
}

const success = `{"success":true,"message":"success","data":`

func answer(w http.ResponseWriter, body []byte, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '}'))
}

func (r rest) followers(w http.ResponseWriter, req *http.Request) {
	id, err := uuid.Parse(req.URL.Query().Get("channelId"))
	if err != nil {
		answer(w, nil, err)
		return
	}
	b := append(make([]byte, 0, 8<<10), success+`{"rows":[`...)
	first := true
	next, err := r.readFollowers(req.Context(), id, func(f *follower) {
		b = appendComma(b, &first)
		b = appendString(append(b, `{"id":`...), f.id.String())
		b = appendString(append(b, `,"displayName":`...), f.displayName)
		b = appendString(append(b, `,"slug":`...), f.slug)
		b = appendString(append(b, `,"avatarUrl":`...), f.url)
		b = append(b, `,"isFollower":true,"followedAt":`...)
		b = appendTime(b, f.at)
		b = append(b, `,"subscriptionInfo":{"isSubscriber":`...)
		now := time.Now().UnixMilli()
		active := f.isActive != nil && *f.isActive && now < *f.expires
		b = strconv.AppendBool(b, active)
		b = append(b, `,"hadSubscriptionBefore":`...)
		b = strconv.AppendBool(b, f.isActive != nil && (!active || *f.renewals > 0))
		b = appendInt(append(b, `,"renewCount":`...), f.renewals)
		b = appendInt(append(b, `,"streakCount":`...), f.streak)
		if active {
			b = appendTime(append(b, `,"expiresAt":`...), *f.expires)
			b = appendTime(append(b, `,"subscribedAt":`...), *f.subscribedAt)
		} else {
			b = append(b, `,"expiresAt":null,"subscribedAt":null`...)
		}
		b = append(b, `}}`...)
	})
	answer(w, appendPagination(b, next), err)
}

func (r rest) stats(w http.ResponseWriter, req *http.Request) {
	id, err := uuid.Parse(req.URL.Query().Get("channelId"))
	if err != nil {
		answer(w, nil, err)
		return
	}
	followers, subscribers, viewers, err := r.readStats(req.Context(), id)
	b := append(make([]byte, 0, 256), success...)
	b = strconv.AppendInt(append(b, `{"followerCount":`...), followers, 10)
	b = strconv.AppendInt(append(b, `,"subscriberCount":`...), subscribers, 10)
	b = strconv.AppendInt(append(b, `,"viewerCount":`...), viewers, 10)
	answer(w, append(b, '}'), err)
}

func appendPagination(b []byte, next string) []byte {
	b = append(b, `],"pagination":{"cursor":`...)
	if next == "" {
		return append(b, `""}}`...)
	}
	return append(appendString(b, next), `}}`...)
}

func appendComma(b []byte, first *bool) []byte {
	if *first {
		*first = false
		return b
	}
	return append(b, ',')
}

func appendInt(b []byte, n *int64) []byte {
	if n == nil {
		return append(b, `null`...)
	}
	return strconv.AppendInt(b, *n, 10)
}

func appendTime(b []byte, ms int64) []byte {
	return append(time.UnixMilli(ms).UTC().AppendFormat(append(b, '"'), "2006-01-02T15:04:05.000Z"), '"')
}

// appendString appends a quoted string. A string that needs escapes takes the slow
// path.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return strconv.AppendQuote(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
