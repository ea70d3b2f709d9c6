package standings

import (
	"github.com/prometheus/client_golang/prometheus"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// metrics counts what the streams of this server do.
type metrics struct {
	streams   prometheus.Gauge
	snapshots prometheus.Histogram
	sent      prometheus.Histogram
	applied   prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) *metrics {
	delays := []float64{.005, .01, .02, .05, .1, .25, .5, 1, 5, 30}
	m := &metrics{
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moderato_standing_streams", Help: "Chat servers that follow standings on this server.",
		}),
		snapshots: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "moderato_standing_snapshot_duration_seconds", Help: "Time to send a snapshot of standings to a chat server.",
			Buckets: []float64{.01, .05, .1, .5, 1, 3, 10, 30, 120},
		}),
		sent: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "moderato_standing_send_delay_seconds", Help: "Time from a change of a standing until it was sent to a chat server, of the oldest change in a message.",
			Buckets: delays,
		}),
		applied: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "moderato_standing_apply_delay_seconds", Help: "Time from a change of a standing until a chat server had applied it, of the slowest change in an acknowledgement.",
			Buckets: delays,
		}),
	}
	r.MustRegister(m.streams, m.snapshots, m.sent, m.applied)
	return m
}

// observeChanges records how old the oldest change of a message is.
func (m *metrics) observeChanges(changes []*platformv1.StandingChange, present *state) {
	for _, c := range changes {
		if at := c.GetOccurredAt(); at != 0 {
			m.sent.Observe(float64(int64(present.present())-at) / 1000)
			return
		}
	}
}
