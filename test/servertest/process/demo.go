package process

import (
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/demo"
)

// DemoToken returns the token that a server with the demo printed for a role.
func (s *Server) DemoToken(t *testing.T, role string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(role) + ` +(\S+)`).FindStringSubmatch(s.Printed())
	if found == nil {
		t.Fatalf("the demo printed no token of the %s", role)
	}
	return found[1]
}

// WantDemoToken checks that the token that the demo printed for the owner is still valid.
func (s *Server) WantDemoToken(t *testing.T) {
	t.Helper()
	env := []string{"MODERATO_CLIENT=" + demo.People().Client, "MODERATO_TOKEN=" + s.DemoToken(t, "owner")}
	result := Run(t, env, "", "api", "GET", "/v1/tokens/self", "--server=http://"+s.REST)
	if result.Code != 0 || !strings.Contains(result.Out, demo.People().Owner.ID.String()) {
		t.Errorf("the owner's token of the demo is not valid any more: %s%s", result.Out, result.Err)
	}
}
