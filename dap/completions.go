package dap

import (
	"context"
	"sort"
	"strings"
	"unicode/utf16"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// maxCompletions limits one answer.
const maxCompletions = 200

// completions lists the names that start with the word before the cursor: variables of the frame,
// functions, and registers after a dollar sign.
func (s *server) completions(ctx context.Context, args godap.CompletionsArguments) (any, error) {
	frame, err := s.frameOf(args.FrameId)
	if err != nil {
		return nil, err
	}
	// Columns count UTF-16 code units. The cursor is before the column.
	lines := strings.Split(args.Text, "\n")
	line := 0
	if args.Line != 0 {
		line = min(max(s.client.ourLine(args.Line)-1, 0), len(lines)-1)
	}
	units := utf16.Encode([]rune(lines[line]))
	at := min(max(s.client.ourColumn(args.Column)-1, 0), len(units))
	before := string(utf16.Decode(units[:at]))
	word := before[wordStart(before):]
	start := at - len(utf16.Encode([]rune(word)))

	items := []godap.CompletionItem{}
	seen := map[string]bool{}
	offer := func(name, kind string) {
		if seen[name] || !strings.HasPrefix(name, word) || len(items) >= maxCompletions {
			return
		}
		seen[name] = true
		items = append(items, godap.CompletionItem{Label: name, Type: godap.CompletionItemType(kind), Start: s.client.column(start + 1), Length: at - start})
	}
	switch rest := before[:len(before)-len(word)]; {
	case strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, "->"):
		s.offerMembers(frame, strings.TrimSuffix(strings.TrimSuffix(rest, "."), "->"), offer)
	case strings.HasPrefix(word, "$"):
		if list, err := s.query.Registers(frame.thread, frame.level); err == nil {
			for _, r := range list {
				offer("$"+r.Name, "variable")
			}
		}
	default:
		for _, kind := range []session.ScopeKind{session.ScopeLocals, session.ScopeArguments} {
			if list, err := s.query.Variables(frame.thread, frame.level, kind); err == nil {
				for _, v := range list {
					offer(v.Name, "variable")
				}
			}
		}
		if word != "" && ctx.Err() == nil {
			names := s.query.CompleteFunction(word, maxCompletions)
			sort.Strings(names)
			for _, name := range names {
				offer(name, "function")
			}
		}
	}
	return godap.CompletionsResponseBody{Targets: items}, ctx.Err()
}

// offerMembers offers the members of the expression before a "." or "->".
func (s *server) offerMembers(frame frameKey, text string, offer func(name, kind string)) {
	object := text[wordStart(text):]
	if object == "" {
		return
	}
	v, err := s.query.Evaluate(frame.thread, frame.level, object)
	if err != nil {
		return
	}
	list, err := s.query.Children(frame.thread, frame.level, v, 0, maxCompletions)
	if err != nil {
		return
	}
	for _, c := range list {
		offer(c.Name, "field")
	}
}

// wordStart returns the start of the name at the end of text.
func wordStart(text string) int {
	i := len(text)
	for i > 0 {
		c := text[i-1]
		switch {
		case c == '_' || c == ':' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80:
			i--
		default:
			return i
		}
	}
	return i
}
