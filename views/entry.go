package views

import (
	"strconv"

	"ax/views/ui"
)

// The sign-in picture: slots in rows, the mark of ax drawn by those that
// ran. It is computed, so that no picture file has to be kept.
const (
	artRows, artCols = 26, 30
	artStepX         = 23
	artStepY         = 35
)

// entryBars are the bars of the sign-in picture, on a ground of 690 by 900.
func entryBars() []ui.Bar {
	bars := make([]ui.Bar, 0, artRows*artCols)
	for row := range artRows {
		for col := range artCols {
			class, height := artSlot(row, col)
			x, base := 20+col*artStepX, 22+row*artStepY
			bars = append(bars, ui.Bar{Class: class, W: "10", X: strconv.Itoa(x),
				Y: strconv.Itoa(base - height), H: strconv.Itoa(height)})
		}
	}
	return bars
}

// artSlot says what a slot of the picture is: part of the rising stroke, of
// the falling one, or one of the quiet rest with a height that only looks
// random.
func artSlot(row, col int) (class string, height int) {
	up := col - (artCols - 2 - row)
	down := col - row - 2
	switch {
	case up >= -1 && up <= 1:
		return "f-ink", 24
	case down >= -1 && down <= 1 && (up < -4 || up > 4): // it never touches the other
		return "f-acc", 24
	}
	noise := uint32(row*92821+col*68917+7) * 2654435761
	return "f-art", 4 + int(noise>>20%13)
}
