package app

// AsideOptions say what a process serves apart from the console.
type AsideOptions struct {
	MetricsAddr string // of /metrics; empty: nowhere
	DebugAddr   string // of profiles; empty: nowhere
	Metrics     MetricsOptions
}

// ServeAside opens the listeners that are configured. closeAll takes no new
// requests; it is there even when there are none.
func ServeAside(o AsideOptions) (closeAll func(), err error) {
	var open []*SideListener
	closeAll = func() {
		for _, l := range open {
			_ = l.Close()
		}
	}
	if o.MetricsAddr != "" {
		h, err := NewMetrics(o.Metrics)
		if err != nil {
			return closeAll, err
		}
		l, err := ListenMetrics(o.MetricsAddr, h, o.Metrics.Log)
		if err != nil {
			return closeAll, err
		}
		open = append(open, l)
	}
	if o.DebugAddr != "" {
		l, err := ListenDebug(o.DebugAddr, o.Metrics.Log)
		if err != nil {
			closeAll()
			return closeAll, err
		}
		open = append(open, l)
		o.Metrics.Log.Warn("profiles of this process are served, without a sign-in", "addr", l.Addr())
	}
	return closeAll, nil
}
