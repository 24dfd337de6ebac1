package alert

import "time"

// Figures say how many incidents fire and how messages fare, of all teams.
type Figures struct {
	Firing  map[Level]int
	Waiting int       // messages that are not delivered yet
	Oldest  time.Time // when the oldest of them was made; zero: none waits
	Refused int       // messages given up within the hour
}
