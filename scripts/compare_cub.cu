// CUB's radix sort of the keys in files, for scripts/compare_cub.sh: cub::DeviceRadixSort::SortPairs of
// keys and their numbers of 32 bits, by the lowest BITS bits. Keys have 32 bits, or 64 where BITS is above 32.
// Prints for each file "median min max verified device", times in ms.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

static void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "compare_cub: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

template <class Key> static std::vector<Key> read_keys(const char *path)
{
    std::vector<Key> keys;
    FILE *file = std::fopen(path, "rb");
    if (file && std::fseek(file, 0, SEEK_END) == 0) {
        keys.resize(static_cast<size_t>(std::ftell(file)) / sizeof(Key));
        std::rewind(file);
        if (std::fread(keys.data(), sizeof(Key), keys.size(), file) != keys.size())
            keys.clear();
    }
    if (file)
        std::fclose(file);
    if (keys.empty() || keys.size() > INT32_MAX) {
        std::fprintf(stderr, "compare_cub: %s cannot be read as 1 to 2^31 - 1 keys\n", path);
        std::exit(1);
    }
    return keys;
}

template <class Key> struct Lists {
    Key *keys, *sorted_keys;
    uint32_t *numbers, *sorted_numbers;
    void *scratch = nullptr;
    size_t scratch_bytes = 0;
    int count, bits;
};

template <class Key> static void sort(Lists<Key> &lists)
{
    check(cub::DeviceRadixSort::SortPairs(lists.scratch, lists.scratch_bytes, lists.keys, lists.sorted_keys,
                                          lists.numbers, lists.sorted_numbers, lists.count, 0, lists.bits),
          "sorting");
}

template <class Key> static Lists<Key> make_lists(const std::vector<Key> &keys, int bits)
{
    Lists<Key> lists;
    lists.count = static_cast<int>(keys.size());
    lists.bits = bits;
    const size_t key_bytes = keys.size() * sizeof(Key), bytes = keys.size() * sizeof(uint32_t);
    for (Key **list : {&lists.keys, &lists.sorted_keys})
        check(cudaMalloc(reinterpret_cast<void **>(list), key_bytes), "memory for keys");
    for (uint32_t **list : {&lists.numbers, &lists.sorted_numbers})
        check(cudaMalloc(reinterpret_cast<void **>(list), bytes), "memory for numbers");
    std::vector<uint32_t> numbers(keys.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    check(cudaMemcpy(lists.keys, keys.data(), key_bytes, cudaMemcpyHostToDevice), "copying the keys");
    check(cudaMemcpy(lists.numbers, numbers.data(), bytes, cudaMemcpyHostToDevice), "copying the numbers");
    sort(lists); // without scratch memory it only says how much it needs
    check(cudaMalloc(&lists.scratch, lists.scratch_bytes), "scratch memory");
    return lists;
}

template <class Key> static void free_lists(const Lists<Key> &lists)
{
    for (void *list :
         {static_cast<void *>(lists.keys), static_cast<void *>(lists.sorted_keys),
          static_cast<void *>(lists.numbers), static_cast<void *>(lists.sorted_numbers), lists.scratch})
        check(cudaFree(list), "freeing memory");
}

// Milliseconds of a sort in each of `repeats` rows of ROW back to back (bench pic-sort makes rows of up to as
// many), in ascending order, after two that are not timed.
const int ROW = 16;

template <class Key> static std::vector<float> time_sorts(Lists<Key> &lists, int repeats)
{
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "an event");
    check(cudaEventCreate(&end), "an event");
    std::vector<float> times;
    for (int n = 0; n < repeats + 2; n++) {
        float time = 0;
        check(cudaEventRecord(begin), "timing");
        for (int sorts = 0; sorts < ROW; sorts++)
            sort(lists);
        check(cudaEventRecord(end), "timing");
        check(cudaEventSynchronize(end), "timing");
        check(cudaEventElapsedTime(&time, begin, end), "timing");
        if (n >= 2)
            times.push_back(time / ROW);
    }
    std::sort(times.begin(), times.end());
    return times;
}

// Whether the numbers are the permutation of a stable sort: each comes once, and keys in their order do not
// decrease, nor do the numbers of equal keys.
template <class Key> static bool is_right(const Lists<Key> &lists, const std::vector<Key> &keys)
{
    std::vector<uint32_t> numbers(keys.size());
    std::vector<bool> seen(keys.size(), false);
    check(cudaMemcpy(numbers.data(), lists.sorted_numbers, keys.size() * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost),
          "copying the result");
    for (size_t n = 0; n < keys.size(); n++) {
        const uint32_t number = numbers[n];
        if (number >= keys.size() || seen[number])
            return false;
        seen[number] = true;
        if (n == 0)
            continue;
        const Key key = keys[number], before = keys[numbers[n - 1]];
        if (before > key || (before == key && numbers[n - 1] > number))
            return false;
    }
    return true;
}

// Sorts the keys of a file, and prints its line.
template <class Key> static void report(const char *path, int bits, int repeats, const char *device)
{
    const std::vector<Key> keys = read_keys<Key>(path);
    Lists<Key> lists = make_lists(keys, bits);
    const std::vector<float> times = time_sorts(lists, repeats);
    const float median = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
    std::printf("%.6f %.6f %.6f %s %s\n", median, times.front(), times.back(),
                is_right(lists, keys) ? "yes" : "no", device);
    free_lists(lists);
}

int main(int argc, char **argv)
{
    const int bits = argc > 3 ? std::atoi(argv[1]) : 0, repeats = argc > 3 ? std::atoi(argv[2]) : 0;
    if (bits < 1 || bits > 64 || repeats < 1) {
        std::fprintf(stderr, "usage: compare_cub BITS REPEATS KEYS...\n");
        return 2;
    }
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "the device's name");
    for (int n = 3; n < argc; n++)
        (bits > 32 ? report<uint64_t> : report<uint32_t>)(argv[n], bits, repeats, properties.name);
    return 0;
}
