// CUB's radix sort of the keys in files, for scripts/compare_cub.sh: cub::DeviceRadixSort::SortPairs of
// 32-bit keys and their numbers, by the lowest BITS bits. Prints for each file "median min max verified
// device", times in ms.
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

static std::vector<uint32_t> read_keys(const char *path)
{
    std::vector<uint32_t> keys;
    FILE *file = std::fopen(path, "rb");
    if (file && std::fseek(file, 0, SEEK_END) == 0) {
        keys.resize(static_cast<size_t>(std::ftell(file)) / sizeof(uint32_t));
        std::rewind(file);
        if (std::fread(keys.data(), sizeof(uint32_t), keys.size(), file) != keys.size())
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

struct Lists {
    uint32_t *keys, *sorted_keys, *numbers, *sorted_numbers;
    void *scratch = nullptr;
    size_t scratch_bytes = 0;
    int count, bits;
};

static void sort(Lists &lists)
{
    check(cub::DeviceRadixSort::SortPairs(lists.scratch, lists.scratch_bytes, lists.keys, lists.sorted_keys,
                                          lists.numbers, lists.sorted_numbers, lists.count, 0, lists.bits),
          "sorting");
}

static Lists make_lists(const std::vector<uint32_t> &keys, int bits)
{
    Lists lists;
    lists.count = static_cast<int>(keys.size());
    lists.bits = bits;
    const size_t bytes = keys.size() * sizeof(uint32_t);
    for (uint32_t **list : {&lists.keys, &lists.sorted_keys, &lists.numbers, &lists.sorted_numbers})
        check(cudaMalloc(reinterpret_cast<void **>(list), bytes), "memory for a list");
    std::vector<uint32_t> numbers(keys.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    check(cudaMemcpy(lists.keys, keys.data(), bytes, cudaMemcpyHostToDevice), "copying the keys");
    check(cudaMemcpy(lists.numbers, numbers.data(), bytes, cudaMemcpyHostToDevice), "copying the numbers");
    sort(lists); // without scratch memory it only says how much it needs
    check(cudaMalloc(&lists.scratch, lists.scratch_bytes), "scratch memory");
    return lists;
}

static void free_lists(const Lists &lists)
{
    for (void *list :
         {static_cast<void *>(lists.keys), static_cast<void *>(lists.sorted_keys),
          static_cast<void *>(lists.numbers), static_cast<void *>(lists.sorted_numbers), lists.scratch})
        check(cudaFree(list), "freeing memory");
}

// Milliseconds of a sort in each of `repeats` rows of ROW back to back (bench pic-sort makes rows of up to as
// many), in ascending order, after two that are not timed.
const int ROW = 16;

static std::vector<float> time_sorts(Lists &lists, int repeats)
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

// Whether the numbers are the permutation of a stable sort on the host, which counts the keys.
static bool is_right(const Lists &lists, const std::vector<uint32_t> &keys)
{
    std::vector<uint32_t> numbers(keys.size());
    std::vector<size_t> places((size_t{1} << lists.bits) + 1, 0);
    check(cudaMemcpy(numbers.data(), lists.sorted_numbers, keys.size() * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost),
          "copying the result");
    for (const uint32_t key : keys)
        places[key + size_t{1}]++;
    std::partial_sum(places.begin(), places.end(), places.begin());
    for (size_t n = 0; n < keys.size(); n++)
        if (numbers[places[keys[n]]++] != n)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    const int bits = argc > 3 ? std::atoi(argv[1]) : 0, repeats = argc > 3 ? std::atoi(argv[2]) : 0;
    if (bits < 1 || bits > 32 || repeats < 1) {
        std::fprintf(stderr, "usage: compare_cub BITS REPEATS KEYS...\n");
        return 2;
    }
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "the device's name");
    for (int n = 3; n < argc; n++) {
        const std::vector<uint32_t> keys = read_keys(argv[n]);
        Lists lists = make_lists(keys, bits);
        const std::vector<float> times = time_sorts(lists, repeats);
        const float median = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
        std::printf("%.6f %.6f %.6f %s %s\n", median, times.front(), times.back(),
                    is_right(lists, keys) ? "yes" : "no", properties.name);
        free_lists(lists);
    }
    return 0;
}
