package jobs

import "ax/jobs/shell"

// ShellOptions are what this node's own configuration says of commands.
type ShellOptions = shell.Options
