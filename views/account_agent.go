package views

import (
	"context"
	"strings"
)

// sign is a word in a browser's name of itself, and what it stands for.
type sign struct{ mark, name string }

// browserSigns: browsers name those that they want to be taken for as well,
// so the order decides.
var browserSigns = []sign{
	{"MicroMessenger/", "WeChat"}, {"DingTalk/", "DingTalk"}, {"Lark/", "Feishu"},
	{"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"EdgiOS/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"},
	{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"HeadlessChrome/", "Chrome"}, {"Chrome/", "Chrome"},
	{"Safari/", "Safari"}, {"curl/", "curl"},
}

var systemSigns = []sign{
	{"OpenHarmony", "HarmonyOS"}, {"HarmonyOS", "HarmonyOS"}, {"Windows", "Windows"}, {"Android", "Android"},
	{"iPhone", "iOS"}, {"iPad", "iPadOS"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"},
}

// browserWords says which browser and system a User-Agent names. What it says
// is no proof: it is there so that a person knows the own devices again. The
// header itself is never shown.
func browserWords(ctx context.Context, agent string) string {
	browser, system := named(agent, browserSigns), named(agent, systemSigns)
	switch {
	case browser != "" && system != "":
		return t(ctx, "%s on %s", browser, system)
	case browser != "":
		return browser
	case system != "":
		return t(ctx, "A program on %s", system)
	}
	return t(ctx, "A program that says no name")
}

func named(agent string, signs []sign) string {
	for _, s := range signs {
		if strings.Contains(agent, s.mark) {
			return s.name
		}
	}
	return ""
}
