package engine

import "time"

func CodeOf(err error) string            { return VerdictOf(err).Code }
func IsDefinite(err error) bool          { return VerdictOf(err).Definite }
func IsPermanent(err error) bool         { return VerdictOf(err).Permanent }
func IsTargetDown(err error) bool        { return VerdictOf(err).TargetDown }
func IsWait(err error) bool              { return VerdictOf(err).Wait }
func RetryDelay(err error) time.Duration { return VerdictOf(err).After }
