package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// row is a line of the report: what was measured, the figures of Moderato and of the floor, and
// the bound.
type row struct {
	What, Store, Transport string
	Connections            int
	Floor, Moderato        figures
	Ratio                  float64 // of the rates; 0 if there is no floor
	// Value is what the bound is for, if it has a Unit. Otherwise the bound is for the Ratio.
	Value  float64
	Unit   string
	Bound  float64
	AtMost bool // the bound is an upper bound
}

// columns returns the figure, the bound and whether it is met.
func (r row) columns() (figure, bound, verdict string) {
	value := r.Ratio
	if r.Unit != "" {
		value, figure = r.Value, number(r.Value)+" "+r.Unit
	}
	if r.Ratio > 0 {
		figure = strings.TrimPrefix(figure+", "+number(r.Ratio)+" × floor", ", ")
	}
	sign, isMet := "≥ ", value >= r.Bound
	if r.AtMost {
		sign, isMet = "≤ ", value <= r.Bound
	}
	verdict = "missed"
	if isMet {
		verdict = "met"
	}
	return figure, sign + number(r.Bound), verdict
}

// number formats a value with two decimals, from 10 on with one, from 100 on with
// none.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func short(d time.Duration) string {
	if d >= time.Millisecond {
		return fmt.Sprintf("%.1f ms", milliseconds(d))
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}

// String returns the rate and the response times.
func (f figures) String() string {
	if f.P50 == 0 {
		return ""
	}
	return fmt.Sprintf(" %s a second, p50 %s, p99 %s, CPU %s", number(f.PerSecond), short(f.P50), short(f.P99), short(f.CPU))
}

// String returns the row as a line of progress.
func (r row) String() string {
	figure, bound, verdict := r.columns()
	return fmt.Sprintf("%s, %s, %s %d: %s (%s, %s);%s; floor%s", r.What, r.Store, r.Transport, r.Connections, figure, bound, verdict, r.Moderato, r.Floor)
}

// storeNames are the columns of the table.
var storeNames = []string{storeLabel("sqlite"), storeLabel("mariadb")}

func storeLabel(store string) string {
	if store == "mariadb" {
		return "MariaDB"
	}
	return "SQLite"
}

// lines returns the rows of each line of the table: of the same measurement on each store.
func lines(rows []row) (all [][]row) {
	at := map[string]int{}
	for _, r := range rows {
		key := fmt.Sprint(r.What, r.Transport, r.Connections)
		if _, isKnown := at[key]; !isKnown {
			at[key] = len(all)
			all = append(all, nil)
		}
		all[at[key]] = append(all[at[key]], r)
	}
	return all
}

// cell returns what the table says about the row: the figure, in bold if it misses the bound,
// and the response times.
func (r row) cell() string {
	figure, _, verdict := r.columns()
	if verdict == "missed" {
		figure = "**" + figure + "**"
	}
	if r.Unit == "" && r.Moderato.P50 > 0 {
		figure += fmt.Sprintf("; %s/s, p99 %s", number(r.Moderato.PerSecond), short(r.Moderato.P99))
	}
	return figure
}

// report keeps a row and prints it. If err is not nil, report only returns err.
func (b *bench) report(r row, err error) error {
	if err != nil {
		return err
	}
	b.rows = append(b.rows, r)
	b.say("%s", r)
	return nil
}

// printTable prints the table of docs/performance.md.
func (b *bench) printTable(ctx context.Context) error {
	machine, err := b.describe(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n\n| what | connections | bound | %s |\n|---|---|---|%s\n", machine, strings.Join(storeNames, " | "), strings.Repeat("---|", len(storeNames)))
	for _, line := range lines(b.rows) {
		_, bound, _ := line[0].columns()
		cells := map[string]string{}
		for _, r := range line {
			cells[storeLabel(r.Store)] = r.cell()
		}
		fmt.Printf("| %s | %s %d | %s |", line[0].What, line[0].Transport, line[0].Connections, bound)
		for _, name := range storeNames {
			fmt.Printf(" %s |", cells[name])
		}
		fmt.Println()
	}
	return nil
}

// describe returns the machine, the versions and the settings of the run.
func (b *bench) describe(ctx context.Context) (string, error) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "", err
	}
	_, cpu, _ := strings.Cut(string(info), "model name")
	cpu, _, _ = strings.Cut(cpu, "\n")
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git: %w", err)
	}
	return fmt.Sprintf("%s, %d of its cores for everything: load, server and database; %s. Commit %s. %d rounds of %s each, in turns.",
		strings.Trim(cpu, "\t :"), runtime.NumCPU(), runtime.Version(), strings.TrimSpace(string(commit)), b.rounds, b.leg), nil
}
