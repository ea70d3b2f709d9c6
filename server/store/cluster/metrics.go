package cluster

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	primary   *prometheus.GaugeVec
	failovers prometheus.Counter
}

func newMetrics(hosts []string) *metrics {
	m := &metrics{
		primary: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "moderato_database_primary", Help: "1 for the member of the database cluster that this server uses as the primary.",
		}, []string{"host"}),
		failovers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_database_failovers_total", Help: "Changes from one primary of the database cluster to another.",
		}),
	}
	for _, host := range hosts {
		m.primary.WithLabelValues(host).Set(0)
	}
	return m
}

// Register registers the metrics of the Connector.
func (c *Connector) Register(r prometheus.Registerer) {
	r.MustRegister(c.metrics.primary, c.metrics.failovers)
}
