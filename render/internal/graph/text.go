package graph

import "strings"

// width estimates how wide a text is drawn, in pixels, at a size of letters in
// pixels. It never takes a text for too narrow: the widths are those of DejaVu
// Sans, and of its bold face, which are among the widest that browsers use.
func width(text string, size float64, bold bool) float64 {
	table := &regular
	if bold {
		table = &boldface
	}
	sum := 0
	for _, r := range text {
		switch {
		case r >= ' ' && r <= '~':
			sum += int(table[r-' '])
		default:
			sum += 1000 // an ellipsis, or a letter that is no wider
		}
	}
	return float64(sum) * size / 1000
}

const ellipsis = "…"

// fit shortens a text to a width: at its beginning if its end tells more, else
// at its end.
func fit(text string, most, size float64, bold, keepEnd bool) string {
	if width(text, size, bold) <= most {
		return text
	}
	runes := []rune(text)
	for n := len(runes) - 1; n > 0; n-- {
		short := strings.TrimRight(string(runes[:n]), " ·-.,") + ellipsis
		if keepEnd {
			short = ellipsis + strings.TrimLeft(string(runes[len(runes)-n:]), " ·-.,")
		}
		if width(short, size, bold) <= most {
			return short
		}
	}
	return ""
}

// Widths of the letters from the space to the tilde, in thousandths of the size.
var (
	regular = [95]int16{
		318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
		636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
		1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
		603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
		500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
		635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
	}
	boldface = [95]int16{
		348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365,
		696, 696, 696, 696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580,
		1000, 774, 762, 734, 830, 683, 683, 821, 837, 372, 372, 775, 637, 995, 837, 850,
		733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457, 365, 457, 838, 500,
		500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687,
		716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
	}
)
