package main

func killing() []scenario      { return nil }
func freezing() []scenario     { return nil }
func carrier() []scenario      { return nil }
func ledgerFaults() []scenario { return nil }
func network() []scenario      { return nil }
func clusters() []scenario     { return nil }
func targets() []scenario      { return nil }
