package frames_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/moderato-live/moderato/server/frames"
)

// from is a connection from an address.
type from struct {
	client
	net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.Addr }
func (f from) Close() error         { return nil }

// failing are credentials whose handshakes fail.
type failing struct {
	credentials.TransportCredentials
}

func (failing) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("no handshake")
}

func TestConnectionsThatEndWithoutResponseAreDelayed(t *testing.T) {
	plain := insecure.NewCredentials()
	attacker, other := net.IPv4(192, 0, 2, 1), net.IPv4(192, 0, 2, 2)
	settings := written(func(f *http2.Framer) { _ = f.WriteSettings() })
	response := written(func(f *http2.Framer) {
		_ = f.WriteSettings()
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true})
	})
	for _, c := range []struct {
		name          string
		credentials   credentials.TransportCredentials
		sent          []byte // by the server on each connection
		times         int    // connections that end before the one that is measured
		address       net.IP // of the one that is measured
		waits, closed bool
	}{
		{"few without a response", plain, settings, 50, attacker, false, false},
		{"many without a response", plain, settings, 201, attacker, true, false},
		{"another address", plain, settings, 201, other, false, false},
		{"many that have answered a call", plain, response, 201, attacker, false, false},
		{"failed handshakes", failing{plain}, nil, 201, attacker, true, false},
		{"so many that the wait is too long", plain, settings, 1000, attacker, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var waited time.Duration
			g := frames.NewGuard(func(d time.Duration) { waited = d })
			connect := func(address net.IP) (net.Conn, error) {
				conn, _, err := g.Credentials(c.credentials).ServerHandshake(from{Addr: &net.TCPAddr{IP: address, Port: 1}})
				return conn, err
			}
			var open []net.Conn
			for range c.times {
				conn, err := connect(attacker)
				if err != nil {
					continue
				}
				if _, err := conn.Write(c.sent); err != nil {
					t.Fatal(err)
				}
				open = append(open, conn)
			}
			for _, conn := range open {
				_, _ = conn.Close(), conn.Close() // the second time counts for nothing
			}
			waited = 0
			conn, err := connect(c.address)
			if isClosed := err != nil && c.credentials == plain; isClosed != c.closed || (waited > 0) != c.waits {
				t.Errorf("the next connection waits for %s (%v, %v), want a wait: %t, closed: %t", waited, conn, err, c.waits, c.closed)
			}
		})
	}
}
