package dap

import (
	"context"
	"fmt"
	"path/filepath"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// modules lists the mapped files.
func (s *server) modules(_ context.Context, args godap.ModulesArguments) (any, error) {
	if args.StartModule < 0 || args.ModuleCount < 0 {
		return nil, badArguments("the number of modules is negative")
	}
	all := s.query.DescribeModules()
	body := godap.ModulesResponseBody{Modules: []godap.Module{}, TotalModules: len(all)}
	for _, m := range page(all, args.StartModule, args.ModuleCount) {
		body.Modules = append(body.Modules, moduleOf(m))
	}
	return body, nil
}

func moduleOf(m session.ModuleDescription) godap.Module {
	out := godap.Module{
		Id: m.ID, Name: filepath.Base(m.Path), Path: m.Path, SymbolFilePath: m.DebugFile,
		AddressRange: fmt.Sprintf("%s-%s", m.Lo, m.Hi), Version: m.BuildID,
	}
	switch {
	case m.Problem != "":
		out.SymbolStatus = m.Problem
	case m.HasDebugInfo:
		out.SymbolStatus = "Debug information loaded"
		if out.SymbolFilePath == "" {
			out.SymbolFilePath = m.Path
		}
	case m.HasSymbols:
		out.SymbolStatus = "Symbols loaded, no debug information: " + m.Origin
	default:
		out.SymbolStatus = "No symbols"
	}
	return out
}
