package process

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// asProbe is the environment variable that makes the test binary a probe: a separate
// process that sends small reads one after the other, so that the load generator's own
// delays are not measured.
const asProbe = "TEST_RUNS_AS_PROBE"

// probeInterval is the pause between two reads.
const probeInterval = 5 * time.Millisecond

// Probe holds the parameters of a probe.
type Probe struct {
	// URL is what the probe reads.
	URL string
	// Token and ClientID are the credentials of its reads.
	Token, ClientID string
	// Duration is how long the probe reads.
	Duration time.Duration
}

// Run runs the probe in a process of its own, and returns the duration of each read. The
// test fails if a read fails.
func (p Probe) Run(t *testing.T) []time.Duration {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := TestBinary(t, []string{asProbe + "=" + string(text)})
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

// runProbe reads until its time is over, and prints the duration of each read.
func runProbe() int {
	var p Probe
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

func (p *Probe) read() error {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, p.URL, http.NoBody)
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

// Percentile returns the duration below which the given share of durations lies. It sorts
// them.
func Percentile(durations []time.Duration, share float64) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	slices.Sort(durations)
	return durations[min(len(durations)-1, int(share*float64(len(durations))))]
}

// AnonymousMemory returns the memory of the process that no file backs, in bytes.
func (s *Server) AnonymousMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "RssAnon:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Skip("the system does not tell the anonymous memory of a process")
	return 0
}
