module ax/bench/cronlib

go 1.26.0

require (
	ax v0.0.0
	github.com/netresearch/go-cron v0.9.1
)

replace ax => ../..
