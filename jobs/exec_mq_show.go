package jobs

import (
	"maps"
	"slices"
	"strings"

	"ax/app/access"
	"ax/jobs/mq"
)

// showMessage is the message as it is stored: secrets masked, without the body.
func showMessage(b access.Broker, m mq.Message, token string) string {
	lines := []string{"PUBLISH " + placeText(m.Place), "broker: " + b.Name + " (" + string(b.Kind) + ")"}
	for _, f := range [][2]string{{"message-id", m.ID}, {"correlation-id", m.Correlation}, {"type", m.Type}, {"content-type", "application/json"}} {
		lines = append(lines, f[0]+": "+readable(f[1]))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		value := m.Headers[name]
		if name == "ax-signature" || token != "" && value == token {
			value = "***"
		}
		lines = append(lines, name+": "+readable(value))
	}
	return strings.Join(lines, "\n")
}

// placeText is where a message goes, in one line.
func placeText(p mq.Place) string {
	switch {
	case p.Stream != "":
		return readable(p.Stream)
	case p.Exchange == "":
		return access.DefaultExchange + " " + readable(p.Key)
	}
	return strings.TrimSpace(p.Exchange + " " + readable(p.Key))
}
