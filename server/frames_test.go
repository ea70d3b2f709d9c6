package server_test

import (
	"io"
	"net"
	"regexp"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// TestFloodOfFramesIsDelayed sends more control frames than a connection may, to both
// transports.
func TestFloodOfFramesIsDelayed(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	for transport, address := range map[string]string{"rest": s.HTTPAddr, "grpc": s.GRPCAddr} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		framer := http2.NewFramer(conn, nil)
		flood := func() {
			for range 1500 {
				if err := framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14}); err != nil {
					t.Fatalf("%s: %v", transport, err)
				}
			}
		}
		if _, err = io.WriteString(conn, http2.ClientPreface); err != nil {
			t.Fatalf("%s: %v", transport, err)
		}
		delayed := regexp.MustCompile(`moderato_http2_reads_delayed_total\{transport="` + transport + `"\} [1-9]`)
		for late := time.Now().Add(servertest.Slack); !delayed.MatchString(s.Metrics(t)); flood() {
			if time.Now().After(late) {
				t.Fatalf("%s: no read was delayed", transport)
			}
		}
	}
}

// TestConnectionsWithoutCallsAreDelayed opens and closes connections as fast as it can.
func TestConnectionsWithoutCallsAreDelayed(t *testing.T) {
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	delayed := regexp.MustCompile(`moderato_grpc_connections_delayed_total\{outcome="waited"\} [1-9]`)
	for late := time.Now().Add(servertest.Slack); !delayed.MatchString(s.Metrics(t)); {
		for range 50 {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.GRPCAddr)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
		}
		if time.Now().After(late) {
			t.Fatal("no connection was delayed")
		}
	}
}
