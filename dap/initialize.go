package dap

import (
	"context"

	godap "github.com/google/go-dap"
)

// initializeArguments has pointers for fields whose absence differs from false. The fields that are
// not listed (the names of the adapter and the client) are not needed.
type initializeArguments struct {
	LinesStartAt1            *bool  `json:"linesStartAt1"`
	ColumnsStartAt1          *bool  `json:"columnsStartAt1"`
	PathFormat               string `json:"pathFormat"`
	SupportsVariableType     bool   `json:"supportsVariableType"`
	SupportsMemoryReferences bool   `json:"supportsMemoryReferences"`
	SupportsInvalidatedEvent bool   `json:"supportsInvalidatedEvent"`
	SupportsProgress         bool   `json:"supportsProgressReporting"`
}

// initialize stores the client's conventions. The initialized event follows later, when a program
// is loaded: see loaded.
func (s *server) initialize(_ context.Context, args initializeArguments) (any, error) {
	if s.phase.get() != phaseNew {
		return nil, &requestError{id: codeOrder, text: "initialize was already sent"}
	}
	s.client = client{
		uri: args.PathFormat == "uri", types: args.SupportsVariableType,
		memory: args.SupportsMemoryReferences, invalidated: args.SupportsInvalidatedEvent, progress: args.SupportsProgress,
		lineBase: 1, columnBase: 1,
	}
	if args.LinesStartAt1 != nil && !*args.LinesStartAt1 {
		s.client.lineBase = 0
	}
	if args.ColumnsStartAt1 != nil && !*args.ColumnsStartAt1 {
		s.client.columnBase = 0
	}
	s.phase.set(phaseInitialized)
	return capabilities(), nil
}

// capabilities lists the supported features.
func capabilities() godap.Capabilities {
	return godap.Capabilities{
		SupportsConfigurationDoneRequest:   true,
		SupportsFunctionBreakpoints:        true,
		SupportsConditionalBreakpoints:     true,
		SupportsHitConditionalBreakpoints:  true,
		SupportsEvaluateForHovers:          true,
		SupportsSetVariable:                true,
		SupportsSetExpression:              true,
		SupportsCompletionsRequest:         true,
		CompletionTriggerCharacters:        []string{"$"},
		SupportsModulesRequest:             true,
		SupportsRestartRequest:             true,
		SupportsValueFormattingOptions:     true,
		SupportsExceptionInfoRequest:       true,
		SupportTerminateDebuggee:           true,
		SupportsDelayedStackTraceLoading:   true,
		SupportsLoadedSourcesRequest:       true,
		SupportsLogPoints:                  true,
		SupportsTerminateRequest:           true,
		SupportsReadMemoryRequest:          true,
		SupportsWriteMemoryRequest:         true,
		SupportsDisassembleRequest:         true,
		SupportsCancelRequest:              true,
		SupportsBreakpointLocationsRequest: true,
		SupportsClipboardContext:           true,
		SupportsSteppingGranularity:        true,
		SupportsInstructionBreakpoints:     true,
		SupportsDataBreakpoints:            true,
		SupportsExceptionFilterOptions:     true,
		ExceptionBreakpointFilters:         exceptionFilters(),
	}
}
