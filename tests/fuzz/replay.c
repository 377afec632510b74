/* Replay: gives files to the fuzz target, one after the other. */
#include <stdint.h>
#include <stdio.h>

enum { MOST_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int count, char **paths)
{
    static uint8_t bytes[MOST_BYTES];
    for (int n = 1; n < count; n++) {
        FILE *file = fopen(paths[n], "rb");
        if (!file)
            return 1;
        const size_t size = fread(bytes, 1, MOST_BYTES, file);
        fclose(file);
        printf("%s\n", paths[n]);
        LLVMFuzzerTestOneInput(bytes, size);
    }
    return 0;
}
