package expression

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
)

// Limits of one expression.
const (
	MaxLength = 1000 // characters
	MaxNodes  = 200
)

// Compile checks src against env and compiles it. The error is an [*Error].
func Compile(src string, env *Env) (*Program, error) {
	if n := utf8.RuneCountInString(src); n > MaxLength {
		return nil, &Error{
			Rule:    RuleSize,
			Message: fmt.Sprintf("the expression has %d characters, the limit is %d", n, MaxLength),
		}
	}
	if !utf8.ValidString(src) {
		return nil, &Error{Rule: RuleExpr, Message: "the expression is not valid UTF-8"}
	}
	if mayShare(src) {
		if tree := parse(src); tree != nil && size(tree.Node, map[ast.Node]int{}) > MaxNodes {
			return nil, tooManyNodes()
		}
	}
	allow := &allowList{env: env.vars, refs: map[ast.Node]*Ref{}, done: map[ast.Node]ast.Node{}}
	root := &rootNature{}
	opts := []expr.Option{
		func(c *conf.Config) { c.Functions = env.functions },
		expr.Env(env.vars),
		expr.MaxNodes(MaxNodes),
		// The optimizer turns "x and true" into x, whatever x is at run time.
		expr.Optimize(false),
		expr.Patch(allow),
		expr.Patch(root),
	}
	p, err := compile(src, opts)
	if e := allow.first(); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, translate(err)
	}
	return newProgram(src, p, kindOf(&root.nature), allow.references(), env), nil
}

// translate turns an error of expr, which speaks of its own position and
// snippet, into ours.
func translate(err error) *Error {
	fe, ok := errors.AsType[*file.Error](err)
	if !ok {
		return &Error{Rule: RuleExpr, Message: firstLine(err.Error())}
	}
	e := &Error{Rule: RuleExpr, Offset: fe.From, Message: firstLine(fe.Message)}
	switch {
	case strings.Contains(e.Message, "maximum allowed nodes"):
		return tooManyNodes()
	case e.Message == "unexpected token EOF":
		e.Message = "the expression ends too early"
	case strings.Contains(e.Message, "coalesce expressions"):
		e.Message = "?? cannot stand beside another operator; put it in parentheses: (… ?? …)"
	case strings.HasPrefix(e.Message, "invalid integer literal"):
		e.Message = "the number does not fit in a 64-bit integer"
	case strings.HasPrefix(e.Message, "invalid float literal"):
		e.Message = "the number does not fit in a 64-bit float"
	default:
		e.Message = ourWords(e.Message)
	}
	return e
}

func tooManyNodes() *Error {
	return &Error{Rule: RuleSize, Message: fmt.Sprintf("the expression has more than %d parts", MaxNodes)}
}

// ourWords puts our names of types in the place of those of Go.
func ourWords(message string) string {
	return strings.NewReplacer(
		"time.Duration", string(Duration), "time.Time", string(Timestamp), "[]interface {}", string(List),
		"map[string]interface {}", string(Object), "%!s(<nil>)", string(Nil), "[]uint8", string(String),
	).Replace(message)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}
