package cron

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// EmbeddedZoneData is the release of the IANA time zone database that is built
// into the program: that of the Go release which it is built with. A test holds
// it, and the file, against the Go tree; `make gen` copies the file.
const EmbeddedZoneData = "2025c"

// zoneFile is lib/time/zoneinfo.zip of the Go tree. The package time would ask
// the files of the host first, and hosts of one installation must not differ
// about a slot.
//
//go:embed zoneinfo.zip
var zoneFile []byte

// Bounds of a file of zones: far above any release.
const (
	maxZoneFile = 16 << 20 // bytes
	maxZoneData = 64 << 10 // bytes of one zone
)

// ZoneData says where zones are read from.
type ZoneData struct {
	Version string `json:"version"` // such as 2025c; empty when the file doesn't tell
	Source  string `json:"source"`  // "embedded", or the path of a file
}

// Embedded tells whether it is the copy in the program.
func (z ZoneData) Embedded() bool { return z.Source == embedded }

const embedded = "embedded"

// ZoneDataInUse tells which zone data this process goes by.
func ZoneDataInUse() ZoneData { return zonesInUse().data }

// UseZoneData makes the process read zones from a zip of compiled zone files
// instead of the copy in the program; "" leaves that in use. It is for the
// start of the process, before the first zone is loaded: what was computed by
// then stays as it was.
func UseZoneData(path string) error {
	if path == "" {
		return nil
	}
	z, err := openZones(path)
	if err != nil {
		return fmt.Errorf("read zone data: %w", err)
	}
	zones.Lock()
	defer zones.Unlock()
	zones.set, zones.loaded = z, map[string]*time.Location{}
	return nil
}

// zones are those of this process: its zone data, and what is decoded of it.
// Only names of the data get into loaded, so it is bounded.
var zones struct {
	sync.RWMutex
	set    *zoneSet
	loaded map[string]*time.Location
}

// zonesInUse is the chosen set, or the embedded one.
func zonesInUse() *zoneSet {
	zones.RLock()
	z := zones.set
	zones.RUnlock()
	if z == nil {
		return embeddedZones()
	}
	return z
}

var embeddedZones = sync.OnceValue(func() *zoneSet {
	z, err := readZones(zoneFile)
	if err != nil {
		panic("the zone data in the program: " + err.Error()) // a test reads it
	}
	z.data = ZoneData{Version: EmbeddedZoneData, Source: embedded}
	return z
})

// zoneSet is one file of zones.
type zoneSet struct {
	data  ZoneData
	files map[string]*zip.File
}

func openZones(path string) (*zoneSet, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxZoneFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxZoneFile {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxZoneFile)
	}
	z, err := readZones(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range []string{"Asia/Shanghai", "America/New_York"} {
		if _, err := z.load(name); err != nil {
			return nil, fmt.Errorf("%s: zone %s: %w", path, name, err)
		}
	}
	z.data = ZoneData{Version: z.version(), Source: path}
	return z, nil
}

func readZones(raw []byte) (*zoneSet, error) {
	r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	z := &zoneSet{files: make(map[string]*zip.File, len(r.File))}
	for _, f := range r.File {
		z.files[f.Name] = f
	}
	return z, nil
}

var errNoZone = errors.New("it is not in the file")

func (z *zoneSet) load(name string) (*time.Location, error) {
	raw, err := z.read(name, maxZoneData)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, raw)
}

// read gives at most limit bytes of a file.
func (z *zoneSet) read(name string, limit int64) ([]byte, error) {
	f, ok := z.files[name]
	if !ok {
		return nil, errNoZone
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, limit))
}

// version reads the release from the files beside the zones; "" when none
// tells.
func (z *zoneSet) version() string {
	for _, name := range []string{"+VERSION", "tzdata.zi"} {
		head, err := z.read(name, 64)
		if err != nil {
			continue
		}
		line, _, _ := strings.Cut(string(head), "\n")
		if v := strings.TrimPrefix(strings.TrimSpace(line), "# version "); v != "" && len(v) <= 16 {
			return v
		}
	}
	return ""
}
