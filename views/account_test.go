package views

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABrowserIsNamedByWhatItSays(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36":                                                           "Chrome on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0":                                             "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15":                                                     "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1":                                    "Chrome on iOS",
		"Mozilla/5.0 (Linux; Android 16; Pixel 10) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36":                                                    "Chrome on Android",
		"Mozilla/5.0 (Linux; Android 16; V2301A) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/130.0 Mobile Safari/537.36 XWEB/1300 MicroMessenger/8.0.50 WeChat/arm64": "WeChat on Android",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                                                                    "Firefox on Linux",
		"curl/8.5.0":                       "curl",
		"Go-http-client/1.1 (Linux)":       "A program on Linux",
		"":                                 "A program that says no name",
		"<script>alert(1)</script> \u202e": "A program that says no name",
	} {
		require.Equal(t, want, browserWords(t.Context(), agent), agent)
	}
}
