package view

import (
	"errors"
	"fmt"
	"strings"

	"dbg/eval"
	"dbg/symbols/types"
)

// Functions that the views of Qt call.
func init() {
	for name, f := range map[string]viewFunction{
		"__qlist_inline":  listInline,
		"__qvariant_type": variantType,
		"__qvariant_name": variantName,
		"__qvariant":      variantValue,
	} {
		functions[name] = f
	}
}

// movable are the small classes of Qt 5 that are declared movable: a QList has them in its pointers.
var movable = map[string]bool{
	"QString": true, "QByteArray": true, "QChar": true, "QDate": true, "QTime": true, "QDateTime": true, "QUrl": true,
	"QPoint": true, "QSize": true, "QStringList": true, "QBitArray": true, "QRegExp": true, "QLocale": true,
	"QList": true, "QVector": true, "QMap": true, "QHash": true, "QSet": true,
}

// listInline is __qlist_inline(): whether a QList of Qt 5 has its elements in its pointers. A larger element is never
// there; of a small class that is not Qt's own, debug information does not tell.
func listInline(s *scope, _ []eval.Value) (eval.Value, error) {
	if len(s.o.args) == 0 || s.o.args[0] == nil {
		return eval.Value{}, errors.New("the elements have no type")
	}
	t := s.o.args[0].Strip()
	switch t.Kind {
	case types.Int, types.Uint, types.Char, types.Bool, types.Float, types.Pointer:
		return eval.Bool(t.Size <= int64(s.Arch().PtrSize)), nil
	case types.Enum:
		return eval.Bool(false), nil
	}
	if t.Size > int64(s.Arch().PtrSize) {
		return eval.Bool(false), nil
	}
	if name, _, _ := strings.Cut(t.Name, "<"); movable[name] {
		return eval.Bool(true), nil
	}
	return eval.Value{}, fmt.Errorf("whether a QList has %s in its pointers is not known", t.Name)
}

// variantTypes are the numbers of QMetaType::Type in Qt 5.
var variantTypes = map[int64]string{
	1: "bool", 2: "int", 3: "uint", 4: "long long", 5: "unsigned long long", 6: "double", 7: "QChar",
	8: "QMap<QString, QVariant>", 9: "QList<QVariant>", 10: "QString", 11: "QStringList", 12: "QByteArray",
	13: "QBitArray", 14: "QDate", 15: "QTime", 16: "QDateTime", 17: "QUrl", 19: "QRect", 20: "QRectF", 21: "QSize",
	22: "QSizeF", 25: "QPoint", 26: "QPointF", 28: "QHash<QString, QVariant>", 32: "long", 33: "short", 34: "char",
	35: "unsigned long", 36: "unsigned short", 37: "unsigned char", 38: "float",
}

// qtNames are names of Qt that are not those of the language.
var qtNames = map[string]string{
	"qlonglong": "long long", "qulonglong": "unsigned long long", "uint": "unsigned int", "ulong": "unsigned long",
	"uchar": "unsigned char", "ushort": "unsigned short", "QVariantMap": "QMap<QString, QVariant>",
	"QVariantList": "QList<QVariant>", "QVariantHash": "QHash<QString, QVariant>",
}

// variant is the content of a QVariant.
type variant struct {
	name string // of the type; "": it is invalid
	at   addr
}

// openVariant reads a QVariant. In Qt 5 a word with the type's number, and a flag that tells that the value is
// elsewhere, follows 8 bytes. In Qt 6 a pointer to the type's description, with two flags, follows 24 bytes.
func openVariant(s *scope, name string, args []eval.Value) (variant, error) {
	n, err := numbers(s, name, args, 1)
	if err != nil {
		return variant{}, err
	}
	size := s.o.typ.Size
	word, err := readPointer(addr(n[0]+size-8), s)
	if err != nil {
		return variant{}, err
	}
	v := variant{at: addr(n[0])}
	switch size {
	case 16:
		id := int64(word & (1<<30 - 1))
		if id == 0 {
			return v, nil
		}
		v.name = variantTypes[id]
		if v.name == "" {
			return v, fmt.Errorf("the type %d is not known", id)
		}
		if word&(1<<30) != 0 { // PrivateShared begins with the pointer
			if v.at, err = readPointer(v.at, s); err == nil {
				v.at, err = readPointer(v.at, s)
			}
		}
	case 32:
		if word&^3 == 0 {
			return v, nil
		}
		const nameOffset = 24 // of QMetaTypeInterface::name
		text, err2 := readPointer(word&^3+nameOffset, s)
		if err2 != nil {
			return v, err2
		}
		b := make([]byte, textLength(text, s))
		if err = readAll(text, b, s); err != nil {
			return v, err
		}
		v.name = string(b)
		if full := qtNames[v.name]; full != "" {
			v.name = full
		}
		if word&1 != 0 { // PrivateShared has a count, and the offset of the value from itself
			at, err2 := readPointer(v.at, s)
			if err2 != nil {
				return v, err2
			}
			second, err2 := readPointer(at, s)
			v.at, err = at+second>>32, err2
		}
	default:
		err = fmt.Errorf("a QVariant of %d bytes", size)
	}
	return v, err
}

// variantType is __qvariant_type(this): 0 if a QVariant is invalid.
func variantType(s *scope, args []eval.Value) (eval.Value, error) {
	v, err := openVariant(s, "__qvariant_type", args)
	return eval.Bool(v.name != ""), err
}

// variantName is __qvariant_name(this): the name of the type.
func variantName(s *scope, args []eval.Value) (eval.Value, error) {
	v, err := openVariant(s, "__qvariant_name", args)
	return eval.Words("", v.name), err
}

// variantValue is __qvariant(this): the value.
func variantValue(s *scope, args []eval.Value) (eval.Value, error) {
	v, err := openVariant(s, "__qvariant", args)
	if err != nil {
		return eval.Value{}, err
	}
	t := s.Env.Type(v.name)
	if t == nil {
		return eval.Words("", "<its type is not known>"), nil
	}
	return at(t, v.at, ""), nil
}
