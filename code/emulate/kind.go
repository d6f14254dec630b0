package emulate

// kind is what an instruction does: its mnemonic, without operands and sizes.
type kind uint8

const (
	invalid kind = iota

	// These compute a destination from two operands and flags.
	add
	or
	adc
	sbb
	and
	sub
	xor
	cmp
	test
	inc
	dec
	not
	neg
	rol
	ror
	shl
	shr
	sar
	bt
	bts
	btr
	btc
	mov
	movzx
	movsx
	movsxd
	cbw
	cwd
	bswap
	imul
	imul3
	clc
	stc
	cmc
	cld
	std

	// These do more.
	nop
	endbr
	lea
	xchg
	cmov
	setcc
	push
	pop
	leave
	call
	jmp
	jcc
	jrcxz
	ret

	// These are chosen by ModRM.reg.
	group1
	group1A
	group2
	group3
	group4
	group5
	group8
	group11
)

const lastComputed = std

// function computes a destination. It gets the old destination and the source, both zero-extended,
// and the flags. It returns the new destination, whose upper bits do not matter, and the flags.
type function func(dst, src uint64, size uint8, flags uint64) (uint64, uint64)

// computation is how a kind from add to lastComputed is executed.
type computation struct {
	compute function
	reads   bool // the old destination
	writes  bool // the destination
}

var computations = [lastComputed + 1]computation{
	add:    {addition, true, true},
	or:     {disjunction, true, true},
	adc:    {additionWithCarry, true, true},
	sbb:    {subtractionWithBorrow, true, true},
	and:    {conjunction, true, true},
	sub:    {subtraction, true, true},
	xor:    {exclusiveOr, true, true},
	cmp:    {subtraction, true, false},
	test:   {conjunction, true, false},
	inc:    {increment, true, true},
	dec:    {decrement, true, true},
	not:    {complement, true, true},
	neg:    {negation, true, true},
	rol:    {rotateLeft, true, true},
	ror:    {rotateRight, true, true},
	shl:    {shiftLeft, true, true},
	shr:    {shiftRight, true, true},
	sar:    {shiftArithmetic, true, true},
	bt:     {bitTest, true, false},
	bts:    {bitSet, true, true},
	btr:    {bitReset, true, true},
	btc:    {bitComplement, true, true},
	mov:    {move, false, true},
	movzx:  {move, false, true},
	movsx:  {move, false, true}, // The source is sign-extended when it is read.
	movsxd: {move, false, true},
	cbw:    {move, false, true},
	cwd:    {signFill, false, true},
	bswap:  {swapBytes, true, true},
	imul:   {product, true, true},
	imul3:  {product, true, true}, // The old destination is the immediate.
	clc:    {clearCarry, false, false},
	stc:    {setCarry, false, false},
	cmc:    {complementCarry, false, false},
	cld:    {clearDirection, false, false},
	std:    {setDirection, false, false},
}
