package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// manifestVersion is the version of the form of manifest files.
const manifestVersion = 1

// manifestFile is a manifest as it is written to a file.
type manifestFile struct {
	Version int      `json:"pawl_manifest"`
	Steps   Manifest `json:"steps"`
}

// JSON returns m as the text of a file, for [ReadManifest]. Equal manifests
// give equal texts.
func (m Manifest) JSON() ([]byte, error) {
	if m == nil {
		m = Manifest{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(manifestFile{Version: manifestVersion, Steps: m}); err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	return b.Bytes(), nil
}

// ReadManifest reads what [Manifest.JSON] has written. A field or a type that
// is not known is an error, since the checks would silently do without it. An
// error has one line for each mistake, which begins with the name of the file.
func ReadManifest(file string, src []byte) (Manifest, error) {
	src = bytes.TrimPrefix(src, []byte(bom))
	steps, err := readSteps(src)
	if err != nil {
		return nil, manifestError(file, src, err)
	}
	m := make(Manifest, len(steps))
	r := manifestReader{file: file}
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		r.step = name
		m[name] = r.handler(steps[name])
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	return m, nil
}

// readSteps reads the frame of a manifest file.
func readSteps(src []byte) (map[string]json.RawMessage, error) {
	switch {
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")), !utf8.Valid(src):
		return nil, errors.New("the file is not UTF-8; store it as UTF-8")
	case len(bytes.TrimSpace(src)) == 0:
		return nil, errors.New("the file is empty; write it with the command manifest")
	}
	v, err := decodeJSON(src)
	if err != nil {
		return nil, err
	}
	top, _ := v.(map[string]any)
	switch version, ok := top["pawl_manifest"].(json.Number); {
	case !ok:
		return nil, fmt.Errorf(`the file is no manifest, which begins with {"pawl_manifest": %d; write it with the command manifest`,
			manifestVersion)
	case version.String() != fmt.Sprint(manifestVersion):
		return nil, fmt.Errorf("pawl_manifest is %s, but this program reads version %d; write the file again with the command manifest",
			shorten(version.String()), manifestVersion)
	}
	if key, ok := twice(src, v); ok {
		return nil, fmt.Errorf("the key %q is there twice; remove one", shorten(key))
	}
	var frame struct {
		Version int                        `json:"pawl_manifest"`
		Steps   map[string]json.RawMessage `json:"steps"`
	}
	if err := strictJSON(src, &frame); err != nil {
		return nil, err
	}
	if frame.Steps == nil {
		return nil, errors.New(`the file has no "steps"`)
	}
	return frame.Steps, nil
}

// strictJSON decodes raw, which is valid JSON, and refuses unknown fields.
func strictJSON(raw []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(to)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s cannot be %s", wrong.Field, aJSON(wrong.Value))
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// aJSON names a kind of JSON value as the decoder calls it.
func aJSON(kind string) string {
	switch word, _, _ := strings.Cut(kind, " "); word {
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	default:
		return "a " + word
	}
}

// manifestReader collects the mistakes in the steps of a manifest.
type manifestReader struct {
	file, step string
	errs       []error
}

func (r *manifestReader) errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: step %q: %s", r.file, shorten(r.step), fmt.Sprintf(format, args...)))
}

func (r *manifestReader) handler(raw json.RawMessage) (h HandlerInfo) {
	if r.step == "" {
		r.errorf("a step needs a name")
	}
	if err := strictJSON(raw, &h); err != nil {
		r.errorf("%s", err)
		return h
	}
	r.fields("input", h.Input)
	r.fields("output", h.Output)
	return h
}

func (r *manifestReader) fields(path string, fields []Field) {
	seen := map[string]bool{}
	for _, f := range fields {
		at := path + "." + f.Name
		switch {
		case f.Name == "":
			r.errorf("a field of %s has no name", path)
		case seen[f.Name]:
			r.errorf("%s is there twice; remove one", at)
		}
		seen[f.Name] = true
		r.typ(at, &f.Type)
	}
}

func (r *manifestReader) typ(path string, t *Type) {
	kinds := append(typeNames(), string(List))
	switch {
	case t.Kind == "":
		r.errorf("%s has no kind; known: %s", path, strings.Join(kinds, ", "))
	case !slices.Contains(kinds, string(t.Kind)):
		r.errorf("%s has the unknown kind %q; %s", path, shorten(string(t.Kind)), mend(string(t.Kind), kinds))
	case t.Elem != nil && t.Kind != List:
		r.errorf("%s has an elem, but only a list has one", path)
	case t.Fields != nil && t.Kind != Object:
		r.errorf("%s has fields, but only an object has them", path)
	case t.Elem != nil:
		r.typ(path+"[]", t.Elem)
	default:
		r.fields(path, t.Fields)
	}
}

// manifestError names the file and, of a mistake in the JSON, the place.
func manifestError(file string, src []byte, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: the file ends in the middle; write it again with the command manifest", file)
	}
	bad, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return fmt.Errorf("%s: %w", file, err)
	}
	before := string(src[:min(max(int(bad.Offset)-1, 0), len(src))])
	line := strings.Count(before, "\n") + 1
	col := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
	return fmt.Errorf("%s:%d:%d: this is not JSON: %w", file, line, col, err)
}
