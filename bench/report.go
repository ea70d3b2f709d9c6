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
	Note   string
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

func short(d time.Duration) string {
	if d >= time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}

func (f figures) String() string {
	if f.P50 == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, %s, %s", number(f.PerSecond), short(f.P50), short(f.P99))
	if f.CPU > 0 {
		text += ", " + short(f.CPU)
	}
	return text
}

// String returns the row as a row of a Markdown table.
func (r row) String() string {
	figure, bound, verdict := r.columns()
	if r.Note != "" {
		r.What += " (" + r.Note + ")"
	}
	return fmt.Sprintf("| %s | %s | %s %d | %s | %s | %s | %s | %s |", r.What, r.Store, r.Transport, r.Connections, figure, bound, verdict, r.Moderato, r.Floor)
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

// printTable prints all rows, and writes them as JSON.
func (b *bench) printTable(ctx context.Context) error {
	machine, err := b.describe(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n\n| what | store | transport, connections | figure | bound | result | Moderato: a second, p50, p99, CPU time of each | floor |\n|---|---|---|---|---|---|---|---|\n", machine)
	for _, r := range b.rows {
		fmt.Println(r)
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
