/* Layout host type: the functions of layout_host.c for one type of element. Included there once for each,
 * with ELEMENT, the type, and TYPED(name), the name for that type; hence no include guard. */

static void TYPED(prefix_sum)(ELEMENT *array, uint32_t length)
{
    for (uint32_t j = 1; j < length; j++)
        array[j] += array[j - 1];
}

static void TYPED(bubble_sort)(ELEMENT *array, uint32_t length)
{
    for (uint32_t last = length - 1; last > 0; last--) {
        for (uint32_t j = 0; j < last; j++) {
            const ELEMENT a = array[j], b = array[j + 1];
            if (a > b) {
                array[j] = b;
                array[j + 1] = a;
            }
        }
    }
}

static void TYPED(bitonic_sort)(ELEMENT *array, uint32_t length)
{
    for (uint32_t block = 2; block <= length; block *= 2) {
        for (uint32_t apart = block / 2; apart > 0; apart /= 2) {
            for (uint32_t j = 0; j < length; j++) {
                const uint32_t partner = j ^ apart;
                if (partner < j) /* done from the other side */
                    continue;
                const ELEMENT a = array[j], b = array[partner];
                if ((j & block) == 0 ? a > b : a < b) {
                    array[j] = b;
                    array[partner] = a;
                }
            }
        }
    }
}

static void TYPED(insertion_sort)(ELEMENT *array, uint32_t length)
{
    for (uint32_t j = 1; j < length; j++) {
        const ELEMENT moved = array[j];
        uint32_t place = j;
        for (; place > 0 && array[place - 1] > moved; place--)
            array[place] = array[place - 1];
        array[place] = moved;
    }
}

static ELEMENT TYPED(middle)(ELEMENT a, ELEMENT b, ELEMENT c)
{
    const ELEMENT low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Hoare's partition around the middle one of three; the shorter part first, so that the stack stays short. */
static void TYPED(quicksort)(ELEMENT *array, uint32_t length)
{
    while (length > SHORT_PART) {
        const ELEMENT pivot = TYPED(middle)(array[0], array[length / 2], array[length - 1]);
        uint32_t left = 0, right = length - 1;
        for (;; left++, right--) {
            while (array[left] < pivot)
                left++;
            while (array[right] > pivot)
                right--;
            if (left >= right)
                break;
            const ELEMENT swapped = array[left];
            array[left] = array[right];
            array[right] = swapped;
        }
        const uint32_t upper = right + 1; /* the first element of the upper part */
        if (upper < length - upper) {
            TYPED(quicksort)(array, upper);
            array += upper;
            length -= upper;
        } else {
            TYPED(quicksort)(array + upper, length - upper);
            length = upper;
        }
    }
    TYPED(insertion_sort)(array, length);
}

static int TYPED(ascending)(const void *left, const void *right)
{
    const ELEMENT a = *(const ELEMENT *)left, b = *(const ELEMENT *)right;
    return (a > b) - (a < b);
}

static void TYPED(library_sort)(ELEMENT *array, uint32_t length)
{
    qsort(array, length, sizeof *array, TYPED(ascending));
}

static void TYPED(transpose)(uint32_t rows, uint32_t columns, const void *from, void *to)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            ((ELEMENT *)to)[c * rows + r] = ((const ELEMENT *)from)[r * columns + c];
}

static void TYPED(fill)(enum layout_input input, struct layout_size size, void *elements)
{
    for (uint32_t i = 0; i < size.arrays; i++)
        for (uint32_t j = 0; j < size.length; j++)
            ((ELEMENT *)elements)[(size_t)i * size.length + j] = (ELEMENT)value_at(input, size, i, j);
}

static void TYPED(apply)(enum layout_host_operation operation, struct layout_size size, void *elements)
{
    static void (*const functions[])(ELEMENT *, uint32_t) = {[HOST_PREFIX_SUM] = TYPED(prefix_sum),
                                                             [HOST_BUBBLE_SORT] = TYPED(bubble_sort),
                                                             [HOST_BITONIC_SORT] = TYPED(bitonic_sort),
                                                             [HOST_QUICKSORT] = TYPED(quicksort),
                                                             [HOST_LIBRARY_SORT] = TYPED(library_sort)};
    for (uint32_t i = 0; i < size.arrays; i++)
        functions[operation]((ELEMENT *)elements + (size_t)i * size.length, size.length);
}
