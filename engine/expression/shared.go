package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"
)

// expr writes x ?: y and x < y < z as trees in which x, or y, is one node in
// two places. Whoever walks such a tree meets the node twice, and twice as
// often for each one within: 20 of them are a million visits.

// mayShare tells from the text whether its tree can have such nodes.
func mayShare(src string) bool {
	return strings.Contains(src, "?") && strings.Contains(src, ":") ||
		strings.Count(src, "<")+strings.Count(src, ">") > 1
}

// size counts the nodes of a tree as often as they are met, up to MaxNodes+1.
func size(n ast.Node, known map[ast.Node]int) int {
	if n == nil {
		return 0
	}
	if s, ok := known[n]; ok {
		return s
	}
	sum := 1
	for _, c := range children(n) {
		sum = min(sum+size(c, known), MaxNodes+1)
	}
	known[n] = sum
	return sum
}

func children(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	case *ast.SliceNode:
		return []ast.Node{n.Node, n.From, n.To}
	case *ast.CallNode:
		return append([]ast.Node{n.Callee}, n.Arguments...)
	case *ast.BuiltinNode:
		return n.Arguments
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	case *ast.VariableDeclaratorNode:
		return []ast.Node{n.Value, n.Expr}
	case *ast.SequenceNode:
		return n.Nodes
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	}
	return nil
}
