package experiments_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
)

// operation is a change that a client requests.
type operation struct {
	// ID is also the id of the request, the idempotency key, and the id of a message.
	ID   string
	Kind kind
	// Channel and User are what the change is about. One client at a time changes them.
	Channel, User uid.ID
}

// outcome is what the client knows about an operation.
type outcome string

const (
	// unknown is the outcome of an operation that may or may not have happened.
	unknown outcome = "unknown"
	// done is the outcome of an acknowledged operation.
	done outcome = "done"
	// refused is the outcome of an operation that did not happen.
	refused outcome = "refused"
)

// entry is a line of the journal: an operation before it is sent, or its outcome.
type entry struct {
	Intent  *operation `json:",omitempty"`
	ID      string     `json:",omitempty"`
	Outcome outcome    `json:",omitempty"`
}

// journal is the file in which the clients record what they are about to do and what the
// response was. A line is on the disk before its client continues. Clients that write at the
// same time share an fsync.
type journal struct {
	t    *testing.T
	path string
	file *os.File

	mu      sync.Mutex
	pending bytes.Buffer
	synced  chan struct{} // closed when what is pending is on the disk
	wake    chan struct{}
	ended   chan struct{}
	closing sync.Once
}

func newJournal(t *testing.T) *journal {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{t: t, path: path, file: file, synced: make(chan struct{}), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go j.run()
	return j
}

// write returns when the entry is on the disk.
func (j *journal) write(e entry) {
	line, err := json.Marshal(e)
	if err != nil {
		j.t.Error(err)
	}
	j.mu.Lock()
	j.pending.Write(append(line, '\n'))
	synced := j.synced
	j.mu.Unlock()
	select {
	case j.wake <- struct{}{}:
	default:
	}
	<-synced
}

func (j *journal) run() {
	defer close(j.ended)
	for range j.wake {
		j.mu.Lock()
		lines, synced := bytes.Clone(j.pending.Bytes()), j.synced
		j.pending.Reset()
		j.synced = make(chan struct{})
		j.mu.Unlock()
		_, err := j.file.Write(lines)
		if err == nil {
			err = j.file.Sync()
		}
		if err != nil {
			j.t.Errorf("the journal: %v", err)
		}
		close(synced)
	}
}

// close ends the journal, to which nobody writes any more.
func (j *journal) close() {
	j.closing.Do(func() {
		close(j.wake)
		<-j.ended
		_ = j.file.Close()
	})
}

// recorded is an operation of the journal with its outcome.
type recorded struct {
	operation

	outcome outcome
}

// read returns the operations in the order of their intents. An operation without a recorded
// outcome is unknown.
func (j *journal) read() []*recorded {
	j.t.Helper()
	file, err := os.Open(j.path)
	if err != nil {
		j.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var all []*recorded
	byID := map[string]*recorded{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			j.t.Fatalf("the journal has %q: %v", lines.Bytes(), err)
		}
		if e.Intent != nil {
			r := &recorded{*e.Intent, unknown}
			all, byID[r.ID] = append(all, r), r
		} else {
			byID[e.ID].outcome = e.Outcome
		}
	}
	return all
}
