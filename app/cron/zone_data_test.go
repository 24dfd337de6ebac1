package cron

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// goTree is a file of the folder from which the zones in the program come.
func goTree(t *testing.T, name string) []byte {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil && os.Getenv("AX_TEST_REQUIRE") == "" {
		t.Skip("the Go tree is not here")
	}
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", name))
	require.NoError(t, err)
	return raw
}

func TestTheZoneDataIsThatOfTheGoTree(t *testing.T) {
	found := regexp.MustCompile(`(?m)^DATA=(\S+)$`).FindSubmatch(goTree(t, "update.bash"))
	require.NotNil(t, found)
	require.Equal(t, string(found[1]), EmbeddedZoneData)
	require.True(t, bytes.Equal(goTree(t, "zoneinfo.zip"), zoneFile), "the Go release brought other zones: `make gen` copies them")
}

// zoneZip is a file of zones; America/New_York is always in it.
func zoneZip(t *testing.T, files map[string]string) string {
	t.Helper()
	newYork, err := embeddedZones().read("America/New_York", maxZoneData)
	require.NoError(t, err)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	files["America/New_York"] = string(newYork)
	for name, text := range files {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "zones.zip")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

// useZones lets the process go by a file for one test.
func useZones(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, UseZoneData(path))
	t.Cleanup(func() {
		zones.Lock()
		defer zones.Unlock()
		zones.set, zones.loaded = nil, nil
	})
}

// tokyo is what Tokyo's zone file says.
func tokyo(t *testing.T) string {
	t.Helper()
	raw, err := embeddedZones().read("Asia/Tokyo", maxZoneData)
	require.NoError(t, err)
	return string(raw)
}

// The variable of the package time, and the files of the host, say nothing.
func TestZonesAreReadFromTheProgramWhateverTheHostSays(t *testing.T) {
	t.Setenv("ZONEINFO", zoneZip(t, map[string]string{"Asia/Shanghai": tokyo(t)}))
	require.Equal(t, ZoneData{"2025c", "embedded"}, ZoneDataInUse())
	require.True(t, ZoneDataInUse().Embedded())
	shanghai, err := loadZone("Asia/Shanghai")
	require.NoError(t, err)
	_, offset := time.Date(2026, 12, 1, 0, 0, 0, 0, shanghai).Zone()
	require.Equal(t, 8*3600, offset)
}

func TestAnOperatorMayGiveOtherZoneData(t *testing.T) {
	before, err := LoadZone("Asia/Shanghai")
	require.NoError(t, err)
	path := zoneZip(t, map[string]string{"Asia/Shanghai": tokyo(t), "+VERSION": "2026a\n"})
	useZones(t, path)
	require.Equal(t, ZoneData{"2026a", path}, ZoneDataInUse())
	require.False(t, ZoneDataInUse().Embedded())
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	after, err := LoadZone("Asia/Shanghai")
	require.NoError(t, err)
	require.Equal(t, 8, at.In(before).Hour())
	require.Equal(t, 9, at.In(after).Hour(), "decoded anew")
	_, err = LoadZone("Europe/Berlin")
	require.EqualError(t, err, `zone "Europe/Berlin" is not known; choose a name of the IANA database, such as Asia/Shanghai`, "it is not in that file")
}

func TestAFileOfZonesTellsItsRelease(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"of the build":            {map[string]string{"+VERSION": "2026a\n"}, "2026a"},
		"of the text form":        {map[string]string{"tzdata.zi": "# version 2025b\n# more\n"}, "2025b"},
		"nowhere":                 {map[string]string{}, ""},
		"too long for a release":  {map[string]string{"+VERSION": strings.Repeat("x", 30)}, ""},
		"of a file with comments": {map[string]string{"+VERSION": "\n", "tzdata.zi": "# version 2024b-dirty\n"}, "2024b-dirty"},
	} {
		t.Run(name, func(t *testing.T) {
			c.files["Asia/Shanghai"] = tokyo(t)
			z, err := openZones(zoneZip(t, c.files))
			require.NoError(t, err)
			require.Equal(t, c.want, z.data.Version)
		})
	}
}

func TestAFileThatHoldsNoZonesIsRefused(t *testing.T) {
	text := filepath.Join(t.TempDir(), "zones.zip")
	require.NoError(t, os.WriteFile(text, []byte("no zip"), 0o600))
	large := filepath.Join(t.TempDir(), "large.zip")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, maxZoneFile+1))
	for path, want := range map[string]string{
		"/nowhere/zones.zip": "no such file",
		t.TempDir():          "is a directory",
		text:                 "zip: not a valid zip file",
		large:                "has more than 16777216 bytes",
		zoneZip(t, map[string]string{"zoneinfo/Asia/Shanghai": tokyo(t)}): "zone Asia/Shanghai: it is not in the file",
		zoneZip(t, map[string]string{"Asia/Shanghai": "no zone"}):         "zone Asia/Shanghai: malformed time zone information",
	} {
		require.ErrorContains(t, UseZoneData(path), want, path)
	}
	require.NoError(t, UseZoneData(""))
	require.True(t, ZoneDataInUse().Embedded(), "nothing of it was taken over")
}
