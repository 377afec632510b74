/* Columns: .npy and .csv, row by row. */
#include "input/columns.h"

#include "base/regular.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ACROSS = 64, NAME_LENGTH = 31 };

static const char *const names[] = {"x", "y", "u", "v", "w", "weight"};

static bool ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path);
    return length >= strlen(end) && strcmp(path + length - strlen(end), end) == 0;
}

const char *columns_name(const struct columns *columns, int column)
{
    static const char *const records[][3] = {{"position/x", "position/y", "position/z"},
                                             {"momentum/x", "momentum/y", "momentum/z"},
                                             {"positionOffset/x", "positionOffset/y", "positionOffset/z"}};
    static const int first[] = {COLUMN_X, COLUMN_U, COLUMN_CELL};
    const int record = column < COLUMN_U ? 0 : column < COLUMN_WEIGHT ? 1 : 2;
    if (ends_with(columns->path, ".npy") || ends_with(columns->path, ".csv"))
        return names[column];
    return column == COLUMN_WEIGHT ? "weighting"
                                   : records[record][columns->axes[column - first[record]] - 'x'];
}

enum status columns_require(const struct columns *columns, uint64_t found)
{
    if (found == columns->all)
        return STATUS_OK;
    return status_fail(STATUS_USAGE, "%s: it has %" PRIu64 " particles where the config says %" PRIu64,
                       columns->path, found, columns->all);
}

struct row {
    char header[8192]; /* of a .npy file; the next four members are read from it */
    uint64_t shape[2]; /* of one with fields the second is 0 */
    bool is_turned;    /* column by column, in the order of Fortran */
    char kind[MOST_ACROSS];
    size_t bytes[MOST_ACROSS];

    size_t across;
    char found[MOST_ACROSS][NAME_LENGTH + 1];
    int column[MOST_ACROSS]; /* which it is; COLUMN_CELL: none */
    double numbers[MOST_ACROSS];
};

/* ---- .npy: ten bytes with the length of a Python dict, the dict, and the numbers ---- */

/* '<f8' or '|u1': f, i or u, and the bytes. */
#define NUMBER "'%*1[<|]%1[fiu]%1[1248]'"

static bool add_number(struct row *row, const char kind[2], const char digit[2])
{
    row->kind[row->across] = kind[0];
    row->bytes[row->across++] = (size_t)(digit[0] - '0');
    return kind[0] != 'f' || digit[0] >= '4';
}

/* 'descr': '<f8', or [('x', '<f8'), ('y', '<f4')]. Of the shape (8, 4) sscanf() reads 3 items, of (8,) 1. */
static bool read_header(FILE *file, struct row *row)
{
    unsigned char prefix[10];
    char kind[2] = "", digit[2] = "", end[2] = "";
    int used = 0;
    if (fread(prefix, sizeof prefix, 1, file) != 1 || memcmp(prefix, "\x93NUMPY\1", 7) != 0)
        return false;
    const size_t length = prefix[8] + 256u * prefix[9];
    if (length + 1 >= sizeof row->header || fread(row->header, length, 1, file) != 1)
        return false;
    row->header[strcspn(row->header, "}") + 1] = '\0';
    const char *type = strstr(row->header, "'descr': "), *shape = strstr(row->header, "'shape': (");
    if (!type || !shape)
        return false;
    const int n = sscanf(shape + 10, "%" SCNu64 ", %" SCNu64 "%1[)]", &row->shape[0], &row->shape[1], end);
    const bool is_plain = n == 3 && sscanf(type + 9, NUMBER, kind, digit) == 2;
    bool is_known = true;
    row->is_turned =
        is_plain && strstr(row->header, "'fortran_order': True"); /* one dimension has one order */
    while (is_plain && row->across < COLUMN_CELL && row->across < row->shape[1]) {
        strcpy(row->found[row->across], names[row->across]);
        is_known &= add_number(row, kind, digit);
    }
    for (type += 10; n == 1 && row->across < MOST_ACROSS; used = 0) {
        if (sscanf(type, "('%31[^']', " NUMBER "%n", row->found[row->across], kind, digit, &used) < 3 ||
            used == 0)
            break;
        is_known &= add_number(row, kind, digit);
        type += used;
        type += strspn(type, ") ,");
    }
    return is_known && row->across > 0 && (is_plain || *type == ']');
}

static bool read_number(FILE *file, const struct row *row, size_t place, double *number)
{
    const size_t bytes = row->bytes[place], above = 64 - 8 * bytes;
    uint64_t word = 0;
    float single;
    const bool is_there = fread(&word, bytes, 1, file) == 1;
    memcpy(&single, &word, sizeof single);
    memcpy(number, &word, sizeof *number);
    if (row->kind[place] == 'u')
        *number = (double)word;
    else if (row->kind[place] == 'i')
        *number = (double)((int64_t)(word << above) >> above);
    else if (bytes == sizeof single)
        *number = (double)single;
    return is_there;
}

static enum status refuse(const char *path, const struct row *row)
{
    return status_fail(STATUS_USAGE,
                       "%s: expected a whole .npy file, of a table or an array with fields, of float32, "
                       "float64 or whole numbers, little-endian, found %s",
                       path, row->header[0] ? row->header : "another one");
}

/* ---- .csv ---- */

static const char byte_order_mark[] = "\xef\xbb\xbf", separators[] = "#,; \t\r\n\"\xef\xbb\xbf";

/* Whether the line has the names of the columns. One that begins with # is a comment unless x and y are among
 * its words. */
static bool parse_header(char *line, struct row *row)
{
    int named = 0;
    line += strspn(line, byte_order_mark);
    const bool may_be_comment = *line == '#';
    row->across = 0;
    for (char *word; row->across < MOST_ACROSS && (word = strtok_r(line, separators, &line));) {
        named |= strcmp(word, "x") == 0 ? 1 : strcmp(word, "y") == 0 ? 2 : 0;
        snprintf(row->found[row->across++], sizeof row->found[0], "%s", word);
    }
    return !may_be_comment || named == 3;
}

/* Whether the line has a number for each column. */
static bool parse_line(char *line, struct row *row)
{
    size_t n = 0;
    for (char *rest = line, *word, *end; (word = strtok_r(rest, separators, &rest)); n++)
        if (n == row->across || (row->numbers[n] = strtod(word, &end), *end != '\0'))
            return false;
    return n == row->across;
}

/* ---- of either ---- */

static enum status allocate_columns(struct row *row, struct columns *columns)
{
    for (size_t place = 0; place < row->across; place++) {
        int k = 0;
        while (k < COLUMN_CELL && strcmp(row->found[place], names[k]) != 0)
            k++;
        row->column[place] = k;
        if (k < COLUMN_CELL && columns->numbers[k])
            return status_fail(STATUS_USAGE, "%s: it has %s twice", columns->path, names[k]);
        if (k < COLUMN_CELL && !(columns->numbers[k] = malloc((columns->count + 1) * sizeof(double))))
            return status_fail(STATUS_FAILED, "%s: no memory to read it", columns->path);
    }
    return STATUS_OK;
}

static void store_number(const struct row *row, size_t place, uint64_t n, double number,
                         struct columns *columns)
{
    const int k = row->column[place];
    if (k < COLUMN_CELL)
        columns->numbers[k][n] = number / columns->unit[k];
}

static enum status read_npy(FILE *file, struct row *row, struct columns *columns)
{
    size_t row_bytes = 0;
    double number;
    if (!read_header(file, row) || row->shape[1] > COLUMN_CELL)
        return refuse(columns->path, row);
    TRY(columns_require(columns, row->shape[0]));
    TRY(allocate_columns(row, columns));
    for (size_t place = 0; place < row->across; place++)
        row_bytes += row->bytes[place];
    const bool is_turned = row->is_turned;
    const off_t begin = ftello(file);
    const uint64_t lines = is_turned ? row->across : columns->count,
                   length = is_turned ? columns->count : row->across;
    for (uint64_t line = 0; line < lines; line++) {
        const uint64_t before = is_turned ? (line * row->shape[0] + columns->first) * row->bytes[0]
                                          : (line + columns->first) * row_bytes;
        if (is_turned || line == 0)
            fseeko(file, begin + (off_t)before, SEEK_SET);
        for (uint64_t n = 0; n < length; n++) {
            const size_t place = is_turned ? line : n;
            if (!read_number(file, row, place, &number))
                return refuse(columns->path, row);
            store_number(row, place, is_turned ? n : line, number, columns);
        }
    }
    return STATUS_OK;
}

static enum status read_csv(FILE *file, char **line, struct row *row, struct columns *columns)
{
    size_t capacity = 0;
    ssize_t length;
    uint64_t found = 0;
    bool has_header = false;
    for (uint64_t number = 1; (length = getline(line, &capacity, file)) > 0; number++) {
        if (strlen(*line) != (size_t)length)
            return status_fail(STATUS_USAGE, "%s:%" PRIu64 ": expected text, found a byte of value 0",
                               columns->path, number);
        if ((has_header && **line == '#') || (*line)[strspn(*line, separators)] == '\0')
            continue;
        if (!has_header) {
            has_header = parse_header(*line, row);
            if (has_header)
                TRY(allocate_columns(row, columns));
            continue;
        }
        const uint64_t n = found++ - columns->first;
        if (n >= columns->count)
            continue;
        if (!parse_line(*line, row))
            return status_fail(STATUS_USAGE, "%s:%" PRIu64 ": expected %zu numbers, as in the header line",
                               columns->path, number, row->across);
        for (size_t place = 0; place < row->across; place++)
            store_number(row, place, n, row->numbers[place], columns);
    }
    return columns_require(columns, found);
}

enum status columns_read(struct columns *columns)
{
    const bool is_npy = ends_with(columns->path, ".npy");
    struct row row = {0};
    FILE *file = NULL;
    char *line = NULL;
    if (!is_npy && !ends_with(columns->path, ".csv"))
        return columns_read_hdf5(columns);
    TRY(regular_require(columns->path, STATUS_USAGE, &file, NULL));
    const enum status status = is_npy ? read_npy(file, &row, columns) : read_csv(file, &line, &row, columns);
    free(line);
    fclose(file);
    return status;
}

enum status columns_read_array(struct columns_array *array)
{
    struct row row = {0};
    FILE *file = NULL;
    if (!ends_with(array->path, ".npy"))
        return columns_read_hdf5_array(array);
    TRY(regular_require(array->path, STATUS_USAGE, &file, NULL));
    bool is_whole = read_header(file, &row) && columns_may_hold(row.shape);
    const size_t count = is_whole ? row.shape[0] * row.shape[1] : 0;
    array->values = malloc((count + 1) * sizeof *array->values);
    for (size_t n = 0; n < count && is_whole; n++)
        is_whole = array->values && read_number(file, &row, 0, &array->values[n]);
    fclose(file);
    memcpy(array->shape, row.shape, sizeof row.shape);
    array->stride[0] = row.is_turned ? 1 : row.shape[1];
    array->stride[1] = row.is_turned ? row.shape[0] : 1;
    return is_whole ? STATUS_OK : refuse(array->path, &row);
}
