package chain

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts calls.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moderato_requests_total",
			Help: "Calls, by method, face (rest or grpc) and code (OK, or the reason of the error).",
		}, []string{"method", "face", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "moderato_request_duration_seconds",
			Help:    "How long calls took, by method and face.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "face"}),
	}
	r.MustRegister(m.requests, m.duration)
	return m
}

func (m *Metrics) observe(ctx context.Context, method, code string, elapsed time.Duration) {
	face := faceOf(ctx)
	m.requests.WithLabelValues(method, face, code).Inc()
	m.duration.WithLabelValues(method, face).Observe(elapsed.Seconds())
}

type faceKey struct{}

// FromREST marks the context of a call that comes from the REST facade.
func FromREST(ctx context.Context) context.Context {
	return context.WithValue(ctx, faceKey{}, "rest")
}

func faceOf(ctx context.Context) string {
	if face, ok := ctx.Value(faceKey{}).(string); ok {
		return face
	}
	return "grpc"
}
