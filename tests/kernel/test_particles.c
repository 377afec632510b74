/* Particles: a list that grows keeps what it has, in whatever arrays there are. */
#include "support/device_fixture.h"

#include "domain/particles.h"

#include <string.h>

enum { COUNT = 1000, ROOM = 1200, MORE = 5000, SEED = 17, ARRAYS = 5 };

static const struct grid_config box = {.cells = {8, 6}, .length = {1, 1}};

/* What a list consists of. */
struct scene_kind {
    enum precision precision;
    bool quads, ids, keys;
};

struct scene {
    struct species_config species;
    struct particles list;
    unsigned char *bytes[ARRAYS]; /* owned: what was written, or NULL */
};

static struct buffer **array_of(struct particles *list, int array)
{
    struct buffer **const arrays[ARRAYS] = {&list->offset, &list->velocity, &list->quad, &list->id,
                                            &list->key};
    return arrays[array];
}

static struct buffer **spare_of(struct particles *list, int array)
{
    struct buffer **const arrays[ARRAYS] = {&list->offset_spare, &list->velocity_spare, &list->quad_spare,
                                            &list->id_spare, &list->key_spare};
    return arrays[array];
}

static size_t bytes_of_each(const struct scene_kind *kind, int array)
{
    const size_t pair = 2 * precision_bytes(kind->precision);
    const size_t each[ARRAYS] = {pair, pair, 2 * pair, sizeof(uint64_t), sizeof(uint32_t)};
    return each[array];
}

/* Quads in place of pairs, and no keys, as a fused step leaves them. */
static void change_layout(const struct scene_kind *kind, struct particles *list)
{
    if (kind->quads) {
        const size_t bytes = ROOM * bytes_of_each(kind, 2);
        for (int array = 0; array < 2; array++) {
            buffer_destroy(array_of(list, array));
            buffer_destroy(spare_of(list, array));
        }
        assert_ok(buffer_create(device, bytes, "quads", &list->quad));
        assert_ok(buffer_create(device, bytes, "spare quads", &list->quad_spare));
    }
    if (!kind->keys) {
        buffer_destroy(&list->key);
        buffer_destroy(&list->key_spare);
    }
}

static void scene_create(const struct scene_kind *kind, struct scene *scene)
{
    const struct grid grid = grid_make(&box);
    const struct slab slab = slab_whole_box(&grid);
    *scene = (struct scene){
        .species = {
            .name = "test", .charge = 1, .mass = 1, .density = 1, .particles = COUNT, .ids = kind->ids}};
    assert_ok(particles_create_list(device, &slab, kind->precision, &scene->species, ROOM, &scene->list));
    change_layout(kind, &scene->list);
    scene->list.count = COUNT;
    uint32_t random = SEED;
    for (int array = 0; array < ARRAYS; array++) {
        struct buffer *buffer = *array_of(&scene->list, array);
        const size_t bytes = COUNT * bytes_of_each(kind, array);
        if (!buffer)
            continue;
        scene->bytes[array] = malloc(bytes);
        assert_non_null(scene->bytes[array]);
        for (size_t n = 0; n < bytes; n++)
            scene->bytes[array][n] = (unsigned char)((random = random * 1664525 + 1013904223) >> 24);
        assert_ok(buffer_write(buffer, 0, bytes, scene->bytes[array]));
        assert_ok(buffer_fill(*spare_of(&scene->list, array), 0));
    }
}

static void scene_destroy(struct scene *scene)
{
    particles_destroy(&scene->list);
    for (int array = 0; array < ARRAYS; array++)
        free(scene->bytes[array]);
}

/* What was written is there, in the arrays that were there, with room for `capacity` particles in each. */
static void check_list(const struct scene_kind *kind, struct scene *scene, uint32_t capacity)
{
    unsigned char bytes[COUNT * 4 * sizeof(double)];
    assert_int_equal(scene->list.count, COUNT);
    assert_int_equal(scene->list.capacity, capacity);
    for (int array = 0; array < ARRAYS; array++) {
        struct buffer *buffer = *array_of(&scene->list, array), *spare = *spare_of(&scene->list, array);
        const size_t each = bytes_of_each(kind, array);
        if (!scene->bytes[array]) {
            assert_true(!buffer && !spare);
            continue;
        }
        assert_true(buffer && spare && buffer != spare);
        assert_int_equal(buffer_bytes(buffer), capacity * each);
        assert_int_equal(buffer_bytes(spare), capacity * each);
        assert_ok(buffer_read(buffer, 0, COUNT * each, bytes));
        assert_memory_equal(bytes, scene->bytes[array], COUNT * each);
    }
}

/* Bytes of both arrays of every kind, for each particle. */
static size_t bytes_of_particle(const struct scene_kind *kind)
{
    const size_t pair = 2 * precision_bytes(kind->precision);
    return 2 * (2 * pair + (kind->ids ? sizeof(uint64_t) : 0) + (kind->keys ? sizeof(uint32_t) : 0));
}

static void check_reserve(const struct scene_kind *kind)
{
    struct scene scene;
    scene_create(kind, &scene);
    const size_t held = device_bytes_held(device);
    const struct particles before = scene.list;
    for (uint32_t capacity = 0; capacity <= ROOM; capacity += ROOM / 2) { /* there is room enough */
        assert_ok(particles_reserve(device, kind->precision, capacity, &scene.list));
        assert_memory_equal(&scene.list, &before, sizeof before);
    }
    check_list(kind, &scene, ROOM);
    uint32_t last = ROOM;
    const uint32_t capacities[] = {ROOM + 1, MORE};
    for (int n = 0; n < 2; n++) {
        assert_ok(particles_reserve(device, kind->precision, capacities[n], &scene.list));
        check_list(kind, &scene, capacities[n]);
        assert_ptr_equal(scene.list.cell_offsets, before.cell_offsets);
        last = capacities[n];
        assert_int_equal(device_bytes_held(device), held + (last - ROOM) * bytes_of_particle(kind));
    }
    scene_destroy(&scene);
}

static void a_list_that_grows_keeps_what_it_has(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 16; n++) {
        const struct scene_kind kind = {n & 1 ? PRECISION_DOUBLE : PRECISION_SINGLE, n & 2, n & 4, n & 8};
        check_reserve(&kind);
    }
}

/* The device still works on the list, and on what is then destroyed. */
static void a_list_in_use_grows(void **state)
{
    (void)state;
    const struct scene_kind kind = {PRECISION_DOUBLE, false, true, true};
    enum { ROUNDS = 20 };
    for (int round = 0; round < ROUNDS; round++) {
        struct scene scene;
        scene_create(&kind, &scene);
        for (int array = 0; array < ARRAYS; array++) {
            if (!scene.bytes[array])
                continue;
            struct buffer **list = array_of(&scene.list, array), **spare = spare_of(&scene.list, array);
            assert_ok(buffer_copy(*list, *spare, COUNT * bytes_of_each(&kind, array), STAGE_OTHER));
            buffer_swap(*list, *spare);
        }
        assert_ok(particles_reserve(device, kind.precision, MORE, &scene.list));
        check_list(&kind, &scene, MORE);
        scene_destroy(&scene);
    }
}

/* Nobody is in it. */
static void an_empty_list_grows(void **state)
{
    (void)state;
    const struct scene_kind kind = {PRECISION_SINGLE, true, true, false};
    struct scene scene;
    scene_create(&kind, &scene);
    scene.list.count = 0;
    assert_ok(particles_reserve(device, kind.precision, MORE, &scene.list));
    assert_int_equal(scene.list.count, 0);
    assert_int_equal(scene.list.capacity, MORE);
    assert_int_equal(buffer_bytes(scene.list.quad), MORE * 4 * sizeof(float));
    scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_that_grows_keeps_what_it_has),
        cmocka_unit_test(a_list_in_use_grows),
        cmocka_unit_test(an_empty_list_grows),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
