package testdb

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// dataPrefix begins the names of the directories with the servers' data.
const dataPrefix = "moderato-testdb."

// dataParent returns the directory for the data. Creating and dropping databases is much
// faster in memory.
func dataParent() string {
	if dir, ok := Memory(); ok {
		return dir
	}
	return os.TempDir()
}

// removeAbandoned removes the data of runs that were killed without a chance to remove
// it themselves.
func removeAbandoned(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), dataPrefix) && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(parent, e.Name()))
		}
	}
}

// removeData removes a directory of killed processes. Descendants of a killed process
// cannot be waited for, and may still complete a write: hence the repetition.
func removeData(dir string) {
	for range 20 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// lastLines returns the end of a log, indented to set it apart from other output.
func lastLines(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "    " + err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(lines) > 30 {
		lines = lines[len(lines)-30:]
	}
	return "    " + strings.Join(lines, "\n    ")
}
