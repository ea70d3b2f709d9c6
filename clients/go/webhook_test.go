package moderato_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	moderato "github.com/moderato-live/moderato/clients/go"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

const banEvent = `{"metadata":{"messageId":"m","messageType":"notification","subscriptionType":"channel.ban","subscriptionVersion":"1",` +
	`"messageTimestamp":"2026-11-20T12:00:00.000Z","channelId":"c","sequence":7,"later":1},"payload":{"channelId":"c","bannedUserId":"u","later":{}}}`

// delivery returns a delivery as the server signs it.
func delivery(t *testing.T, body string, at time.Time) *http.Request {
	t.Helper()
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := webhook.Sign("id", at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Webhook-Id", "id")
	r.Header.Set("Webhook-Timestamp", fmt.Sprint(at.Unix()))
	r.Header.Set("Webhook-Signature", signature)
	r.Header.Set("Moderato-Cursor", "a-cursor")
	return r
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	receiver, err := moderato.NewReceiver(secret)
	if err != nil {
		t.Fatal(err)
	}
	var got *moderato.Delivery
	var failure error
	handler := receiver.Handler(func(_ *http.Request, d *moderato.Delivery) error { got = d; return failure })
	now := time.Now()
	altered := delivery(t, banEvent, now)
	altered.Body = http.NoBody
	for name, c := range map[string]struct {
		request *http.Request
		status  int
		handled bool
	}{
		"signed":          {delivery(t, banEvent, now), 204, true},
		"an unknown type": {delivery(t, strings.Replace(banEvent, "channel.ban", "channel.later", 1), now), 204, true},
		"altered":         {altered, 401, false},
		"unsigned":        {httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(banEvent)), 401, false},
		"old":             {delivery(t, banEvent, now.Add(-time.Hour)), 401, false},
		"no event":        {delivery(t, "{}", now), 401, false},
		"too large":       {delivery(t, strings.Repeat(" ", 1<<20)+banEvent, now), 400, false},
	} {
		got = nil
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, c.request)
		if w.Code != c.status || (got != nil) != c.handled {
			t.Errorf("%s: answered %d, handled: %t; want %d, %t", name, w.Code, got != nil, c.status, c.handled)
		}
	}
	failure = errors.New("the disk is full")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, delivery(t, banEvent, now))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("an event that was not handled is answered %d, want 500", w.Code)
	}
	if got.ID != "id" || got.Cursor != "a-cursor" || string(got.Body) != banEvent ||
		got.Event.GetMetadata().GetSequence() != 7 || got.Event.GetBan().GetBannedUserId() != "u" {
		t.Errorf("the delivery is %+v", got)
	}
	if _, err := moderato.NewReceiver("whsec_!"); err == nil {
		t.Error("a damaged secret is accepted")
	}
}
