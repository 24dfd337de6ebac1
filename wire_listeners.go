package main

import "ax/app"

// serveMetrics opens the listener of /metrics, if one is configured.
func (p *parts) serveMetrics() (closeIt func(), err error) {
	if p.cfg.Metrics.Addr == "" {
		return func() {}, nil
	}
	h, err := app.NewMetrics(app.MetricsOptions{Log: p.log, Version: version, Clock: p.clock.Now, Beats: p.cfg.pulse(), Reports: p.reports, Queues: p.queues()})
	if err != nil {
		return nil, err
	}
	l, err := app.ListenMetrics(p.cfg.Metrics.Addr, h, p.log)
	if err != nil {
		return nil, err
	}
	return func() { _ = l.Close() }, nil
}

// serveDebug opens the listener of profiles, if one is configured.
func (p *parts) serveDebug() (closeIt func(), err error) {
	if p.cfg.Debug.Addr == "" {
		return func() {}, nil
	}
	l, err := app.ListenDebug(p.cfg.Debug.Addr, p.log)
	if err != nil {
		return nil, err
	}
	p.log.Warn("profiles of this process are served, without a sign-in", "addr", l.Addr())
	return func() { _ = l.Close() }, nil
}
