package sched

import "slices"

// policy checks a written policy and fills in the defaults.
func (p *problems) policy(w PolicySpec, kind ScheduleKind, d Defaults) Policy {
	out := Policy{
		TimeoutSeconds: d.TimeoutSeconds, Overlap: OverlapSkip, AlertLevel: AlertP2,
		MaxConcurrent: defaultLimit(kind),
	}
	if w.TimeoutSeconds != nil {
		out.TimeoutSeconds = *w.TimeoutSeconds
	}
	p.seconds("policy.timeout_seconds", out.TimeoutSeconds, 1, maxTimeout)
	if w.Idempotent == nil {
		p.add("policy.idempotent", "Say whether the target may get the same key twice: there is no default for it")
	} else {
		out.Idempotent = *w.Idempotent
	}
	if w.MaxConcurrent != nil {
		out.MaxConcurrent = *w.MaxConcurrent
	}
	if out.MaxConcurrent < 0 || out.MaxConcurrent > 10_000 {
		p.add("policy.max_concurrent", "Between 0 (unlimited) and 10,000; this is %d", out.MaxConcurrent)
	}
	if w.Overlap != "" {
		out.Overlap = w.Overlap
	}
	if !slices.Contains([]Overlap{OverlapSkip, OverlapQueue, OverlapCancel, OverlapAllow}, out.Overlap) {
		p.add("policy.overlap", "One of skip, queue, cancel_running, allow; this is %q", string(w.Overlap))
	}
	if w.MaxConcurrent == nil && out.Overlap == OverlapAllow {
		out.MaxConcurrent = 0
	}
	if out.MaxConcurrent == 0 && w.Overlap == "" && kind.Slots() {
		out.Overlap = OverlapAllow
	}
	if out.MaxConcurrent == 0 && out.Overlap != OverlapAllow && kind.Slots() {
		p.add("policy.max_concurrent", "Without a limit nothing overlaps; choose allow, or a limit")
	}
	if w.AlertLevel != "" {
		out.AlertLevel = w.AlertLevel
		if !slices.Contains([]AlertLevel{AlertP1, AlertP2, AlertNone}, w.AlertLevel) {
			p.add("policy.alert_level", "One of p1, p2, none; this is %q", string(w.AlertLevel))
		}
	}
	p.await(w, &out)
	out.Retry = p.retry(w.Retry, out.Idempotent, d)
	return out
}

// defaultLimit: slots of one task don't overlap unless somebody wants it;
// requests are independent of each other.
func defaultLimit(kind ScheduleKind) int {
	if kind.Slots() {
		return 1
	}
	return 0
}

func (p *problems) retry(w *RetrySpec, idempotent bool, d Defaults) Retry {
	out := Retry{Kind: RetrySteps, Max: d.RetryMax, DelaysSeconds: d.RetryDelays}
	if !idempotent {
		out.Max = 0
	}
	if w == nil {
		return out
	}
	if w.Kind != "" {
		out.Kind = w.Kind
	}
	if w.Max != nil {
		out.Max = *w.Max
	}
	out.DelaysSeconds = w.delays(d)
	out.Unsafe = w.Unsafe
	if out.Max < 0 || out.Max > maxRetries {
		p.add("policy.retry.max", "Between 0 and %d retries; this is %d", maxRetries, out.Max)
	}
	if out.Max > 0 && !idempotent && !out.Unsafe {
		p.add("policy.retry.max", "Non-idempotent work is not repeated, unless an owner of the team allows it")
	}
	p.delays(out)
	return out
}

// delays as written, or those that suit the kind.
func (w RetrySpec) delays(d Defaults) []int {
	switch {
	case len(w.DelaysSeconds) > 0 || len(d.RetryDelays) == 0:
		return w.DelaysSeconds
	case w.Kind == RetryFixed:
		return d.RetryDelays[:1]
	case w.Kind == RetryExponential:
		return []int{d.RetryDelays[0], max(3600, d.RetryDelays[0])}
	}
	return d.RetryDelays
}

func (p *problems) delays(r Retry) {
	const name = "policy.retry.delays_seconds"
	most := map[RetryKind]int{RetrySteps: 20, RetryFixed: 1, RetryExponential: 2}[r.Kind]
	switch {
	case most == 0:
		p.add("policy.retry.kind", "One of steps, fixed, exponential; this is %q", string(r.Kind))
		return
	case len(r.DelaysSeconds) == 0 && r.Max > 0:
		p.add(name, "At least one delay is needed")
	case len(r.DelaysSeconds) > most && r.Kind == RetryFixed:
		p.add(name, "One delay only")
	case len(r.DelaysSeconds) > most && r.Kind == RetryExponential:
		p.add(name, "Two numbers: the first delay and the longest")
	case len(r.DelaysSeconds) > most:
		p.add(name, "At most %d delays", most)
	}
	for _, s := range r.DelaysSeconds {
		p.seconds(name, s, 1, 86_400)
	}
	if r.Kind == RetryExponential && len(r.DelaysSeconds) == 2 && r.DelaysSeconds[1] < r.DelaysSeconds[0] {
		p.add(name, "The longest delay can't be shorter than the first")
	}
}
