package definition

import (
	"encoding/json"
	"slices"
)

// Patterns of texts. They keep to what the regular expressions of Go and of
// ECMAScript have in common; those are what tools match patterns with.
const (
	durationPattern = `^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$`
	exprPattern     = `^\s*\$\{\{[\s\S]*\}\}\s*$`

	// twoExprsPattern is twoExprs: an expression that ends outside of quotes,
	// and behind it another one.
	twoExprsPattern = "^\\s*\\$\\{\\{(?:[^'\"`]|'(?:[^'\\\\]|\\\\[\\s\\S])*'|\"(?:[^\"\\\\]|\\\\[\\s\\S])*\"|`[^`]*`)*" +
		`\}\}[\s\S]*\$\{\{`
)

// JSONSchema returns the JSON Schema (2020-12) of a workflow file, for editors
// and other tools. It is made from the tables that [Parse] reads by, and is the
// same in every call. It knows the form of a file only: names that lead nowhere,
// the graph, the handlers and the expressions are the business of [Parse] and
// [Check], and so is what JSON does not have, such as anchors and tags.
func JSONSchema() []byte {
	root := keywords{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "urn:pawl:workflow:1"},
		{"$comment", "Made by pawl schema from the tables of the parser; do not edit."},
		{"description", "A workflow of pawl, version 1 of the language."},
	}
	root = append(root, objectOf("Workflow", topFields(), anyKind)...)
	root = append(root, keyword{"$defs", sharedSchemas()})
	text, _ := json.MarshalIndent(root, "", "  ") // it holds texts, numbers and booleans only
	return append(text, '\n')
}

// sharedSchemas are the schemas that shapes name.
func sharedSchemas() keywords {
	return slices.Concat(blockSchemas(), stateSchemas(), branchSchemas(), typeSchemas(), valueSchemas())
}

// blockSchemas are those of the blocks below the top level and the states.
func blockSchemas() keywords {
	return keywords{
		{"labels", mapOf(refTo("name"), refTo("text"), keyword{"maxProperties", maxLabels})},
		{"concurrency", objectOf("Concurrency", concurrencyFields(atStart), anyKind)},
		{"state_concurrency", objectOf("Concurrency of a state", concurrencyFields(onEntry), anyKind)},
		{"retention", objectOf("Retention", retentionFields(), anyKind)},
		{"on_failure", objectOf("On failure", failureFields(), anyKind, leadsNowhere()...)},
		{"defaults", objectOf("Defaults", defaultFields(), anyKind)},
		{"retry", objectOf("Retry", retryFields(), anyKind)},
		{"codes", keywords{{"type", "array"}, {"items", refTo("word")}}},
	}
}

// leadsNowhere says that all policies but forward need a state to end in.
func leadsNowhere() keywords {
	forward := keywords{
		{"properties", keywords{{"policy", keywords{{"const", string(Forward)}}}}},
		{"required", []string{"policy"}},
	}
	return keywords{
		{"if", forward},
		{"then", keywords{{"properties", keywords{{"to", false}}}}},
		{"else", keywords{{"required", []string{"to"}}}},
	}
}

func stateSchemas() keywords {
	var states keywords
	var kinds []keywords
	for _, k := range kindNames() {
		var more keywords
		if k.kind == stepKind {
			more = runsOnce()
		}
		kinds = append(kinds, refTo(k.name+"_state"))
		states = append(states, keyword{k.name + "_state", objectOf("State: "+k.name, stateFields(), k.kind, more...)})
	}
	blocks := keywords{
		{"wait", objectOf("Wait", waitFields(), anyKind, keyword{"minProperties", 1}, keyword{"maxProperties", 1})},
		{"wait_time", anyOf(refTo("duration"), refTo("expression"))},
		{"signals", mapOf(refTo("name"), refTo("branches"), keyword{"minProperties", 1})},
		{"compensate", append(anyOf(refTo("word"), refTo("compensation")), keyword{"examples", []string{noCompensation}})},
		{"compensation", objectOf("Compensation", compensationFields(), anyKind)},
		{"compensation_step", keywords{{"allOf", []keywords{refTo("word"), {{"not", keywords{{"const", noCompensation}}}}}}}},
		{"emit", keywords{{"type", "array"}, {"items", refTo("event")}}},
		{"event", objectOf("Event", emitFields(), anyKind)},
	}
	return slices.Concat(keywords{
		{"states", mapOf(refTo("name"), refTo("state"), keyword{"minProperties", 1}, keyword{"maxProperties", maxStates})},
		{"state", keywords{{"type", "object"}, {"oneOf", kinds}}},
	}, states, blocks)
}

// runsOnce says that at_most_once leaves no attempts to choose.
func runsOnce() keywords {
	once := keywords{
		{"properties", keywords{{"at_most_once", keywords{{"const", true}}}}},
		{"required", []string{"at_most_once"}},
	}
	single := keywords{{"properties", keywords{{"max_attempts", keywords{{"maximum", 1}}}}}}
	return keywords{
		{"if", once},
		{"then", keywords{{"properties", keywords{{"retry", single}}}}},
	}
}

// branchSchemas are those of what leads to states. A schema cannot say that
// the branch without a guard is the last, only that there is one.
func branchSchemas() keywords {
	unguarded := keywords{{"not", keywords{{"required", []string{"when"}}}}}
	list := keywords{
		{"type", "array"},
		{"items", refTo("branch")},
		{"contains", unguarded},
		{"minContains", 1},
		{"maxContains", 1},
	}
	return keywords{
		{"branches", anyOf(refTo("word"), list)},
		{"branch", objectOf("Branch", branchFields(), anyKind)},
		{"catch", mapOf(filled(), refTo("branches"))},
	}
}

func typeSchemas() keywords {
	of := func(kind TypeKind) keywords {
		return keywords{{"properties", keywords{{"type", keywords{{"pattern", string(kind) + "$"}}}}}}
	}
	long := objectOf("Type", typeFields(), anyKind,
		keyword{"dependentSchemas", keywords{{"fields", of(Object)}, {"enum", of(String)}}})
	return keywords{
		{"fields", mapOf(refTo("name"), refTo("type"))},
		{"type", anyOf(refTo("short_type"), refTo("long_type"))},
		{"short_type", keywords{{"type", "string"}, {"enum", shortTypes()}}},
		{"long_type", long},
		{"enum", keywords{
			{"type", "array"}, {"items", keywords{{"type", "string"}}}, {"minItems", 1}, {"uniqueItems", true},
		}},
	}
}

// shortTypes are all types in their short form.
func shortTypes() []string {
	var list []string
	for _, prefix := range []string{"", "list of ", "optional ", "optional list of "} {
		for _, name := range typeNames() {
			list = append(list, prefix+name)
		}
	}
	return list
}

func valueSchemas() keywords {
	pattern := func(p string) keywords { return keywords{{"type", "string"}, {"pattern", p}} }
	name := append(pattern(namePattern.String()), keyword{"maxLength", maxName})
	workflow := append(pattern(workflowPattern.String()), keyword{"maxLength", maxWorkflow})
	duration := append(pattern(durationPattern), keyword{"minLength", 1},
		keyword{"not", pattern(`^(0+(d|h|ms?|s))+$`)}, // zero
		keyword{"examples", []string{"30s", "5m", "1h30m", "7d", "250ms"}})
	// A text that holds an expression must be one as a whole.
	whole := keywords{{"if", pattern(`\$\{\{`)}, {"then", refTo("expression")}}
	value := slices.Concat(keywords{{"type", []string{"string", "number", "boolean", "object", "array"}}}, whole,
		keywords{{"items", refTo("value")}, {"propertyNames", filled()}, {"additionalProperties", refTo("value")}})
	return keywords{
		{"name", name},
		{"workflow", workflow},
		{"word", keywords{{"type", "string"}, {"minLength", 1}, {"not", pattern(exprPattern)}}},
		{"duration", duration},
		{"expression", append(pattern(exprPattern), keyword{"not", pattern(twoExprsPattern)})},
		{"text", append(keywords{{"type", "string"}}, whole...)},
		{"texts", mapOf(filled(), keywords{{"type", "string"}})},
		{"value", value},
		{"values", append(keywords{{"type", "object"}}, refTo("value")...)},
	}
}

// filled is the schema of keys that may be anything but empty.
func filled() keywords { return keywords{{"minLength", 1}} }

func anyOf(list ...keywords) keywords { return keywords{{"anyOf", list}} }
