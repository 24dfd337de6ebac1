package cron

import (
	"io/fs"
	"path"
	"strings"
)

// EmbeddedZoneData is the release of the IANA time zone database that is built
// into the program: that of the Go release which it is built with. A test holds
// it against the Go tree.
const EmbeddedZoneData = "2025c"

// ZoneData says where zones are read from.
type ZoneData struct {
	Version string `json:"version"` // such as 2025c; empty when the files don't tell
	Source  string `json:"source"`  // "embedded", or the folder or file
}

// Embedded tells whether it is the copy in the program.
func (z ZoneData) Embedded() bool { return z.Source == embedded }

const embedded = "embedded"

// ZoneDataInUse tells which zone data a zone is read from first: what the
// variable ZONEINFO names, then the files of the system, then the copy in the
// program, as the package time does. root is the root of the file system.
func ZoneDataInUse(zoneinfo string, root fs.FS) ZoneData {
	if zoneinfo != "" {
		if _, err := fs.Stat(root, strings.TrimPrefix(zoneinfo, "/")); err == nil {
			return ZoneData{Version: zoneFilesVersion(root, zoneinfo), Source: zoneinfo}
		}
	}
	for _, dir := range []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"} {
		if _, err := fs.Stat(root, path.Join(dir, "Asia/Shanghai")[1:]); err == nil {
			return ZoneData{Version: zoneFilesVersion(root, dir), Source: dir}
		}
	}
	return ZoneData{Version: EmbeddedZoneData, Source: embedded}
}

// zoneFilesVersion reads the release from the files beside the zones; "" when
// none tells.
func zoneFilesVersion(root fs.FS, dir string) string {
	dir = strings.TrimPrefix(dir, "/")
	for _, name := range []string{"+VERSION", "tzdata.zi"} {
		f, err := root.Open(path.Join(dir, name))
		if err != nil {
			continue
		}
		var head [64]byte
		n, _ := f.Read(head[:]) //nolint:errcheck // a file that can't be read tells nothing
		_ = f.Close()
		line, _, _ := strings.Cut(string(head[:n]), "\n")
		if v := strings.TrimPrefix(strings.TrimSpace(line), "# version "); v != "" && len(v) <= 16 {
			return v
		}
	}
	return ""
}
