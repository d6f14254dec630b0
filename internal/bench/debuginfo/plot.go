package main

import (
	"fmt"
	"math"
	"strings"
)

// drawing plots, as SVG, how time and memory of the questions grow with the debug information; both axes are logarithmic.
func drawing(all []measured) string {
	const (
		width, height = 420, 300
		left, top     = 60, 40
	)
	colour := map[string]string{"dbg": "#1f77b4", "dbg index": "#17becf", "gdb": "#d62728", "lldb-19": "#2ca02c"}
	var names []string
	for _, m := range all {
		if strings.HasPrefix(m.name, "`break") && !contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n",
		len(names)*(width+left+20), 2*(height+top+40))
	for col, name := range names {
		for row, what := range []string{"seconds", "MB"} {
			x0, y0 := float64(col*(width+left+20)+left), float64(row*(height+top+40)+top)
			lo, hi := []float64{0.01, 10}[row], []float64{200, 10000}[row]
			x := func(size int64) float64 { return x0 + width*math.Log10(float64(size)/5e6)/math.Log10(2e9/5e6) }
			y := func(v float64) float64 { return y0 + height - height*math.Log10(max(v, lo)/lo)/math.Log10(hi/lo) }
			fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="13">%s: %s</text>`+"\n", x0, y0-10, strings.ReplaceAll(name, "`", ""), what)
			fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="%d" height="%d" fill="none" stroke="#888"/>`+"\n", x0, y0, width, height)
			for v := lo; v <= hi; v *= 10 {
				fmt.Fprintf(&b, `<line x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.0f" y="%.1f" text-anchor="end">%g</text>`+"\n", x0, x0+width, y(v), y(v), x0-4, y(v)+4, v)
			}
			for _, size := range []int64{10e6, 100e6, 1000e6} {
				fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%.0f" y2="%.0f" stroke="#ddd"/><text x="%.1f" y="%.0f" text-anchor="middle">%d MB</text>`+"\n", x(size), x(size), y0, y0+height, x(size), y0+height+14, size/1e6)
			}
			for i, d := range debuggers {
				var points []string
				for _, m := range all {
					c, ok := m.costs[d]
					if !ok || m.name != name || m.size < 5e6 {
						continue
					}
					v := c.wall.Seconds()
					if row == 1 {
						v = float64(c.rss) * 1024 / 1e6
					}
					points = append(points, fmt.Sprintf("%.1f,%.1f", x(m.size), y(v)))
				}
				if len(points) == 0 {
					continue
				}
				fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/><text x="%.0f" y="%.0f" fill="%s">%s</text>`+"\n",
					strings.Join(points, " "), colour[d], x0+8, y0+16+float64(i)*14, colour[d], d)
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}
