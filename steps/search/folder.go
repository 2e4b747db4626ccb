package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/blevesearch/bleve/v2"
	bolterrors "go.etcd.io/bbolt/errors"
)

// store is the folder of bleve within Config.Dir. It is not Dir itself so that
// it can appear all at once, also where Dir is a mount point.
const store = "index"

// open opens the index. It creates it if it is to be written; if it is only to
// be read and not there, the index is nil.
func (x *Index) open(ctx context.Context, readOnly bool) (bleve.Index, error) {
	path := filepath.Join(x.cfg.Dir, store)
	there, err := exists(x.cfg.Dir, path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot open the index at %s: %w", x.cfg.Dir, err)
	case !there && readOnly:
		return nil, nil
	case !there:
		if err := create(path); err != nil {
			return nil, fmt.Errorf("cannot create the index at %s: %w", x.cfg.Dir, err)
		}
	}
	wait := x.cfg.LockWait
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline))
	}
	if err := ctx.Err(); err != nil || wait <= 0 {
		return nil, fmt.Errorf("open the index: %w", cmp.Or(context.Cause(ctx), context.DeadlineExceeded))
	}
	ix, err := bleve.OpenUsing(path, map[string]any{
		"bolt_timeout": wait.String(),
		"read_only":    readOnly,
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("the index at %s is in use by another process", x.cfg.Dir)
	case err != nil:
		return nil, fmt.Errorf("cannot open the index at %s: %w; if this stays, move it away", x.cfg.Dir, err)
	}
	return ix, nil
}

// exists reports whether there is an index, or says why there cannot be one.
func exists(dir, path string) (bool, error) {
	for _, name := range []string{dir, path} {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		case !info.IsDir():
			return false, errPlainFile
		}
	}
	return true, nil
}

var errPlainFile = errors.New("it is a plain file; move it away")

// create makes an empty index beside path and then gives it its name, so that
// whoever sees the folder sees all of it. bleve by itself leaves an index that
// cannot be opened if the process dies in between.
func create(path string) error {
	parent := filepath.Dir(path)
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, "new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	m, err := newMapping()
	if err != nil {
		return fmt.Errorf("describe the index: %w", err)
	}
	fresh := filepath.Join(temp, store)
	ix, err := bleve.New(fresh, m)
	if err != nil {
		return err
	}
	if err := ix.Close(); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		if there, _ := exists(parent, path); there {
			return nil // somebody was faster
		}
		return err
	}
	return nil
}
