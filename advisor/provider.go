package advisor

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// provider shows the structs of the schema to CEL. Reading a fact that is not known yields CEL's unknown value with the
// fact's path and reason, so three-valued logic works in every position: below && and ||, in comprehensions, in lists.
//
// Note: cel.PartialVars with attribute patterns was the alternative. Patterns do not reach the variable of a
// comprehension and make a whole list unknown for one element; a getter decides for each element by itself, and costs
// nothing where everything is known.
type provider struct {
	types.Provider
	types.Adapter
	schema *schema
}

// FindStructType implements types.Provider.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if st := p.schema.structs[name]; st != nil {
		return types.NewTypeTypeWithParam(st.celType), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if st := p.schema.structs[name]; st != nil {
		return st.fieldNames(), true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType implements types.Provider.
func (p *provider) FindStructFieldType(name, fieldName string) (*types.FieldType, bool) {
	st := p.schema.structs[name]
	if st == nil {
		return p.Provider.FindStructFieldType(name, fieldName)
	}
	f := st.byName[fieldName]
	if f == nil {
		return nil, false
	}
	return &types.FieldType{Type: f.celType, IsSet: func(any) bool { return true }, GetFrom: p.getter(st, f)}, true
}

// NewValue implements types.Provider. Facts come from Derive alone.
func (p *provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if p.schema.structs[name] != nil {
		return types.NewErr("a rule cannot make a %s", name)
	}
	return p.Provider.NewValue(name, fields)
}

// NativeToValue implements types.Adapter.
func (p *provider) NativeToValue(v any) ref.Val {
	if r, ok := v.(ref.Val); ok {
		return r
	}
	return p.Adapter.NativeToValue(v)
}

// getter reads one fact from *struct: its value, or CEL's unknown.
func (p *provider) getter(st *structType, f *field) ref.FieldGetter {
	convert, name := p.converter(f), reflect.ValueOf(f.name)
	var last atomic.Pointer[lastUnknown] // most elements of a host lack a field for one and the same reason
	return func(target any) (any, error) {
		ptr := reflect.ValueOf(target)
		if ptr.Kind() != reflect.Pointer || ptr.Type().Elem() != st.goType {
			return nil, fmt.Errorf("want *%s, have %T", st.goType, target)
		}
		v := ptr.Elem()
		if st.unknown >= 0 {
			if m := v.Field(st.unknown); m.Len() > 0 {
				if why := m.MapIndex(name); why.IsValid() {
					reason := why.String()
					u := last.Load()
					if u == nil || u.why != reason {
						u = &lastUnknown{reason, unknownField(st, f, reason)}
						last.Store(u)
					}
					return u.value, nil
				}
			}
		}
		return convert(v.Field(f.index)), nil
	}
}

// lastUnknown is the unknown value that a getter gave last; values are never changed, so it can be given again.
type lastUnknown struct {
	why   string
	value *types.Unknown
}

// converter turns a Go field into a CEL value without going through an interface where that can be avoided.
func (p *provider) converter(f *field) func(reflect.Value) ref.Val {
	switch f.goType.Kind() {
	case reflect.Bool:
		return func(v reflect.Value) ref.Val { return types.Bool(v.Bool()) }
	case reflect.String:
		return func(v reflect.Value) ref.Val { return types.String(v.String()) }
	case reflect.Int, reflect.Int64:
		return func(v reflect.Value) ref.Val { return types.Int(v.Int()) }
	case reflect.Float64:
		return func(v reflect.Value) ref.Val { return types.Double(v.Float()) }
	}
	return func(v reflect.Value) ref.Val { return types.NewDynamicList(p, v.Interface()) }
}

// object is one struct of facts as a CEL value.
type object struct {
	ptr any
	typ *structType
}

// ConvertToNative implements ref.Val.
func (o object) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("no conversion from %s to %v", o.typ.name, t)
}

// ConvertToType implements ref.Val.
func (o object) ConvertToType(t ref.Type) ref.Val {
	return types.NewErr("no conversion from %s to %s", o.typ.name, t.TypeName())
}

// Equal implements ref.Val: the same element, not an equal one.
func (o object) Equal(other ref.Val) ref.Val {
	b, ok := other.(object)
	return types.Bool(ok && b.ptr == o.ptr)
}

// Type implements ref.Val.
func (o object) Type() ref.Type { return o.typ.celType }

// Value implements ref.Val.
func (o object) Value() any { return o.ptr }
