/* Elements: attributes of particles as so many bytes, for kernels that move them and do not compute with
 * them.
 *
 * Such a kernel is written once, as a macro, and made for every size: FOR_ELEMENTS(DEFINE) is DEFINE(4)
 * DEFINE(8) and so on, and ELEMENT(8) the type. Element p of an attribute is at stride * p + first of its
 * array: stride 1 and first 0 where the attribute has an array of its own.
 */
#ifndef SHARED_ELEMENT_H
#define SHARED_ELEMENT_H

typedef uint element_4;
typedef uint2 element_8;
typedef uint4 element_16;
typedef ulong4 element_32;

#define ELEMENT(bytes)       element_##bytes
#define FOR_ELEMENTS(DEFINE) DEFINE(4) DEFINE(8) DEFINE(16) DEFINE(32)

#endif
