package telemetry

import (
	"net/url"
	"strings"
)

// Config is the section tracing of the configuration. It is off while Endpoint
// is empty.
type Config struct {
	Endpoint    string  `yaml:"endpoint"`     // of OTLP over HTTP, such as http://otel:4318
	SampleRatio float64 `yaml:"sample_ratio"` // of the instances, 0 to 1
}

// On tells whether spans are made at all.
func (c Config) On() bool { return c.Endpoint != "" }

// Check says what is wrong with each key.
func (c Config) Check(check func(key string, ok bool, format string, args ...any)) {
	u, err := url.Parse(c.Endpoint)
	check("tracing.endpoint", !c.On() || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "",
		"an address such as http://otel:4318, without user and query; this is %q", c.Endpoint)
	check("tracing.sample_ratio", c.SampleRatio >= 0 && c.SampleRatio <= 1, "between 0 and 1; this is %v", c.SampleRatio)
}

// spansPath is where a collector takes spans when the endpoint names no path.
const spansPath = "/v1/traces"

func (c Config) url() string {
	u, err := url.Parse(c.Endpoint)
	if err != nil || strings.Trim(u.Path, "/") != "" {
		return c.Endpoint
	}
	return u.JoinPath(spansPath).String()
}
