module ax/bench/model

go 1.26
