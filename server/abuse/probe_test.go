package abuse_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/servertest/process"
)

// asProbe is the environment variable that makes the test binary a probe: a separate
// process that sends small reads one after the other, so that the load generator's own
// delays are not measured.
const asProbe = "TEST_RUNS_AS_PROBE"

// probeInterval is the pause between two reads.
const probeInterval = 5 * time.Millisecond

// probe holds the parameters of a probe.
type probe struct {
	URL, Token, ClientID string
	Duration             time.Duration
}

// runProbe reads until its time is over, and prints the duration of each read.
func runProbe() int {
	var p probe
	if err := json.Unmarshal([]byte(os.Getenv(asProbe)), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var took []time.Duration
	for end := time.Now().Add(p.Duration); time.Now().Before(end); time.Sleep(probeInterval) {
		start := time.Now()
		if err := p.read(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		took = append(took, time.Since(start))
	}
	_ = json.NewEncoder(os.Stdout).Encode(took)
	return 0
}

func (p *probe) read() error {
	r, err := http.NewRequest(http.MethodGet, p.URL, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+p.Token)
	r.Header.Set("client-id", p.ClientID)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return err
}

// probe runs a process that reads the caller's own channel, and returns the duration of
// each read.
func (s *target) probe(t *testing.T, c servertest.Credentials, duration time.Duration) []time.Duration {
	t.Helper()
	text, err := json.Marshal(probe{URL: "http://" + s.REST + "/v1/channels/stats", Token: c.Token, ClientID: c.ClientID, Duration: duration})
	if err != nil {
		t.Fatal(err)
	}
	cmd := process.TestBinary(t, []string{asProbe + "=" + string(text)})
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var took []time.Duration
	if err == nil {
		err = json.Unmarshal(out, &took)
	}
	if err != nil {
		t.Errorf("a read of somebody else failed: %v", err)
	}
	return took
}
