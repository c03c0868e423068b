package progen

type Config struct{}

func Generate(seed uint64, cfg Config) *Program { return nil }
