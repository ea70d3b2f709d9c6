package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// series is a figure of a program or a store, by a size such as the number of rows.
type series struct {
	Name   string
	Points []point
}

type point struct {
	X int
	Y float64
}

// duration is how long an operation takes, as a point of a plot.
func duration(x int, d time.Duration) point { return point{x, float64(d)} }

// plot is a plot of several series over the same axis.
type plot struct {
	File, Title, Axis string
	// Format formats a value of the y axis; nil for that of a duration.
	Format func(float64) string
	Series []series
}

// addPoint adds a point to the plot with the same file name, which it creates if
// needed.
func (b *bench) addPoint(p plot, name string, at point) {
	known := b.plots[p.File]
	if known == nil {
		known = &p
		b.plots[p.File] = known
	}
	for i := range known.Series {
		if known.Series[i].Name == name {
			known.Series[i].Points = append(known.Series[i].Points, at)
			return
		}
	}
	known.Series = append(known.Series, series{name, []point{at}})
}

// The dimensions of a plot.
const (
	plotWidth, plotHeight = 640, 360
	plotLeft, plotBottom  = 70, 50
	plotRight             = 30
	plotLine              = 16 // of the legend
)

var plotColors = []string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"}

// svg returns the plot as SVG. The x axis is logarithmic; the y axis starts at 0.
func (p *plot) svg() string {
	above := 40 + plotLine*float64(len(p.Series)-1) // the title and the legend
	most, first, last := 0.0, math.MaxInt, 1
	for _, s := range p.Series {
		slices.SortFunc(s.Points, func(a, b point) int { return a.X - b.X })
		for _, at := range s.Points {
			most, first, last = max(most, at.Y), min(first, at.X), max(last, at.X)
		}
	}
	x := func(n int) float64 {
		span := math.Log10(float64(last)) - math.Log10(float64(first))
		return plotLeft + (plotWidth-plotLeft-plotRight)*(math.Log10(float64(n))-math.Log10(float64(first)))/max(span, 1e-9)
	}
	top := most * 1.05
	y := func(value float64) float64 {
		return plotHeight - plotBottom - (plotHeight-plotBottom-above)*value/top
	}
	format := p.Format
	if format == nil {
		format = func(value float64) string { return short(time.Duration(value)) }
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`, plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><text x="%d" y="22" font-size="14">%s</text>`, plotLeft, p.Title)
	for i := range 5 {
		value := top * float64(i) / 4
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`,
			plotLeft, y(value), plotWidth-plotRight, plotLeft-6, y(value)+4, format(value))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`, (plotLeft+plotWidth)/2, plotHeight-8, p.Axis)
	for i, s := range p.Series {
		var path []string
		for _, at := range s.Points {
			path = append(path, fmt.Sprintf("%.1f %.1f", x(at.X), y(at.Y)))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, x(at.X), y(at.Y), plotColors[i%len(plotColors)])
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, x(at.X), plotHeight-plotBottom+18, thousands(at.X))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s"/>`, strings.Join(path, " "), plotColors[i%len(plotColors)])
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s" text-anchor="end">%s</text>`, plotWidth-plotRight, 22+plotLine*i, plotColors[i%len(plotColors)], s.Name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// writePlots writes the plots into a directory.
func (b *bench) writePlots(dir string) error {
	for _, p := range b.plots {
		if err := os.WriteFile(filepath.Join(dir, p.File), []byte(p.svg()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
