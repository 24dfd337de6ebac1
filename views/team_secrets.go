package views

import "ax/views/ui"

// secretOptions are the team's secrets, to choose one from.
func (p TeamPage) secretOptions() []ui.Option {
	out := make([]ui.Option, len(p.Secrets))
	for i, s := range p.Secrets {
		out[i] = ui.Option{Value: s.Name, Label: s.Name}
	}
	return out
}
