package storetest

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/moderato-live/moderato/server/store"
)

// StatementsVariable names a directory. In it, each test process writes a file with the
// statements that the program sent to database servers; tools/statements reads the files.
const StatementsVariable = "MODERATO_TEST_STATEMENTS"

// maxLooks bounds how often a text is looked at, and so how often it is written with
// arguments that are equal in other places. Most tests run few statements many times.
const maxLooks = 200

// observedStatement is a statement that the program sent, as a line of the file.
type observedStatement struct {
	// From is the package of the program that first sent the statement.
	From string `json:"from"`
	Text string `json:"text"`
	// Args has a number for each argument. Arguments that are equal have the same one.
	Args []int `json:"args,omitempty"`
}

func init() {
	if dir := os.Getenv(StatementsVariable); dir != "" {
		o := &observer{dir: dir, written: map[string]bool{}}
		store.ObserveServers(func(c driver.Connector) driver.Connector { return observed{layer{c, everyone{}}, o} })
	}
}

// observer writes each statement of the program once for each pattern of its arguments, of
// the first maxLooks times that it is sent.
type observer struct {
	dir string

	looks sync.Map // from a text to an *atomic.Int32

	mu      sync.Mutex
	file    *os.File
	written map[string]bool // by text and pattern
}

type observed struct {
	layer
	observer *observer
}

func (l observed) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.layer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &observedConn{conn.(*layeredConn), l.observer}, nil
}

type observedConn struct {
	*layeredConn
	observer *observer
}

func (c *observedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.observer.observe(query, args)
	return c.layeredConn.QueryContext(ctx, query, args)
}

func (c *observedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.observer.observe(query, args)
	return c.layeredConn.ExecContext(ctx, query, args)
}

func (o *observer) observe(query string, args []driver.NamedValue) {
	looks, ok := o.looks.Load(query)
	if !ok {
		looks, _ = o.looks.LoadOrStore(query, new(atomic.Int32))
	}
	if looks.(*atomic.Int32).Add(1) > maxLooks {
		return
	}
	s := observedStatement{Text: query, Args: pattern(args)}
	key := query + fmt.Sprint(s.Args)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.written[key] {
		return
	}
	if s.From = origin(); s.From == "" {
		return
	}
	o.written[key] = true
	if err := o.write(s); err != nil {
		panic(fmt.Sprintf("%s: %v", StatementsVariable, err))
	}
}

// pattern numbers the arguments by their values.
func pattern(args []driver.NamedValue) []int {
	numbers := map[any]int{}
	var p []int
	for _, a := range args {
		value := a.Value
		if b, ok := value.([]byte); ok {
			value = string(b)
		}
		if numbers[value] == 0 {
			numbers[value] = len(numbers) + 1
		}
		p = append(p, numbers[value])
	}
	return p
}

func (o *observer) write(s observedStatement) error {
	if o.file == nil {
		if err := os.MkdirAll(o.dir, 0o750); err != nil {
			return err
		}
		var err error
		if o.file, err = os.CreateTemp(o.dir, filepath.Base(os.Args[0])+".*.jsonl"); err != nil {
			return err
		}
	}
	return json.NewEncoder(o.file).Encode(s)
}

// module begins the names of the program's functions.
const module = "github.com/moderato-live/moderato/"

// origin returns the package of the program that sends a statement; empty if it is a test's,
// or a migration. It looks for the innermost caller outside of what every statement passes.
func origin() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(4, callers)])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		path, isOurs := strings.CutPrefix(frame.Function, module)
		switch {
		case strings.Contains(frame.Function, "pressly/goose"), strings.HasSuffix(frame.File, "_test.go"),
			strings.HasPrefix(path, "test/servertest"), strings.HasPrefix(path, "test/testdb"):
			return ""
		case isOurs && !strings.HasPrefix(path, "ent.") && !strings.HasPrefix(path, "ent/") && !isStore(path):
			slash := strings.LastIndex(path, "/")
			name, _, _ := strings.Cut(path[slash+1:], ".")
			return path[:slash+1] + name
		}
	}
	return "server/store" // in a goroutine of its own
}

// isStore reports whether a function belongs to what every statement passes through.
func isStore(function string) bool {
	for _, prefix := range []string{"server/store.", "server/store/cluster.", "server/store/prepared.", "test/storetest."} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}
