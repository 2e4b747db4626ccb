package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine/expression"
)

var mismatch = regexp.MustCompile(`mismatched types (\S+) and (\S+)\)$`)

// exprMessage completes an error of an expression by how to mend it.
func exprMessage(src string, e *expression.Error, where availability) string {
	if e.Rule == expression.RuleSize {
		return e.Message + "; move a part of it into a step"
	}
	if e.Rule == expression.RuleForbidden && e.Name != "" {
		if best := nearest(e.Name, e.Known); best != "" {
			return fmt.Sprintf("there is no function %s(); did you mean %q?", e.Name, best)
		}
		return e.Message
	}
	if e.Name == "" {
		message := e.Message
		if m := mismatch.FindStringSubmatch(message); m != nil {
			message += mendTypes(m[1], m[2])
		}
		return message
	}
	if !e.Field {
		return fmt.Sprintf("unknown name %s; %s", e.Name, mendVariable(e, where))
	}
	if slices.Equal(e.Known, []string{"output"}) {
		return fmt.Sprintf("unknown field %s; a state has only output: states.%s.output", e.Name, nameBefore(src, e.Offset))
	}
	return fmt.Sprintf("unknown field %s; %s", e.Name, mendField(e))
}

// mendTypes says how an operation on two types can be made one.
func mendTypes(left, right string) string {
	is := func(name expression.Kind) bool { return left == string(name) || right == string(name) }
	simple := []string{"string", "int", "float64", "bool"}
	switch {
	case is(expression.Timestamp) && is(expression.Duration):
		return "; the difference of two timestamps is a duration"
	case is(expression.Timestamp) && left != right:
		return "; only a timestamp can be compared with a timestamp, do it in a step"
	case is(expression.Duration) && (is("int") || is("float64")):
		return "; write duration('30s')"
	case slices.Contains(simple, left) && slices.Contains(simple, right):
		return "; convert one side: string(…), int(…)"
	}
	return ""
}

var lastName = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// nameBefore returns the last name before an offset of src in runes.
func nameBefore(src string, offset int) string {
	names := lastName.FindAllString(string([]rune(src)[:offset]), -1)
	if len(names) == 0 {
		return "NAME"
	}
	return names[len(names)-1]
}

func mendVariable(e *expression.Error, where availability) string {
	switch e.Name {
	case "output":
		return "output is known only in the next: and await: of its own state; write states.NAME.output"
	case "error":
		return "error is known only in the guards of catch: and in states with end: failed"
	case "states":
		if where == atStart {
			return "no state has run yet when this is computed; use input"
		}
	}
	return mend(e.Name, e.Known)
}

func mendField(e *expression.Error) string {
	if nearest(e.Name, e.Known) == "" {
		for _, k := range e.Known {
			if strings.HasPrefix(k, e.Name+"-") || strings.HasPrefix(k, e.Name+"_") {
				return fmt.Sprintf("a dash is subtraction here; did you mean %q?", k)
			}
		}
	}
	return mend(e.Name, e.Known)
}

var nilFetch = regexp.MustCompile(`^cannot fetch (\S+) from <nil>$`)

// explain puts a fault of expr in words of the language.
func explain(message string) string {
	if m := nilFetch.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("there is no %s, since what it is a field of is absent; write ?.%s ?? default", m[1], m[1])
	}
	if strings.HasPrefix(message, "interface conversion: ") {
		return "a value has another type than the expression needs (" +
			strings.TrimPrefix(message, "interface conversion: interface {} is ") + ")"
	}
	return message
}
