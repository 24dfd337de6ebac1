package views

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/text/language"

	"ax/app/fault"
)

// The languages ax speaks, as BCP 47 tags.
const (
	English = "en"
	Chinese = "zh-CN"
)

//go:embed locales/*.json
var localeFiles embed.FS

// The catalogues are read once at start and never changed after.
var (
	chinese = mustRead[string]("locales/zh-CN.json")
	plurals = mustRead[plural]("locales/en.json")
	speaks  = language.NewMatcher([]language.Tag{language.English, language.SimplifiedChinese})
)

// plural is the two English forms of a text with a count.
type plural struct {
	One   string `json:"one"`
	Other string `json:"other"`
}

func mustRead[V any](name string) map[string]V {
	raw, err := localeFiles.ReadFile(name)
	if err != nil {
		panic("views: " + err.Error())
	}
	var m map[string]V
	if err := json.Unmarshal(raw, &m); err != nil {
		panic("views: " + name + ": " + err.Error())
	}
	return m
}

// PickLang chooses the language of a page: what the person has set, else the
// cookie, else the browser's Accept-Language, else English.
func PickLang(setting, cookie, acceptLanguage string) string {
	_, i := language.MatchStrings(speaks, setting, cookie, acceptLanguage)
	if i == 1 {
		return Chinese
	}
	return English
}

// Translate gives an English format in the language, with its arguments. A
// format that the catalogue doesn't know stays English. What follows a "|" is
// a context for translators ("Open|status") and is never shown. An argument
// that is a fault.Text is translated too.
func Translate(lang, format string, args ...any) string {
	if lang == Chinese {
		if zh, ok := chinese[format]; ok {
			return fill(lang, zh, args)
		}
	}
	return fill(lang, withoutContext(format), args)
}

// TranslateText is Translate for a text made by a rule.
func TranslateText(lang string, text fault.Text) string {
	return Translate(lang, text.Format, text.Args...)
}

// TranslateCount is Translate for a text about n things: English has a form
// for one of them. %d shows n with thousands separators.
func TranslateCount(lang, format string, n int64, args ...any) string {
	all := append([]any{grouped(n)}, args...)
	if lang == Chinese {
		return Translate(lang, format, all...)
	}
	forms, ok := plurals[format]
	if ok && n == 1 {
		if !strings.Contains(forms.One, "%d") && !strings.Contains(forms.One, "%[") { // "once"
			all = args
		}
		return fill(lang, forms.One, all)
	}
	return fill(lang, cmp.Or(forms.Other, withoutContext(format)), all)
}

func withoutContext(key string) string {
	text, _, _ := strings.Cut(key, "|")
	return text
}

func fill(lang, pattern string, args []any) string {
	if len(args) == 0 {
		return pattern
	}
	own := make([]any, len(args))
	for i, a := range args {
		if text, ok := a.(fault.Text); ok {
			a = TranslateText(lang, text)
		}
		own[i] = a
	}
	return fmt.Sprintf(pattern, own...)
}

// grouped prints with thousands separators whatever the verb.
type grouped int64

// Format makes grouped a fmt.Formatter.
func (g grouped) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(number(int64(g)))) // fmt.State never fails
}

// t translates for the viewer of the page. The format must be a literal: a
// test reads them from the source and compares them with the catalogue.
func t(ctx context.Context, format string, args ...any) string {
	return Translate(viewer(ctx).Lang, format, args...)
}

// tn translates a text about n things, such as "%d tasks".
func tn[N int | int64](ctx context.Context, format string, n N, args ...any) string {
	return TranslateCount(viewer(ctx).Lang, format, int64(n), args...)
}

// text translates what a rule has said.
func text(ctx context.Context, said fault.Text) string {
	return TranslateText(viewer(ctx).Lang, said)
}

// msg marks a literal in a table as one that is translated when it is shown.
func msg(format string) string { return format }

// problem gives the translated errors of the field, or "".
func problem(ctx context.Context, errs []fault.FieldError, field string) string {
	var said []string
	for _, e := range errs {
		if e.Name == field {
			said = append(said, text(ctx, e.Text))
		}
	}
	return strings.Join(said, " · ")
}
