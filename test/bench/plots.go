package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
)

// plot is a picture with a group of bars for each label.
type plot struct {
	file, title string
	series      []string
	groups      []group
	// mark is a value with a line, such as that of the floor; 0 for none.
	mark float64
	// text formats a value.
	text func(float64) string
}

// group is a label with one value for each series.
type group struct {
	label  string
	values []float64
}

const (
	barHeight  = 13
	labelWidth = 330
	barsWidth  = 560
	plotWidth  = labelWidth + barsWidth + 100
)

const plotStyle = `text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#1f2937}.t{font-size:15px;font-weight:600}.v{font-size:11px;fill:#4b5563}
.s0{fill:#6366f1}.s1{fill:#9ca3af}.m{stroke:#b91c1c;stroke-dasharray:4 3}
@media (prefers-color-scheme:dark){text{fill:#f3f4f6}.v{fill:#cbd5e1}.s0{fill:#a5b4fc}.s1{fill:#64748b}.m{stroke:#fca5a5}}`

// svg draws the plot.
func (p plot) svg() string {
	largest := p.mark
	for _, g := range p.groups {
		for _, v := range g.values {
			largest = max(largest, v)
		}
	}
	groupHeight := len(p.series)*barHeight + 9
	bottom := 62 + len(p.groups)*groupHeight
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title">`+"\n<title id=\"title\">%s</title>\n<style>%s</style>\n",
		plotWidth, bottom, html.EscapeString(p.title), plotStyle)
	fmt.Fprintf(&out, `<text class="t" x="8" y="20">%s</text>`+"\n", html.EscapeString(p.title))
	for i, name := range p.series {
		fmt.Fprintf(&out, `<rect class="s%d" x="%d" y="32" width="12" height="12"/><text x="%d" y="43">%s</text>`+"\n", i, labelWidth+i*140, labelWidth+i*140+18, html.EscapeString(name))
	}
	for i, g := range p.groups {
		top := 58 + i*groupHeight
		fmt.Fprintf(&out, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", labelWidth-10, top+groupHeight/2, html.EscapeString(g.label))
		for j, v := range g.values {
			width, y := v/largest*barsWidth, top+j*barHeight
			fmt.Fprintf(&out, `<rect class="s%d" x="%d" y="%d" width="%.1f" height="%d"/><text class="v" x="%.1f" y="%d">%s</text>`+"\n",
				j, labelWidth, y, width, barHeight-2, labelWidth+width+5, y+barHeight-3, html.EscapeString(p.text(v)))
		}
	}
	if p.mark > 0 {
		x := labelWidth + p.mark/largest*barsWidth
		fmt.Fprintf(&out, `<path class="m" d="M%.1f 52V%d"/>`+"\n", x, bottom-6)
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// shortened leaves out of the labels of response times what they have in common.
var shortened = strings.NewReplacer(" 32", "", ", SSE 1000", "", "chat: p99, ", "")

// plots returns the pictures of docs/performance.md.
func (b *bench) plots() []plot {
	reads := plot{file: "performance-reads.svg", title: "Reads: rate of Moderato as a multiple of the floor (dashed)", series: storeNames, mark: 1, text: number}
	bans := plot{file: "performance-bans.svg", title: "Bans and unbans a second", series: []string{"Moderato", "floor"}, text: number}
	latency := plot{file: "performance-latency.svg", title: "Response times of Moderato on two cores, in milliseconds", series: []string{"p50", "p99"}, text: number}
	for _, line := range lines(b.rows) {
		label := fmt.Sprintf("%s, %s %d", line[0].What, line[0].Transport, line[0].Connections)
		if line[0].Bound == readBound && line[0].Unit == "" {
			reads.groups = append(reads.groups, group{label, []float64{line[0].Ratio, line[len(line)-1].Ratio}})
		}
		for _, r := range line {
			if strings.HasPrefix(r.What, banWhat) {
				bans.groups = append(bans.groups, group{fmt.Sprintf("%s, %s, connections: %d", storeLabel(r.Store), strings.TrimPrefix(r.What, banWhat), r.Connections),
					[]float64{r.Moderato.PerSecond, r.Floor.PerSecond}})
			}
			if r.Connections == 32 && r.Moderato.P50 > 0 || strings.HasPrefix(r.What, "chat") {
				latency.groups = append(latency.groups, group{fmt.Sprintf("%s: %s", storeLabel(r.Store), shortened.Replace(label)),
					[]float64{milliseconds(r.Moderato.P50), milliseconds(r.Moderato.P99)}})
			}
		}
	}
	return []plot{reads, bans, latency}
}

// writePlots writes the pictures into a directory.
func (b *bench) writePlots(directory string) error {
	for _, p := range b.plots() {
		if err := os.WriteFile(filepath.Join(directory, p.file), []byte(p.svg()), 0o600); err != nil {
			return err
		}
	}
	return nil
}
