package gateway

import "net/http"

// Calls returns the requests that become calls of the services, as METHOD PATH.
func Calls() map[string]bool {
	calls := map[string]bool{http.MethodGet + " " + eventsPath: true, http.MethodHead + " " + eventsPath: true}
	for rpc := range rpcs {
		if method, path, err := route(rpc); err == nil {
			calls[method+" "+path] = true
			if method == http.MethodGet {
				calls[http.MethodHead+" "+path] = true
			}
		}
	}
	return calls
}
