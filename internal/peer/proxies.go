package peer

import (
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

const (
	forwardedFor   = "X-Forwarded-For"
	forwardedProto = "X-Forwarded-Proto"
)

// Behind returns a handler for a server behind trusted proxies, which are given by their
// networks. Of a request that a trusted proxy passed on, next finds the client's address in
// RemoteAddr: the last one in X-Forwarded-For that is not of a trusted proxy. From anybody else,
// X-Forwarded-For and X-Forwarded-Proto are removed, because the client may have written them;
// the first such request is logged.
func Behind(trusted []netip.Prefix, log *slog.Logger, next http.Handler) http.Handler {
	isTrusted := func(ip netip.Addr) bool {
		return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(ip.Unmap()) })
	}
	var warned sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops, proto := r.Header.Values(forwardedFor), r.Header.Values(forwardedProto)
		if len(hops) == 0 && len(proto) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		believed := r.WithContext(r.Context()) // a copy
		if ip, ok := parse(r.RemoteAddr); ok && isTrusted(ip) {
			if from, ok := lastOutside(strings.Split(strings.Join(hops, ","), ","), isTrusted); ok {
				believed.RemoteAddr = from.WithZone("").String()
			}
		} else {
			warned.Do(func() {
				log.WarnContext(r.Context(), "ignored X-Forwarded-For and X-Forwarded-Proto: the address is not in --trusted-proxies", "address", r.RemoteAddr)
			})
			believed.Header = r.Header.Clone()
			believed.Header.Del(forwardedFor)
			believed.Header.Del(forwardedProto)
		}
		next.ServeHTTP(w, believed)
	})
}

// lastOutside returns the last address that is not of a trusted proxy. Those before it may have
// been written by the client.
func lastOutside(hops []string, isTrusted func(netip.Addr) bool) (netip.Addr, bool) {
	for _, hop := range slices.Backward(hops) {
		ip, ok := parse(strings.TrimSpace(hop))
		if !ok || !isTrusted(ip) {
			return ip, ok
		}
	}
	return netip.Addr{}, false
}
