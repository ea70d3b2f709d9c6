package webhooks

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
)

// ofThisHost are the loopback addresses of the table below.
var ofThisHost = []string{"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}

func TestOnlyPublicAddressesAreDialed(t *testing.T) {
	t.Parallel()
	for address, public := range map[string]bool{
		"93.184.215.14": true, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": true, "64:ff9b::5db8:d70e": true, "::ffff:93.184.215.14": true,
		"127.0.0.1": false, "127.9.9.9": false, "10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false,
		"169.254.169.254": false, "168.63.129.16": false, "100.64.0.1": false, "100.100.100.200": false, "0.0.0.0": false, "0.1.2.3": false,
		"192.0.0.192": false, "198.18.0.1": false, "224.0.0.1": false, "239.255.255.250": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false, "fec0::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false, "::127.0.0.1": false,
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::5db8:d70e": false, "2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false, "100::1": false,
	} {
		a := netip.MustParseAddr(address)
		if got := isPublic(a); got != public {
			t.Errorf("%s: public is %t, want %t", address, got, public)
		}
		for reach, want := range map[Reach]bool{Public: public, Loopback: public || slices.Contains(ofThisHost, address), Anywhere: true} {
			if err := reach.control("tcp", netip.AddrPortFrom(a, 443).String(), nil); errors.Is(err, errPrivate) == want {
				t.Errorf("%s: dialling with the reach %d gives %v", address, reach, err)
			}
		}
	}
	if Anywhere.control("unix", "/run/x.sock", nil) == nil {
		t.Error("a socket is dialled")
	}
}

func TestPlainHTTPRequiresLocalReceiver(t *testing.T) {
	t.Parallel()
	for host, want := range map[string][3]bool{
		"127.0.0.1": {false, true, true}, "::1": {false, true, true}, "localhost": {false, true, true},
		"localhost.example.com": {false, false, true}, "10.0.0.1": {false, false, true}, "93.184.215.14": {false, false, true},
	} {
		for _, reach := range []Reach{Public, Loopback, Anywhere} {
			if got := reach.allowsPlain(host); got != want[reach] {
				t.Errorf("%s with the reach %d: http is %t", host, reach, got)
			}
		}
	}
}

func TestRetryDelaysGrowFromSecondsToHours(t *testing.T) {
	t.Parallel()
	last, attempts := time.Duration(0), int32(1)
	for total := time.Duration(0); total < giveUpAfter; attempts++ {
		d := delay(attempts, 0)
		if attempts == 1 && (d < 4*time.Second || d > 6*time.Second) {
			t.Errorf("the first delay is %s", d)
		}
		if d <= last && last < 4*time.Hour {
			t.Errorf("delay %d is %s after %s", attempts, d, last)
		}
		if d > maxDelay*6/5 {
			t.Errorf("delay %d is %s", attempts, d)
		}
		last, total = d, total+d
	}
	if attempts < 15 || attempts > 30 {
		t.Errorf("%d attempts in three days", attempts)
	}
	if d := delay(1, time.Hour); d != time.Hour {
		t.Errorf("a receiver that asks for 1 h is tried again after %s", d)
	}
}

func TestRetryAfterAcceptsSecondsAndDate(t *testing.T) {
	t.Parallel()
	now := instant.Of(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	for text, want := range map[string]time.Duration{
		"": 0, "x": 0, "-5": 0, "120": 2 * time.Minute, "99999999999": maxDelay, "99999999999999999999": maxDelay, "-99999999999999999999": 0, "21600": maxDelay, "1.5": 0,
		"Fri, 20 Nov 2026 12:01:00 GMT": time.Minute, "Fri, 20 Nov 2026 11:00:00 GMT": 0,
		"Fri, 31 Dec 9999 23:59:59 GMT": maxDelay, "Mon, 01 Jan 0001 00:00:00 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
