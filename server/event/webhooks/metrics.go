package webhooks

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	attempts *prometheus.CounterVec
	live     *prometheus.CounterVec
	disabled *prometheus.CounterVec
	delay    prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) metrics {
	m := metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moderato_webhook_attempts_total", Help: "Attempts to deliver an event to a webhook, by outcome.",
		}, []string{"outcome"}),
		live: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moderato_webhook_live_events_total", Help: "Live events for webhooks, by outcome.",
		}, []string{"outcome"}),
		disabled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moderato_webhooks_disabled_total", Help: "Webhooks that were disabled, by reason.",
		}, []string{"reason"}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "moderato_webhook_delivery_delay_seconds", Help: "Time from an event's occurrence to the record of its delivery.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 5, 30, 300, 3600, 86400},
		}),
	}
	for counter, labels := range map[*prometheus.CounterVec][]string{
		m.attempts: {"delivered", "failed", "postponed"}, m.live: {"delivered", "failed", "lost"}, m.disabled: {failing, gone, rightLost, behind},
	} {
		for _, label := range labels {
			counter.WithLabelValues(label) // 0 until the first
		}
	}
	r.MustRegister(m.attempts, m.live, m.disabled, m.delay)
	return m
}
