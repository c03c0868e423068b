//go:build bfmodel

// A plugin's code is not part of the program that is analysed.
package plugin

import "errors"

func bfMaybe() bool
func bfUnknown(reason string)

func bf_open(name string) (*Plugin, error) {
	bfUnknown("plugin.Open loads code that is not analysed")
	if bfMaybe() {
		return nil, errors.New("plugin.Open")
	}
	return &Plugin{pluginpath: name, syms: map[string]any{}}, nil
}

func bf_lookup(p *Plugin, symName string) (Symbol, error) {
	if s, ok := p.syms[symName]; ok {
		return s, nil
	}
	return nil, errors.New("plugin: symbol not found")
}
