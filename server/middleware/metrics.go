package middleware

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

// Metrics counts calls.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	// calls caches the metrics of calls by callKey, because looking them up by their
	// labels costs more than counting.
	calls sync.Map
}

type callKey struct{ method, transport, code string }

type callMetrics struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

// NewMetrics returns the metrics after registering them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moderato_requests_total",
			Help: "Calls, by method, transport (rest or grpc) and code (OK, or the reason of the error).",
		}, []string{"method", "transport", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "moderato_request_duration_seconds",
			Help:    "Duration of calls, by method and transport.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "transport"}),
	}
	for method := range authz.Methods() {
		name := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
		m.requests.WithLabelValues(name, "grpc", "OK") // 0 until the first
		if _, path := authz.HTTP(method); path != "" {
			m.requests.WithLabelValues(name, "rest", "OK")
		}
	}
	r.MustRegister(m.requests, m.duration)
	return m
}

// Observe records a request over REST that is no call of a service.
func (m *Metrics) Observe(path, code string, elapsed time.Duration) {
	m.observe(context.Background(), "rest", path, code, elapsed)
}

// observe records the call of a context, which may be traced.
func (m *Metrics) observe(ctx context.Context, transport, method, code string, elapsed time.Duration) {
	key := callKey{method, transport, code}
	found, ok := m.calls.Load(key)
	if !ok {
		found, _ = m.calls.LoadOrStore(key, callMetrics{
			m.requests.WithLabelValues(method, transport, code), m.duration.WithLabelValues(method, transport),
		})
	}
	of := found.(callMetrics)
	of.requests.Inc()
	tracing.Observe(ctx, of.duration, elapsed.Seconds())
}
