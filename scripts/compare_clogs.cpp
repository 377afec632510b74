// The keys of a file sorted by clogs and by radixpic/sort.h, for scripts/compare_cub.sh: 32-bit keys and
// their numbers, by the lowest BITS bits, on the device of that name. Prints for each "name median min max
// verified", times in ms.
#include <clogs/clogs.h>
#include <radixpic/sort.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using Call = std::function<void()>;

static cl::Device device;
static cl::Context context;
static cl::CommandQueue queue;
static std::vector<cl_uint> keys, numbers;
static cl_uint bits;
static int repeats;

static void open_device(const std::string &name)
{
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (cl::Platform &platform : platforms) {
        std::vector<cl::Device> found;
        platform.getDevices(CL_DEVICE_TYPE_ALL, &found);
        for (cl::Device &one : found)
            device = one.getInfo<CL_DEVICE_NAME>().c_str() == name ? one : device;
    }
    context = cl::Context(device);
    queue = cl::CommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE);
}

static cl::Buffer list_of(size_t words, std::vector<cl_uint> *contents = nullptr)
{
    return cl::Buffer(context, CL_MEM_READ_WRITE | (contents ? CL_MEM_COPY_HOST_PTR : 0),
                      words * sizeof(cl_uint), contents ? contents->data() : nullptr);
}

// Milliseconds of one call, of ROW back to back between two markers.
static double time_row(const Call &call)
{
    const int ROW = 16;
    cl::Event begin, end;
    clEnqueueMarkerWithWaitList(queue(), 0, nullptr, &begin());
    for (int n = 0; n < ROW; n++)
        call();
    clEnqueueMarkerWithWaitList(queue(), 0, nullptr, &end());
    queue.finish();
    const cl_ulong first = begin.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    return 1e-6 * static_cast<double>(end.getProfilingInfo<CL_PROFILING_COMMAND_END>() - first) / ROW;
}

// A call of `sort` leaves `sorted`, and has done `besides` too.
static void report(const char *name, const cl::Buffer &sorted, const Call &sort, const Call &besides)
{
    std::vector<cl_uint> expected = numbers, found = numbers;
    std::stable_sort(expected.begin(), expected.end(),
                     [](cl_uint a, cl_uint b) { return keys[a] < keys[b]; });
    std::vector<double> times;
    for (int n = 0; n < repeats + 2; n++) {
        const double rest = time_row(besides), all = time_row(sort);
        if (n >= 2)
            times.push_back(all - rest);
    }
    std::sort(times.begin(), times.end());
    queue.enqueueReadBuffer(sorted, CL_TRUE, 0, found.size() * sizeof(cl_uint), found.data());
    std::printf("%s %.6f %.6f %.6f %s\n", name, (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2,
                times.front(), times.back(), found == expected ? "yes" : "no");
}

// It sorts in place: keys and numbers are copied before each sort.
static void time_clogs(const cl::Buffer &given)
{
    const size_t count = keys.size(), bytes = count * sizeof(cl_uint);
    cl::Buffer from = list_of(count, &numbers), sorted_keys = list_of(count), sorted = list_of(count);
    clogs::Radixsort sorter(context, device, clogs::Type(clogs::TYPE_UINT), clogs::Type(clogs::TYPE_UINT));
    sorter.setTemporaryBuffers(list_of(count), list_of(count));
    const Call copy = [&] {
        queue.enqueueCopyBuffer(given, sorted_keys, 0, 0, bytes);
        queue.enqueueCopyBuffer(from, sorted, 0, 0, bytes);
    };
    report(
        "clogs", sorted,
        [&] {
            copy();
            sorter.enqueue(queue, sorted_keys, sorted, count, bits);
        },
        copy);
}

static void time_radixpic(const cl::Buffer &given)
{
    const cl_uint count = static_cast<cl_uint>(keys.size()), cells = bits <= 20 ? 1u << bits : 0;
    const cl::Buffer permutation = list_of(count), offsets = list_of(cells + 1);
    const radixpic_sorter_shape shape = {count, sizeof(cl_uint), bits, cells, 0};
    const radixpic_sorter_lists lists = {given(), permutation(), nullptr, cells > 0 ? offsets() : nullptr};
    radixpic_sorter *sorter = nullptr;
    if (radixpic_sorter_create(context(), device(), &shape, nullptr, &sorter) != RADIXPIC_OK)
        throw std::runtime_error(radixpic_error());
    const Call sort = [&] {
        if (radixpic_sorter_sort(sorter, queue(), count, &lists, 0, nullptr, nullptr) != RADIXPIC_OK)
            throw std::runtime_error(radixpic_error());
    };
    report("radixpic/sort.h", permutation, sort, [] {});
    radixpic_sorter_destroy(&sorter);
}

int main(int, char **argv) // BITS REPEATS DEVICE KEYS
try {
    bits = static_cast<cl_uint>(std::stoul(argv[1]));
    repeats = std::stoi(argv[2]);
    open_device(argv[3]);
    std::ifstream file(argv[4], std::ios::binary | std::ios::ate);
    keys.resize(static_cast<size_t>(file.tellg()) / sizeof(cl_uint));
    file.seekg(0).read(reinterpret_cast<char *>(keys.data()),
                       static_cast<std::streamsize>(keys.size() * sizeof(cl_uint)));
    numbers.resize(keys.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    const cl::Buffer given = list_of(keys.size(), &keys);
    time_clogs(given);
    time_radixpic(given);
    return 0;
} catch (const std::exception &problem) {
    std::fprintf(stderr, "compare_clogs: %s\n", problem.what());
    return 1;
}
