// Package archtest holds the house to its plan: which package may import
// which. It has tests only.
package archtest
