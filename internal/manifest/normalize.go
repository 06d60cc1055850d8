package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// maxKey is what YAML allows for a key on one line.
const maxKey = 1000

// Normalize copies a value and makes it what [Parse] gives: maps are
// map[string]any, lists []any, whole numbers int64, others float64. It refuses
// what JSON cannot say: other types, infinity, texts that are not UTF-8.
func Normalize(value any) (any, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		return v, checkText(v)
	case bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		return number(v)
	case map[string]any:
		result := make(map[string]any, len(v))
		for key, item := range v {
			if err := put(result, key, item); err != nil {
				return nil, err
			}
		}
		return result, nil
	case []any:
		result := make([]any, len(v))
		for i, item := range v {
			var err error
			if result[i], err = Normalize(item); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return result, nil
	}
	return normalizeOther(reflect.ValueOf(value))
}

func put(result map[string]any, key string, item any) error {
	if len(key) > maxKey {
		return fmt.Errorf("a key of %d bytes: YAML allows %d", len(key), maxKey)
	}
	if err := checkText(key); err != nil {
		return err
	}
	value, err := Normalize(item)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	result[key] = value
	return nil
}

func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("a text that is not UTF-8")
	}
	return nil
}

// normalizeOther handles the types that Go code writes: []string, named ones.
func normalizeOther(v reflect.Value) (any, error) {
	switch v.Kind() {
	case reflect.String:
		return v.String(), checkText(v.String())
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() < 1<<63 {
			return int64(v.Uint()), nil
		}
		return float64(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return number(v.Float())
	case reflect.Slice, reflect.Array:
		result := make([]any, v.Len())
		for i := range result {
			var err error
			if result[i], err = Normalize(v.Index(i).Interface()); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return result, nil
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			result := make(map[string]any, v.Len())
			for entries := v.MapRange(); entries.Next(); {
				if err := put(result, entries.Key().String(), entries.Value().Interface()); err != nil {
					return nil, err
				}
			}
			return result, nil
		}
	}
	return nil, fmt.Errorf("a %s is no value of a manifest", v.Type())
}
