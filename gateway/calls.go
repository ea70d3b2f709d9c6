package gateway

import "net/http"

// Calls returns a function that returns the call that a request becomes, as METHOD PATH with
// the names of the path's variables; an empty string for other requests.
func Calls() func(*http.Request) string {
	known, names := routes{}, map[string]string{}
	known.add(eventsPath, operation{method: http.MethodGet})
	names[eventsPath] = eventsPath
	for rpc := range rpcs {
		if method, path, err := route(rpc); err == nil {
			pattern := variable.ReplaceAllString(path, anySegment)
			known.add(pattern, operation{method: method})
			names[pattern] = path
		}
	}
	return func(r *http.Request) string {
		found, pattern := known.at(r.URL.Path)
		if found.by(r.Method) == nil {
			return ""
		}
		return r.Method + " " + names[pattern]
	}
}
