package bench

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Size limits of a rendered terminal; what is written outside is dropped.
const (
	screenRows = 250
	screenCols = 500
)

// terminal is the part of a VT100 that full-screen programs use: cursor moves, erasing, saving the cursor.
type terminal struct {
	cells    [screenRows][]rune
	row, col int // from 0
	saved    [2]int
	painted  bool // something was written since the last frame
}

// renderScreens runs a recorded terminal session and calls frame with the screen each time the program begins a new
// repaint (the cursor returns to the first cell) and at the end; frame returns false to stop.
func renderScreens(b []byte, frame func(screen []string) bool) {
	t := &terminal{}
	for len(b) > 0 {
		if b[0] == 0x1b {
			n, home := t.escape(b)
			if home && t.painted {
				if !frame(t.text()) {
					return
				}
				t.painted = false
			}
			b = b[n:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		t.put(r)
		b = b[n:]
	}
	frame(t.text())
}

func (t *terminal) put(r rune) {
	switch {
	case r == '\r':
		t.col = 0
	case r == '\n':
		t.row = min(t.row+1, screenRows-1)
	case r == '\b':
		t.col = max(t.col-1, 0)
	case r < ' ' || r == utf8.RuneError:
	case t.row < screenRows && t.col < screenCols:
		line := t.cells[t.row]
		for len(line) <= t.col {
			line = append(line, ' ')
		}
		line[t.col] = r
		t.cells[t.row] = line
		t.col++
		t.painted = true
	}
}

// escape executes one control sequence at the start of b and returns its length; home tells that the cursor went to the
// first cell.
func (t *terminal) escape(b []byte) (n int, home bool) {
	if len(b) < 2 {
		return len(b), false
	}
	switch b[1] {
	case '7':
		t.saved = [2]int{t.row, t.col}
		return 2, false
	case '8':
		t.row, t.col = t.saved[0], t.saved[1]
		return 2, false
	case '[':
		return t.csi(b)
	}
	return 2, false
}

// csi executes a sequence that begins with ESC [.
func (t *terminal) csi(b []byte) (n int, home bool) {
	end := 2
	for end < len(b) && end < 64 && (b[end] < '@' || b[end] > '~') {
		end++
	}
	if end >= len(b) || end == 64 {
		return min(end, len(b)), false
	}
	args := csiArgs(string(b[2:end]))
	first := max(args[0], 1)
	switch b[end] {
	case 'H', 'f':
		t.row, t.col = min(first, screenRows)-1, min(max(args[1], 1), screenCols)-1
		return end + 1, t.row == 0 && t.col == 0
	case 'A':
		t.row = max(t.row-first, 0)
	case 'B':
		t.row = min(t.row+first, screenRows-1)
	case 'C':
		t.col = min(t.col+first, screenCols-1)
	case 'D':
		t.col = max(t.col-first, 0)
	case 'J':
		t.erase(args[0])
	case 'K':
		t.eraseLine()
	}
	return end + 1, false
}

func csiArgs(text string) (args [2]int) {
	for i, part := range strings.SplitN(text, ";", 3) {
		if i < 2 {
			v, _ := strconv.Atoi(part)
			args[i] = max(min(v, 10_000), 0)
		}
	}
	return args
}

// erase is ESC [ n J: 2 clears the screen, 0 what lies below the cursor.
func (t *terminal) erase(mode int) {
	from := t.row + 1
	if mode == 2 {
		from = 0
	} else {
		t.eraseLine()
	}
	for i := from; i < screenRows; i++ {
		t.cells[i] = nil
	}
}

func (t *terminal) eraseLine() {
	if t.col < len(t.cells[t.row]) {
		t.cells[t.row] = t.cells[t.row][:t.col]
	}
}

// text returns the screen without empty lines.
func (t *terminal) text() []string {
	var out []string
	for _, line := range t.cells {
		if s := strings.TrimRight(string(line), " "); s != "" {
			out = append(out, s)
		}
	}
	return out
}
