package server

import (
	"context"
	"errors"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/moderato-live/moderato/server/store"
)

// ready returns an error if the server cannot handle requests: it was told to stop, or
// the database is unreachable.
func (s *Server) ready(ctx context.Context) error {
	if s.stopping.Load() {
		return errors.New("draining")
	}
	if err := s.Store.Ping(ctx); err != nil {
		if !errors.Is(err, context.Canceled) {
			s.outages.Failed(ctx, err)
		}
		if errors.Is(err, store.ErrNoPrimary) {
			return errors.New("the database cluster has no primary")
		}
		return errors.New("the database does not answer")
	}
	s.outages.Works(ctx)
	return nil
}

// reportHealth updates gRPC's health service with the result of ready.
func (s *Server) reportHealth(ctx context.Context) error {
	status := healthv1.HealthCheckResponse_SERVING
	probe, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if s.ready(probe) != nil {
		status = healthv1.HealthCheckResponse_NOT_SERVING
	}
	s.health.SetServingStatus("", status)
	for service := range s.grpc.GetServiceInfo() {
		s.health.SetServingStatus(service, status)
	}
	if len(s.config.DemoUsers) > 0 {
		s.health.SetServingStatus(DemoHealthService, status)
	}
	return nil
}
