package definition_test

import (
	"strings"
	"testing"
)

// guard is a fact about an expression in the guard at 23:15; the expression
// itself begins four columns later.
func guard(name, expr, want string) fact {
	return fact{name, "when: ${{ output.ok }}", `when: ` + expr, want}
}

// These are the facts of expr-lang that the language was bounded by, as far as
// no test of package expression has them.
func TestFactsOfExpressions(t *testing.T) {
	const ok = `ok {"v":"x"}`
	checkFacts(t, []fact{
		guard("an item of a list has a type", "${{ 5 in input.tags }}", "23:21: cannot use int as type string in array [expr]"),
		guard("an argument has a type", "${{ upper(input.id) == 'A' }}", "23:31: cannot use int as argument (type string) to call upper [expr]"),
		guard("a number is no guard", "${{ input.id }}", "23:19: when must be boolean, but the expression is integer; compare it with something [guard-type]"),
		guard("any passes AsBool, and fails at run time", "${{ output.ok }}", ok),
		guard("a name can be a keyword where a dot stands before it", "${{ output.in == 1 and output.not == 2 and output.let == 3 }}", ok),
		guard("7 / 2 is 3.5", "${{ 7 / 2 == 3.5 and input.id > 0 }}", ok),
		guard("a key twice in a map: the first wins", `'${{ {a: input.id, a: 2}.a == 2 }}'`, "23:34: a is given twice in this object; remove one [expr]"),
		guard("9,000 parentheses are fast, but too long", "${{ "+strings.Repeat("(", 9000)+"true"+strings.Repeat(")", 9000)+" }}",
			"23:19: the expression has 18004 characters, the limit is 1000; move a part of it into a step [expr-size]"),
		guard("480 parentheses", "${{ "+strings.Repeat("(", 480)+"input.express"+strings.Repeat(")", 480)+" }}", ok),
		guard("a long sum has many nodes", "${{ "+strings.Repeat("1+", 300)+"1 > input.id }}",
			"23:19: the expression has more than 200 parts; move a part of it into a step [expr-size]"),
		guard("a regular expression is linear", "${{ input.name matches '(a+)+$' }}", ok),
		guard("a regular expression caps repeats", "${{ input.name matches 'a{1001}' }}", "23:30: error parsing regexp: invalid repeat count: `{1001}` [expr]"),
	})
}
