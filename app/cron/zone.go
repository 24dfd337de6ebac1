package cron

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"time"
)

// zoneNames is the third column of the IANA database's zone.tab, and UTC.
//
//go:embed zones.txt
var zoneNames string

// maxZone bounds a zone name in bytes; the longest of the database has 32.
const maxZone = 64

// Zones returns the IANA names for pick lists, in order: one for each region
// of each country, and UTC. LoadZone knows older names as well.
func Zones() []string { return strings.Fields(zoneNames) }

// LoadZone returns the zone of an IANA name, by the zone data of this process
// and never by that of the host. The error is always an *Error: nothing and
// Local are refused, and an unknown name is answered with near ones. A zone is
// decoded once per process: decoding costs more than planning a task.
func LoadZone(name string) (*time.Location, error) {
	zones.RLock()
	loc, ok := zones.loaded[name]
	zones.RUnlock()
	if ok {
		return loc, nil
	}
	loc, err := loadZone(name)
	if err != nil {
		return nil, err
	}
	zones.Lock()
	defer zones.Unlock()
	if zones.loaded == nil {
		zones.loaded = map[string]*time.Location{}
	}
	zones.loaded[name] = loc
	return loc, nil
}

func loadZone(name string) (*time.Location, error) {
	switch {
	case name == "":
		return nil, refuse("choose a zone, such as Asia/Shanghai or UTC")
	case strings.EqualFold(name, "local") || name == "localtime" || name == "posixrules":
		return nil, refuse("%q is the zone of whichever machine runs ax; choose a named zone, such as Asia/Shanghai or UTC", name)
	case name == "UTC":
		return time.UTC, nil
	case len(name) > maxZone:
		return nil, refuse("a zone name has at most %d characters, this one has %d", maxZone, len(name))
	}
	// posix/ and right/ are copies for other programs; right/ counts leap
	// seconds, which ax's instants don't have. Factory means "not set".
	odd := strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/") || name == "Factory"
	if loc, err := zonesInUse().load(name); err == nil && !odd {
		return loc, nil
	}
	return nil, unknownZone(name)
}

func unknownZone(name string) *Error {
	if offsetName.MatchString(name) {
		return refuse("%q is an offset, not a zone; choose a place that has it, such as Asia/Shanghai for UTC+8", name)
	}
	near := nearZones(name)
	if len(near) == 0 {
		return refuse("zone %q is not known; choose a name of the IANA database, such as Asia/Shanghai", name)
	}
	return refuse("zone %q is not known; near names: %s", name, strings.Join(near, ", "))
}

var offsetName = regexp.MustCompile(`^(?i)(UTC|GMT)?[+-]\d{1,2}(:?\d\d)?$`)

// bigCities have no zone of their own but are often asked for.
var bigCities = map[string]string{
	"beijing": "Asia/Shanghai", "peking": "Asia/Shanghai", "shenzhen": "Asia/Shanghai", "guangzhou": "Asia/Shanghai",
	"hangzhou": "Asia/Shanghai", "chengdu": "Asia/Shanghai", "china": "Asia/Shanghai", "cst": "Asia/Shanghai",
	"mumbai": "Asia/Kolkata", "delhi": "Asia/Kolkata", "bangalore": "Asia/Kolkata", "calcutta": "Asia/Kolkata", "osaka": "Asia/Tokyo",
	"san_francisco": "America/Los_Angeles", "seattle": "America/Los_Angeles", "pst": "America/Los_Angeles",
	"boston": "America/New_York", "washington": "America/New_York", "frankfurt": "Europe/Berlin",
	"munich": "Europe/Berlin", "hamburg": "Europe/Berlin", "geneva": "Europe/Zurich", "barcelona": "Europe/Madrid",
}

// nearZones returns up to three known names, the nearest first.
func nearZones(name string) []string {
	want := strings.ReplaceAll(strings.ToLower(name), " ", "_")
	city := want[strings.LastIndex(want, "/")+1:]
	if zone, ok := bigCities[city]; ok {
		return []string{zone}
	}
	type candidate struct {
		name string
		away int
	}
	var found []candidate
	for _, zone := range Zones() {
		if zone == name {
			continue // the zone data in use doesn't have it
		}
		known := strings.ToLower(zone)
		knownCity := known[strings.LastIndex(known, "/")+1:]
		away := min(distance(want, known), distance(city, knownCity))
		// A third of the letters may differ, else everything is near.
		if away <= max(1, len(city)/3) {
			found = append(found, candidate{zone, 64*away + distance(want, known)})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.away - b.away })
	var names []string
	for _, c := range found[:min(3, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// distance is the number of letters to change, add or drop (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
