package abuse_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

// TestBanOverloadOfOneChannelDoesNotDelayOthers has many connections ban in one channel.
// Requests that would wait too long are rejected immediately, the others succeed, and the
// latency of other callers' reads hardly changes.
func TestBanOverloadOfOneChannelDoesNotDelayOthers(t *testing.T) {
	connections := scaled(150, 2000)
	duration := scaled(2*time.Second, 20*time.Second)
	maxWait := scaled(20*time.Millisecond, 100*time.Millisecond)
	each(t, func(t *testing.T, s *target) {
		raiders := servertest.AddUsers(t, s.store, 2*connections)
		owner, viewer := s.as(t, servertest.Owner), s.as(t, servertest.Other)
		client := newClient(connections + 1)
		idle := s.probe(t, viewer, duration/4)

		ctx, cancel := context.WithTimeout(t.Context(), duration)
		defer cancel()
		var mu sync.Mutex
		counts := map[string]int{}
		var answered, rejected []time.Duration
		var all sync.WaitGroup
		for i := range connections {
			all.Go(func() {
				method := "POST"
				for ctx.Err() == nil {
					start := time.Now()
					code, retryAfter := s.ban(ctx, client, owner, method, raiders[i])
					took := time.Since(start)
					mu.Lock()
					counts[code]++
					switch code {
					case "OK":
						answered = append(answered, took)
						method = map[string]string{"POST": "DELETE", "DELETE": "POST"}[method]
					case "OVERLOADED":
						rejected = append(rejected, took)
						if retryAfter < 1 {
							counts["without Retry-After"]++
						}
					}
					mu.Unlock()
					if code == "OVERLOADED" { // as the header demands
						sleep(ctx, time.Duration(retryAfter)*time.Second)
					}
				}
			})
		}
		busy := s.probe(t, viewer, duration)
		memory := s.AnonymousMemory(t)
		all.Wait()
		t.Logf("%v; bans: p99 %s; rejections: p50 %s, p99 %s; other reads: p99 %s idle, %s busy; %d MB of anonymous memory",
			counts, process.Percentile(answered, .99), process.Percentile(rejected, .5), process.Percentile(rejected, .99),
			process.Percentile(idle, .99), process.Percentile(busy, .99), memory>>20)
		if counts["OK"] == 0 || counts["OVERLOADED"] == 0 {
			t.Errorf("got %v, want bans and rejections", counts)
		}
		for code, n := range counts {
			if code != "OK" && code != "OVERLOADED" && code != "canceled" {
				t.Errorf("got %d × %s", n, code)
			}
		}
		if slowest := process.Percentile(answered, 1); slowest > maxWait+5*time.Second {
			t.Errorf("a ban took %s, with --max-wait=%s", slowest, maxWait)
		}
		if isSoak() {
			floor := s.probeUnderFloor(t, viewer, client, connections, float64(sum(counts))/duration.Seconds())
			t.Logf("other reads while as many connections make as many requests that do nothing: p99 %s", process.Percentile(floor, .99))
			wantAtMost(t, "p99 of the bans", process.Percentile(answered, .99), maxWait+maxWait/2)
			wantAtMost(t, "p99 of the rejections", process.Percentile(rejected, .99), time.Second)
			wantAtMost(t, "MiB of memory", memory>>20, 250)
		}
		s.wantConsistent(t)
	}, "--max-wait="+maxWait.String())
}

// probeUnderFloor returns the durations of other reads while connections make requests at a
// rate in all, which the server answers at once. The difference to the reads of an idle server
// is due to the requests themselves: on few processors, to the load generator too.
func (s *target) probeUnderFloor(t *testing.T, viewer servertest.Credentials, client *http.Client, connections int, perSecond float64) []time.Duration {
	const duration = 5 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	period := time.Duration(float64(connections) / perSecond * float64(time.Second))
	var all sync.WaitGroup
	for i := range connections {
		all.Go(func() {
			sleep(ctx, period*time.Duration(i)/time.Duration(connections))
			for next := time.Now(); ctx.Err() == nil; sleep(ctx, time.Until(next)) {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Admin+"/healthz", nil)
				if err == nil {
					_, _ = s.call(client, viewer, r)
				}
				next = next.Add(period)
			}
		})
	}
	took := s.probe(t, viewer, duration)
	all.Wait()
	return took
}

func sum(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

func wantAtMost[T time.Duration | int64](t *testing.T, what string, got, most T) {
	t.Helper()
	if got > most {
		t.Errorf("%s: got %v, want at most %v", what, got, most)
	}
}

// newClient returns a client that keeps many connections to one host.
func newClient(connections int) *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// ban bans or unbans a user in Owner's channel, and returns the code of the response.
func (s *target) ban(ctx context.Context, client *http.Client, c servertest.Credentials, method string, user uid.ID) (code string, retryAfter int) {
	body := `{"channelId":"` + servertest.Owner.String() + `","banUserId":"` + user.String() + `"}`
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.REST+"/v1/moderation/ban", strings.NewReader(body))
	if err != nil {
		return err.Error(), 0
	}
	code, header := s.call(client, c, r)
	retryAfter, _ = strconv.Atoi(header.Get("Retry-After"))
	return code, retryAfter
}

// call makes a request, and returns the code of the response: OK, the code of the error
// body, "canceled", or the error.
func (s *target) call(client *http.Client, c servertest.Credentials, r *http.Request) (code string, header http.Header) {
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("client-id", c.ClientID)
	if r.Method != http.MethodGet {
		r.Header.Set("content-type", "application/json")
	}
	response, err := client.Do(r)
	if r.Context().Err() != nil {
		return "canceled", nil
	}
	if err != nil {
		return err.Error(), nil
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	switch {
	case r.Context().Err() != nil:
		return "canceled", nil
	case err != nil:
		return err.Error(), nil
	case response.StatusCode == http.StatusOK:
		return "OK", response.Header
	}
	var body struct{ Data struct{ Code string } }
	_ = json.Unmarshal(text, &body)
	return body.Data.Code, response.Header
}
