package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// String returns the row as one line.
func (r row) String() string {
	where := strings.Join(strings.Fields(strings.Join([]string{r.Store, r.Transport}, " ")), " ")
	if r.Connections > 0 {
		where += fmt.Sprintf(" c%d", r.Connections)
	}
	text := fmt.Sprintf("%s [%s]: %s", r.What, where, r.value())
	if r.Target > 0 {
		text += fmt.Sprintf(" (target %s: %s)", r.target(), r.verdict())
	}
	if r.Moderato.PerSecond > 0 {
		text += fmt.Sprintf(" — %s; floor %s", r.Moderato, r.Floor)
	}
	if r.Note != "" {
		text += " — " + r.Note
	}
	return text
}

func (r row) value() string { return fmt.Sprintf("%s %s", number(r.Value), r.Unit) }

func (r row) target() string {
	if r.Target == 0 {
		return ""
	}
	sign := "≥"
	if r.AtMost {
		sign = "≤"
	}
	return strings.TrimSuffix(fmt.Sprintf("%s %s %s", sign, number(r.Target), r.unit()), " ")
}

// unit returns the unit of a target; empty for a ratio.
func (r row) unit() string {
	if strings.HasPrefix(r.Unit, "×") {
		return ""
	}
	return r.Unit
}

func (r row) verdict() string {
	switch {
	case r.Target == 0:
		return ""
	case r.isMet():
		return "met"
	}
	return "missed"
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

func (f figures) String() string {
	return fmt.Sprintf("%.0f/s p50 %s p99 %s cpu %s allocs %.0f mem %.0f MiB",
		f.PerSecond, short(f.P50), short(f.P99), short(f.CPU), f.Allocs, f.Memory)
}

func short(d time.Duration) string {
	if d >= time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}

// printTable prints every row with its target and whether it was met.
func (b *bench) printTable(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n\n", b.machine)
	b.writeTable(w)
	missed := 0
	for _, r := range b.rows {
		if r.verdict() == "missed" {
			missed++
		}
	}
	fmt.Fprintf(w, "\n%d rows, %d of them missed their target. %s\n", len(b.rows), missed, time.Since(b.start).Round(time.Second))
}

// writeTable writes the rows as a Markdown table.
func (b *bench) writeTable(w io.Writer) {
	fmt.Fprintln(w, "| what | store | transport, connections | figure | target | result | Moderato: req/s, p50, p99 | CPU, allocations a request, MiB | floor: req/s, p50, p99 | CPU, allocations a request, MiB |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range b.rows {
		transport := r.Transport
		if r.Connections > 0 {
			transport = strings.TrimSpace(fmt.Sprintf("%s %d", transport, r.Connections))
		}
		what := r.What
		if r.Note != "" {
			what += " (" + r.Note + ")"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", what, r.Store, transport, r.value(), r.target(), r.verdict(),
			r.Moderato.speed(), r.Moderato.cost(), r.Floor.speed(), r.Floor.cost())
	}
}

func (f figures) speed() string {
	if f.P50 == 0 {
		return ""
	}
	if f.PerSecond == 0 {
		return "p50 " + short(f.P50)
	}
	return fmt.Sprintf("%.0f, %s, %s", f.PerSecond, short(f.P50), short(f.P99))
}

func (f figures) cost() string {
	if f.CPU == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %.0f, %.0f", short(f.CPU), f.Allocs, f.Memory)
}
