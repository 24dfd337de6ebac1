package cron

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// The zones in the program come from the Go tree, which names their release.
func TestTheReleaseOfTheZoneDataIsThatOfTheGoTree(t *testing.T) {
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil && os.Getenv("AX_TEST_REQUIRE") == "" {
		t.Skip("the Go tree is not here")
	}
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "update.bash"))
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^DATA=(\S+)$`).FindSubmatch(raw)
	require.NotNil(t, found)
	require.Equal(t, string(found[1]), EmbeddedZoneData)
}

func TestZoneDataIsReadFromWhereTheGoLibraryLooksFirst(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("x")}
	system := fstest.MapFS{"usr/share/zoneinfo/Asia/Shanghai": file, "usr/share/zoneinfo/tzdata.zi": {Data: []byte("# version 2025b\n# more\n")}}
	own := fstest.MapFS{"srv/zones/+VERSION": {Data: []byte("2026a\n")}, "usr/share/zoneinfo/Asia/Shanghai": file}
	for name, c := range map[string]struct {
		env  string
		root fstest.MapFS
		want ZoneData
	}{
		"a host without zone files": {"", fstest.MapFS{}, ZoneData{EmbeddedZoneData, "embedded"}},
		"the system's":              {"", system, ZoneData{"2025b", "/usr/share/zoneinfo"}},
		"ZONEINFO":                  {"/srv/zones", own, ZoneData{"2026a", "/srv/zones"}},
		"ZONEINFO that isn't there": {"/srv/other", own, ZoneData{"", "/usr/share/zoneinfo"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, ZoneDataInUse(c.env, c.root))
			require.Equal(t, name == "a host without zone files", c.want.Embedded())
		})
	}
}
