package tickets_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/event/tickets"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// newTicket has a caller get a ticket.
func newTicket(t *testing.T, s *servertest.Server, c servertest.Credentials) string {
	t.Helper()
	r := s.REST(t, c, http.MethodPost, "/v1/events/tickets", "{}")
	var body struct {
		Data struct{ Ticket, ExpiresAt string }
	}
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Status != http.StatusOK {
		t.Fatal(r.Body, err)
	}
	if end, err := time.Parse(time.RFC3339, body.Data.ExpiresAt); err != nil || !strings.HasPrefix(body.Data.Ticket, "mdt_") || time.Until(end) > tickets.Lifetime {
		t.Errorf("got %s", r.Body)
	}
	return body.Data.Ticket
}

// open opens a stream with a ticket and closes it, and returns its outcome. more is added
// to the query.
func open(t *testing.T, s *servertest.Server, ticket, more string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.HTTPAddr+"/v1/events?ticket="+ticket+more, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusOK {
		return "OK"
	}
	var body struct{ Data struct{ Code string } }
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	if body.Data.Code == "TICKET_INVALID" && response.StatusCode != http.StatusUnauthorized {
		t.Errorf("got the status %d", response.StatusCode)
	}
	return body.Data.Code
}

// two starts two servers on one database, on each kind of store.
func two(t *testing.T, test func(t *testing.T, a, b *servertest.Server)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		a, b := servertest.Start(t, servertest.Config(url)), servertest.Start(t, servertest.Config(url))
		a.Load(t, servertest.World()...)
		test(t, a, b)
	})
}

func TestTicketOpensOneStream(t *testing.T) {
	two(t, func(t *testing.T, a, b *servertest.Server) {
		owner := a.As(t, servertest.Owner)
		ticket := newTicket(t, a, owner)
		for _, c := range []struct{ ticket, want string }{
			{ticket[:len(ticket)-1] + "~", "TICKET_INVALID"},
			{"", "TICKET_INVALID"},
			{owner.Token, "TICKET_INVALID"}, // a token is not taken from the query
			{ticket, "OK"},
			{ticket, "TICKET_INVALID"},
		} {
			if got := open(t, b, c.ticket, ""); got != c.want {
				t.Errorf("%q: got %s, want %s", c.ticket, got, c.want)
			}
		}
		if got := open(t, a, ticket, ""); got != "TICKET_INVALID" {
			t.Errorf("on the server that issued it: got %s", got)
		}
		if got := open(t, a, newTicket(t, a, owner), "&ticket=x"); got != "INVALID_ARGUMENT" {
			t.Errorf("two tickets: got %s", got)
		}
	})
}

func TestTicketIsRedeemedOnceByConcurrentStreams(t *testing.T) {
	two(t, func(t *testing.T, a, b *servertest.Server) {
		ticket := newTicket(t, a, a.As(t, servertest.Owner))
		results := make(chan string, 8)
		var all sync.WaitGroup
		for i := range cap(results) {
			all.Go(func() { results <- open(t, []*servertest.Server{a, b}[i%2], ticket, "") })
		}
		all.Wait()
		close(results)
		n := 0
		for got := range results {
			if got == "OK" {
				n++
			} else if got != "TICKET_INVALID" {
				t.Errorf("got %s", got)
			}
		}
		if n != 1 {
			t.Errorf("%d streams were opened, want 1", n)
		}
	})
}

func TestTicketExpires(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		now, err := s.Store.Clock.Now(t.Context(), s.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Freeze(now)
		caller := s.As(t, servertest.Owner)
		early, late := newTicket(t, s, caller), newTicket(t, s, caller)
		s.Store.Clock.Freeze(now.Add(tickets.Lifetime - time.Millisecond))
		if got := open(t, s, early, ""); got != "OK" {
			t.Errorf("a millisecond before the end: got %s", got)
		}
		s.Store.Clock.Freeze(now.Add(tickets.Lifetime))
		if got := open(t, s, late, ""); got != "TICKET_INVALID" {
			t.Errorf("at the end: got %s", got)
		}
		s.Store.Clock.Freeze(now.Add(tickets.Lifetime + time.Millisecond))
		if _, err := tickets.Tables[0].Expire(tables.Env{Store: s.Store}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Must(s.Store.Read.EventTicket.Query().Count(t.Context())); n != 0 {
			t.Errorf("%d expired tickets are left", n)
		}
	})
}

// TestStreamOfTicketHasRightsOfItsCaller also revokes the token of a stream, and of a
// ticket that was not used yet.
func TestStreamOfTicketHasRightsOfItsCaller(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		channel := "&channelId=" + servertest.Owner.String()
		acting := s.AsService(t)
		acting.ActingUser = servertest.Viewer
		for _, c := range []struct {
			caller     servertest.Credentials
			more, want string
		}{
			{s.As(t, servertest.Moderator), channel + "&type[]=channel.ban", "OK"},
			{s.As(t, servertest.Viewer), channel + "&type[]=channel.ban", "NOT_CHANNEL_MODERATOR"},
			{s.AsApp(t), channel + "&type[]=channel.update", "OK"},
			{s.AsApp(t), channel + "&type[]=channel.ban", "TOKEN_KIND_NOT_ACCEPTED"},
			{s.AsService(t), channel + "&type[]=channel.ban", "OK"},
			{acting, channel + "&type[]=channel.ban", "NOT_CHANNEL_MODERATOR"},
		} {
			if got := open(t, s, newTicket(t, s, c.caller), c.more); got != c.want {
				t.Errorf("%s: got %s, want %s", c.more, got, c.want)
			}
		}
		caller := s.As(t, servertest.Owner)
		used, unused := newTicket(t, s, caller), newTicket(t, s, caller)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.HTTPAddr+"/v1/events?ticket="+used, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		if _, err := authn.Revoke(t.Context(), s.Store, caller.Token, nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		text := make([]byte, 1<<16)
		for got := ""; !strings.Contains(got, "TOKEN_INVALID"); {
			n, err := response.Body.Read(text)
			got += string(text[:n])
			if err != nil && !strings.Contains(got, "TOKEN_INVALID") {
				t.Fatalf("the stream ended with %v after %q", err, got)
			}
		}
		if took := time.Since(began); took > 2*time.Second+servertest.Slack {
			t.Errorf("the stream ended after %s, want 2 s at most", took)
		}
		time.Sleep(time.Until(began.Add(2 * time.Second))) // for as long a token may be cached
		if got := open(t, s, unused, ""); got != "TOKEN_INVALID" {
			t.Errorf("with a ticket of a revoked token: got %s", got)
		}
	})
}

// TestTicketSurvivesLostCommit loses the connection in the COMMIT of a redemption, and in
// that of an issue.
func TestTicketSurvivesLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		caller := s.As(t, servertest.Owner)
		for _, cuts := range [][]storetest.Cut{{storetest.BeforeCommit}, {storetest.AfterCommit}, {storetest.LateCommit}} {
			cutter.CutNext("CreateEventTicket", cuts...)
			ticket := newTicket(t, s, caller)
			if cutter.Made() != 1 {
				t.Errorf("issue: %d cuts were made", cutter.Made())
			}
			cutter.CutNext("tickets.(*Service).redeem", cuts...)
			if got := open(t, s, ticket, ""); got != "OK" || cutter.Made() != 1 {
				t.Errorf("cut %v: got %s after %d cuts", cuts, got, cutter.Made())
			}
			if got := open(t, s, ticket, ""); got != "TICKET_INVALID" {
				t.Errorf("cut %v: the second stream: got %s", cuts, got)
			}
		}
	})
}

// TestMadeUpTicketsAreLookedUpAtABoundedRate sends made-up tickets whose checksum is right.
func TestMadeUpTicketsAreLookedUpAtABoundedRate(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	s := servertest.Start(t, config)
	outcomes := map[string]int{}
	for range 200 {
		ticket, err := authn.NewTicket()
		if err != nil {
			t.Fatal(err)
		}
		outcomes[open(t, s, ticket, "")]++
	}
	if outcomes["TICKET_INVALID"] < 100 || outcomes["RATE_LIMITED"] == 0 {
		t.Errorf("got %v", outcomes)
	}
}
