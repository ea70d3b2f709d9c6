package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/servertest"
)

func TestUnknownPathIsNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	query := "?channelId=" + servertest.Owner.String()
	for _, c := range []struct{ name, target string }{
		{"root", "/"},
		{"version only", "/v1"},
		{"version and slash", "/v1/"},
		{"another version", "/v2/moderation/moderators" + query},
		{"no version", "/moderation/moderators" + query},
		{"a prefix of a path", "/v1/moderation"},
		{"a trailing slash", "/v1/moderation/moderators/" + query},
		{"more after it", "/v1/moderation/moderators/x" + query},
		{"two slashes in front", "//v1/moderation/moderators" + query},
		{"two slashes within", "/v1//moderation/moderators" + query},
		{"two slashes within, later", "/v1/moderation//moderators" + query},
		{"a dot", "/v1/./moderation/moderators" + query},
		{"two dots", "/v1/x/../moderation/moderators" + query},
		{"an encoded slash", "/v1%2Fmoderation%2Fmoderators" + query},
		{"one encoded slash", "/v1/moderation%2fmoderators" + query},
		{"an encoded question mark", "/v1/moderation/moderators%3FchannelId=x"},
		{"a hidden variable", "/v1/emotes/channels/.x"},
		{"an empty variable", "/v1/emotes/channels/"},
		{"a hidden page", "/.well-known/../v1/moderation/moderators" + query},
		{"capitals", "/V1/Moderation/Moderators" + query},
		{"one capital", "/v1/moderation/Moderators" + query},
		{"a verb", "/v1/moderation/moderators:list" + query},
		{"the name of the gRPC method", "/moderato.v1.ModerationService/ListModerators"},
		{"an operators' path", "/metrics"},
		{"an operators' health", "/healthz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, method := range []string{"GET", "POST", "OPTIONS"} {
				// Sent as raw bytes, because clients normalize paths.
				r := exchange(t, s, head(s, owner, method, c.target)+"Connection: close\r\n\r\n")
				wantRefused(t, r, http.StatusNotFound, "PATH_NOT_FOUND")
				if got := r.Header.Values("Location"); got != nil {
					t.Errorf("%s is sent on to %q", method, got)
				}
			}
		})
	}
}

// TestSimilarPathIsNotFound requests paths that differ slightly from the path of each
// operation.
func TestSimilarPathIsNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	near := map[string]bool{}
	for _, o := range allOperations {
		service, method := cutLast(o.rpc, ".")
		parent, last := cutLast(o.path, "/")
		for _, target := range []string{
			o.path + "/", o.path + "/x", o.path + ":x", "/" + o.path, parent + "//" + last, parent + "/./" + last, parent + "%2F" + last,
			strings.TrimPrefix(o.path, "/v1"), strings.Replace(o.path, "/v1", "/v2", 1), strings.ToUpper(o.path), o.path + "%20",
			parent, o.path[:len(o.path)-1], "/" + service + "/" + method,
		} {
			// One path is a prefix of others, and a variable at the end is any text.
			isOther := strings.HasPrefix(target, emotesPath) && strings.Count(target, "/") == strings.Count(emotesPath, "/")
			near[target] = pathMethods[target] == nil && target != "/v1/events" && !isOther
		}
	}
	for target, unknown := range near {
		if !unknown {
			continue
		}
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS"} {
			t.Run(method+target, func(t *testing.T) {
				r := exchange(t, s, head(s, owner, method, target)+"Connection: close\r\n\r\n")
				wantRefused(t, r, http.StatusNotFound, "PATH_NOT_FOUND")
			})
		}
	}
}

// cutLast cuts text around the last separator.
func cutLast(text, separator string) (before, after string) {
	at := strings.LastIndex(text, separator)
	return text[:at], text[at+len(separator):]
}

func TestWrongMethodIsNotAllowed(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get"}
	for path, allowed := range pathMethods {
		for _, method := range methods {
			if slices.Contains(allowed, method) || (method == "HEAD" && slices.Contains(allowed, "GET")) {
				continue
			}
			t.Run(method+path, func(t *testing.T) {
				r := exchange(t, s, head(s, owner, method, path)+"Connection: close\r\n\r\n")
				wantAllow(t, r, allowed)
				if method != "HEAD" {
					wantRefused(t, r, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
					if want := "It takes " + r.Header.Get("Allow") + `."`; !strings.Contains(r.Body, want) {
						t.Errorf("the error is %s, and does not say %s", r.Body, want)
					}
				} else if r.Status != http.StatusMethodNotAllowed || r.Body != "" {
					t.Errorf("HEAD: got %d and the body %q, want 405 and none", r.Status, r.Body)
				}
			})
		}
	}
}

func wantAllow(t *testing.T, r servertest.Response, allowed []string) {
	t.Helper()
	if slices.Contains(allowed, "GET") {
		allowed = append(slices.Clone(allowed), "HEAD")
	}
	got := strings.Split(r.Header.Get("Allow"), ", ")
	want := append(slices.Clone(allowed), "OPTIONS")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("Allow: got %q, want %q", got, want)
	}
}

func TestOptionsListsAllowedMethods(t *testing.T) {
	t.Parallel()
	s := start(t)
	for path, allowed := range pathMethods {
		t.Run(path, func(t *testing.T) {
			// The request has no token: browsers and tools send it before they have one.
			r := s.REST(t, servertest.Credentials{}, "OPTIONS", path, "")
			if r.Status != http.StatusNoContent || r.Body != "" {
				t.Errorf("got %d with the body %q, want 204 without", r.Status, r.Body)
			}
			wantAllow(t, r, allowed)
			if r.Header.Get("X-Request-Id") == "" {
				t.Error("X-Request-Id: got none")
			}
		})
	}
}

func TestMethodOverrideIsIgnored(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	t.Run("by a header, from POST to DELETE", func(t *testing.T) {
		for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} {
			r := s.Request(t, owner, "POST", moderatorsPath, roleArgs(servertest.Moderator))
			r.Header.Set(name, "DELETE")
			wantOK(t, s.Do(t, r))
		}
		if r := s.REST(t, owner, "GET", listModerators(), ""); !strings.Contains(r.Body, servertest.Moderator.String()) {
			t.Errorf("the moderator is gone: %s", r.Body)
		}
	})
	t.Run("by a header, from GET to POST", func(t *testing.T) {
		r := s.Request(t, owner, "GET", mutePath, args("channelId", servertest.Owner.String(), "mutedUserId", servertest.Raider.String()))
		r.Header.Set("X-HTTP-Method-Override", "POST")
		wantRefused(t, s.Do(t, r), http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	})
	t.Run("by a header on a form, from POST to GET", func(t *testing.T) {
		r := s.Request(t, owner, "POST", channelsPath, "userId="+servertest.Owner.String())
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-HTTP-Method-Override", "GET")
		wantRefused(t, s.Do(t, r), http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	})
	t.Run("by a header on an empty form, from POST to GET", func(t *testing.T) {
		r := s.Request(t, owner, "POST", listModerators(), "")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-HTTP-Method-Override", "GET")
		wantViolations(t, s.Do(t, r), "") // a POST without a body
	})
	t.Run("by a field of a form or query", func(t *testing.T) {
		r := s.Request(t, owner, "POST", moderatorsPath+"?_method=DELETE", "_method=DELETE")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		wantRefused(t, s.Do(t, r), http.StatusUnsupportedMediaType, "MEDIA_TYPE_UNSUPPORTED")
	})
}

// By default, the gateway runtime treats such a POST as a GET with a long query.
func TestFormPostToReadPathIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	form := func(path, body string) servertest.Response {
		r := s.Request(t, owner, "POST", path, body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return s.Do(t, r)
	}
	wantRefused(t, form(channelsPath, "userId="+servertest.Owner.String()), http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	wantRefused(t, form(moderatorsPath, "channelId="+servertest.Owner.String()), http.StatusUnsupportedMediaType, "MEDIA_TYPE_UNSUPPORTED")
}
