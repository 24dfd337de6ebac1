package views

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"ax/app/fault"
	"ax/views/ui"
)

// noSpelling is for names of machines: no red lines, no capitals on phones.
var noSpelling = templ.Attributes{"spellcheck": "false", "autocapitalize": "none"}

// languages are those of the pages, each in its own words.
var languages = []ui.Option{
	{Value: English, Label: "English", Lang: "en"},
	{Value: Chinese, Label: "中文", Lang: "zh-CN"},
}

// zoneOptions are the zones to choose from; the one chosen is among them.
func zoneOptions(p SetupPage) []ui.Option { return zonesWith(p.Zones, p.Values.Zone) }

func zonesWith(zones []string, chosen string) []ui.Option {
	var options []ui.Option
	known := false
	for _, z := range zones {
		options = append(options, ui.Option{Value: z, Label: z})
		known = known || z == chosen
	}
	if !known && chosen != "" {
		options = append([]ui.Option{{Value: chosen, Label: chosen}}, options...)
	}
	return options
}

// loginProblem is what stands at the password: every refusal in one text, so
// that it does not tell which part was wrong.
func loginProblem(ctx context.Context, errs []fault.FieldError) string {
	return joined(" ", problem(ctx, errs, "login"), problem(ctx, errs, "password"))
}

// joined leaves out what is empty.
func joined(by string, parts ...string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, by)
}
