package tracing_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"google.golang.org/grpc/metadata"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/internal/tracing/tracingtest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
	canary       = "canarytext"

	banPath   = "/v1/moderation/ban"
	banMethod = "moderato.v1.ModerationService/BanUser"
	banSpan   = http.MethodPost + " " + banPath
)

func banBody() string {
	return `{"channelId":"` + servertest.Owner.String() + `","banUserId":"` + servertest.Raider.String() + `","reason":"` + canary + `"}`
}

// log is a log that tests can read.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start starts a server with the World that sends spans to a collector, and returns its log.
func start(t *testing.T, url store.URL, settings tracing.Settings) (*servertest.Server, *log) {
	t.Helper()
	kept := &log{}
	config := servertest.Config(url)
	config.Tracing, config.WebhookAllowPrivate = settings, true
	config.Log = slog.New(slog.NewTextHandler(kept, nil))
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	return s, kept
}

// TestBanIsOneTrace bans over REST with a trace context. The caller, the server, the database,
// the sequencer and the receiver of a webhook see one trace. Nothing secret is in it.
func TestBanIsOneTrace(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		collector := tracingtest.Start(t)
		s, log := start(t, url, collector.Settings(nil))
		owner := s.As(t, servertest.Owner)
		if _, err := s.Chat.PostMessage(s.AsService(t).Context(), &platformv1.PostMessageRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), Text: canary + " for evidence",
		}); err != nil {
			t.Fatal(err)
		}
		delivered, secret := webhook(t, s, owner)
		request := s.Request(t, owner, http.MethodPost, banPath, banBody())
		request.Header.Set("traceparent", "00-"+callersTrace+"-"+callersSpan+"-01")
		request.Header.Set("tracestate", "vendor=state")
		response := s.Do(t, request)
		if response.Status != http.StatusOK {
			t.Fatal(response)
		}

		traceparent := <-delivered
		attempt := collector.Wait(t, "deliver webhook")
		call := collector.Wait(t, banSpan)
		if got := hex.EncodeToString(call.GetTraceId()) + " " + hex.EncodeToString(call.GetParentSpanId()); got != callersTrace+" "+callersSpan {
			t.Errorf("the call's trace and parent are %s", got)
		}
		if call.GetTraceState() != "vendor=state" {
			t.Errorf("the tracestate is %q", call.GetTraceState())
		}
		wantAttributes(t, call, "http.request.method=POST http.route="+banPath+" http.response.status_code=200 moderato.code=OK moderato.request_id="+
			response.Header.Get("x-request-id"))
		wantBelow(t, collector.Wait(t, "publish event"), call)
		wantBelow(t, attempt, call)
		wantAttributes(t, attempt, "http.request.method=POST http.response.status_code=204")
		if want := "00-" + callersTrace + "-" + hex.EncodeToString(attempt.GetSpanId()) + "-01"; traceparent != want {
			t.Errorf("the receiver's traceparent is %s, want %s", traceparent, want)
		}
		wantStatements(t, collector.Spans(), call, "INSERT", "sql.tx.commit")
		wantReadOverGRPC(t, s, collector, owner)
		s.REST(t, owner, http.MethodGet, "/v1/events?ticket="+canary, "")
		s.REST(t, owner, http.MethodGet, "/v1/"+canary, "")
		s.REST(t, owner, http.MethodGet, "/v1/events/"+canary+"/subscriptions", "")
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "method=/"+banMethod) && !strings.Contains(line, "trace_id="+callersTrace) {
				t.Errorf("the log does not name the trace: %s", line)
			}
		}
		wantExemplars(t, s)
		s.Stop(t) // sends the last spans
		for _, body := range collector.Bodies() {
			for what, text := range map[string]string{"a token": owner.Token, "a text of users": canary, "a user's name": "raider", "a webhook's secret": secret} {
				if bytes.Contains(bytes.ToLower(body), []byte(strings.ToLower(text))) {
					t.Errorf("the spans contain %s", what)
				}
			}
		}
	})
}

// webhook creates a webhook for bans. It returns the headers traceparent of its deliveries,
// and its secret.
func webhook(t *testing.T, s *servertest.Server, owner servertest.Credentials) (delivered <-chan string, secret string) {
	t.Helper()
	headers := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		headers <- r.Header.Get("traceparent")
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	created := s.REST(t, owner, http.MethodPost, "/v1/webhooks",
		`{"url":"`+receiver.URL+`/canarypath","channelId":"`+servertest.Owner.String()+`","type":["channel.ban"]}`)
	_, rest, ok := strings.Cut(created.Body, `"secret":"`)
	secret, _, _ = strings.Cut(rest, `"`)
	if !ok || secret == "" {
		t.Fatalf("the webhook was not created: %+v", created)
	}
	return headers, secret
}

// wantReadOverGRPC checks that a call over gRPC continues the trace of its metadata, and that
// its statement is below it.
func wantReadOverGRPC(t *testing.T, s *servertest.Server, collector *tracingtest.Collector, owner servertest.Credentials) {
	t.Helper()
	const span = "b7ad6b7169203331"
	ctx := metadata.AppendToOutgoingContext(owner.Context(), "traceparent", "00-"+callersTrace+"-"+span+"-01")
	if _, err := s.Moderation.ListModerators(ctx, &moderatov1.ListModeratorsRequest{ChannelId: servertest.Owner.String()}); err != nil {
		t.Fatal(err)
	}
	call := collector.Wait(t, "moderato.v1.ModerationService/ListModerators")
	if hex.EncodeToString(call.GetTraceId()) != callersTrace || hex.EncodeToString(call.GetParentSpanId()) != span {
		t.Error("the call over gRPC is not below the caller's span")
	}
	wantAttributes(t, call, "rpc.system.name=grpc rpc.response.status_code=OK moderato.code=OK")
	wantStatements(t, collector.Spans(), call, "SELECT")
}

// wantStatements checks that spans are below a call. They are written from the top down.
func wantStatements(t *testing.T, spans []*tracev1.Span, call *tracev1.Span, want ...string) {
	t.Helper()
	byID := map[string]*tracev1.Span{}
	for _, s := range spans {
		byID[string(s.GetSpanId())] = s
	}
	found := map[string]bool{}
	for _, s := range spans {
		if string(s.GetTraceId()) != string(call.GetTraceId()) {
			continue
		}
		path := s.GetName()
		for up := byID[string(s.GetParentSpanId())]; up != nil; up = byID[string(up.GetParentSpanId())] {
			path = up.GetName() + " > " + path
		}
		found[path] = true
	}
	for _, path := range want {
		if !found[call.GetName()+" > "+path] {
			t.Errorf("there is no %s > %s among %v", call.GetName(), path, found)
		}
	}
}

func wantBelow(t *testing.T, s, parent *tracev1.Span) {
	t.Helper()
	if !bytes.Equal(s.GetTraceId(), parent.GetTraceId()) || !bytes.Equal(s.GetParentSpanId(), parent.GetSpanId()) {
		t.Errorf("%s is not below %s", s.GetName(), parent.GetName())
	}
}

// wantAttributes checks attributes of a span, which are written as KEY=VALUE.
func wantAttributes(t *testing.T, s *tracev1.Span, want string) {
	t.Helper()
	got := map[string]string{}
	for _, a := range s.GetAttributes() {
		got[a.GetKey()] = a.GetValue().GetStringValue()
		if number, ok := a.GetValue().GetValue().(*commonv1.AnyValue_IntValue); ok {
			got[a.GetKey()] = strconv.FormatInt(number.IntValue, 10)
		}
	}
	for pair := range strings.FieldsSeq(want) {
		key, value, _ := strings.Cut(pair, "=")
		if value != got[key] {
			t.Errorf("%s: %s is %q, want %q", s.GetName(), key, got[key], value)
		}
	}
}

// wantExemplars checks that the histograms of calls and events have exemplars, but only in the
// OpenMetrics format.
func wantExemplars(t *testing.T, s *servertest.Server) {
	t.Helper()
	metrics := func(accept string) string {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.AdminAddr+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", accept)
		return s.Do(t, request).Body
	}
	const exemplar = ` # {trace_id="` + callersTrace + `"}`
	if text := metrics("text/plain"); strings.Contains(text, "trace_id") || strings.Contains(text, "# EOF") {
		t.Error("the classic format has exemplars")
	}
	for _, name := range []string{"moderato_request_duration_seconds_bucket", "moderato_event_sequencing_delay_seconds_bucket", "moderato_webhook_delivery_delay_seconds_bucket"} {
		found := false
		for deadline := time.Now().Add(10 * time.Second); !found && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			for line := range strings.Lines(metrics("application/openmetrics-text; version=1.0.0")) {
				found = found || strings.HasPrefix(line, name) && strings.Contains(line, exemplar)
			}
		}
		if !found {
			t.Errorf("%s has no exemplar", name)
		}
	}
}

// TestUnsampledCallsLeaveNoTrace checks that what the sampler leaves out is neither sent nor
// stored, and that a server without propagators ignores the caller's trace context.
func TestUnsampledCallsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	collector := tracingtest.Start(t)
	for name, settings := range map[string]tracing.Settings{
		"of an unsampled caller": collector.Settings(nil),
		"by a sampler":           collector.Settings(sdktrace.NeverSample()),
	} {
		t.Run(name, func(t *testing.T) {
			s, log := start(t, storetest.SQLite(t), settings)
			owner := s.As(t, servertest.Owner)
			delivered, _ := webhook(t, s, owner)
			sent := len(collector.Spans())
			request := s.Request(t, owner, http.MethodPost, banPath, banBody())
			flags := "01"
			if settings.Sampler == nil {
				flags = "00"
			}
			request.Header.Set("traceparent", "00-"+callersTrace+"-"+callersSpan+"-"+flags)
			if response := s.Do(t, request); response.Status != http.StatusOK {
				t.Fatal(response)
			}
			if header := <-delivered; header != "" {
				t.Errorf("the receiver's traceparent is %s", header)
			}
			var kept int
			if err := store.QueryRow(t.Context(), s.Store.Read, "SELECT COUNT(traceparent) FROM events", nil, &kept); err != nil || kept > 0 {
				t.Errorf("%d events keep a span (%v)", kept, err)
			}
			s.Stop(t)
			for _, span := range collector.Spans()[sent:] {
				if hex.EncodeToString(span.GetTraceId()) == callersTrace {
					t.Errorf("%s was sent", span.GetName())
				}
			}
			if strings.Contains(log.String(), callersTrace) {
				t.Error("the log names a trace that was not sent")
			}
		})
	}
}

// TestWithoutPropagators checks that a server without propagators begins its own trace.
func TestWithoutPropagators(t *testing.T) {
	t.Parallel()
	collector := tracingtest.Start(t)
	settings := collector.Settings(nil)
	settings.Isolated = true
	s, _ := start(t, storetest.SQLite(t), settings)
	owner := s.As(t, servertest.Owner)
	delivered, _ := webhook(t, s, owner)
	request := s.Request(t, owner, http.MethodPost, banPath, banBody())
	request.Header.Set("traceparent", "00-"+callersTrace+"-"+callersSpan+"-01")
	if response := s.Do(t, request); response.Status != http.StatusOK {
		t.Fatal(response)
	}
	if header := <-delivered; header != "" {
		t.Errorf("the receiver's traceparent is %s", header)
	}
	call := collector.Wait(t, banSpan)
	if hex.EncodeToString(call.GetTraceId()) == callersTrace || len(call.GetParentSpanId()) > 0 {
		t.Error("the call is a part of the caller's trace")
	}
	wantBelow(t, collector.Wait(t, "deliver webhook"), call)
}

// TestCollectorThatHangsDelaysNothing checks that calls do not wait for the collector, that
// the queue is bounded, and that the server stops in time.
func TestCollectorThatHangsDelaysNothing(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(release) })
	s, _ := start(t, storetest.SQLite(t), tracing.Settings{
		On: true, Endpoint: hanging.URL, Flush: 50 * time.Millisecond,
		Batch: []sdktrace.BatchSpanProcessorOption{sdktrace.WithBatchTimeout(time.Millisecond), sdktrace.WithMaxQueueSize(10)},
	})
	owner := s.As(t, servertest.Owner)
	for range 20 {
		if response := s.REST(t, owner, http.MethodPost, banPath, banBody()); response.Status != http.StatusOK {
			t.Fatal(response)
		}
	}
	metrics := s.Metrics(t)
	if !strings.Contains(metrics, "\nmoderato_trace_spans_exported_total 0\n") || strings.Contains(metrics, "\nmoderato_trace_spans_total 0\n") {
		t.Error("the metrics do not show that spans are lost")
	}
	began := time.Now()
	s.Stop(t)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the server took %s to stop", took)
	}
}
