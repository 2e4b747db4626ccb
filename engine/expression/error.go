package expression

import (
	"strconv"
	"strings"
	"unicode"
)

// Rule names the check that an expression broke.
type Rule string

// The rules of expressions.
const (
	RuleExpr      Rule = "expr"           // syntax, unknown names, types
	RuleForbidden Rule = "expr-forbidden" // outside the allow-list
	RuleNested    Rule = "expr-nested"    // a predicate inside a predicate
	RuleRegex     Rule = "expr-regex"     // a pattern that is not a literal
	RuleSize      Rule = "expr-size"      // too long or too many nodes
	RuleFault     Rule = "expr-fault"     // the data does not fit, at run time
)

// Error is what is wrong in an expression, or with its data.
type Error struct {
	Rule    Rule
	Offset  int // in runes, from the start of the expression
	Message string

	// Name is the unknown name or field, and Known are the names that could
	// stand there; both are empty for other errors. Field tells them apart.
	Name  string
	Known []string
	Field bool
}

func (e *Error) Error() string { return e.Message }

// shown returns a name of the source for a message, which is one line.
func shown(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// oneLine keeps what the source has in it from breaking a message.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
