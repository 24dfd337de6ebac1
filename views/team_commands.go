package views

import "context"

// commandsNext is what the form of commands asks for.
func commandsNext(p TeamPage) string {
	if p.Team.Commands {
		return "off"
	}
	return "on"
}

func commandsVerb(ctx context.Context, p TeamPage) string {
	if p.Team.Commands {
		return t(ctx, "Close commands")
	}
	return t(ctx, "Open commands")
}

func commandsTitle(ctx context.Context, p TeamPage) string {
	if p.Team.Commands {
		return t(ctx, "Close commands to the team")
	}
	return t(ctx, "Open commands to the team")
}

func commandsSay(ctx context.Context, p TeamPage) string {
	if p.Team.Commands {
		return t(ctx, "At once none of its tasks runs a command any more. What runs now goes on; what comes due fails.")
	}
	return t(ctx, "Owners of the team can have nodes run whatever their own configuration allows.")
}
