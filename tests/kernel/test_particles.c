/* Particles: a list that grows keeps what it has, in either layout. */
#include "support/sorted_particles.h"

#include "support/device_fixture.h"

enum { COUNT = 1000, ROOM = 1200, MORE = 5000, CELLS = 48 };

struct scene {
    struct species_config species;
    struct device *branch; /* that owns the list */
    struct particles list;
    struct sorted_particles host;
};

/* Number n of sixteen kinds: layout, ids, precision, w. */
static void scene_create(unsigned n, struct scene *scene)
{
    const struct grid grid = grid_make(&(struct grid_config){.cells = {8, CELLS / 8}, .length = {1, 1}});
    const struct slab slab = slab_whole_box(&grid);
    const bool is_double = n & 4 && device_info(device)->has_fp64;
    *scene = (struct scene){.species = sorted_species(COUNT, n & 2, n & 8)};
    assert_ok(device_branch(device, &scene->branch));
    assert_ok(particles_create(scene->branch, &slab, is_double ? PRECISION_DOUBLE : PRECISION_SINGLE,
                               n & 1 ? LAYOUT_AOS : LAYOUT_SOA, &scene->species, ROOM, &scene->list));
    scene->host.cells = CELLS;
    sorted_particles_allocate(COUNT, &scene->host);
    for (uint32_t p = 0; p < COUNT; p++)
        sorted_particles_add(&scene->host, p < 7 ? 3 : CELLS - 1, (const double[]){p * 0x1p-10, 0.5, p, -7},
                             UINT64_C(1) << 40 | p);
    scene->list.count = COUNT;
    sorted_particles_write(&scene->host, &scene->list);
}

/* What was written is there, and each array has room for `capacity` particles. */
static void check(struct scene *scene, uint32_t capacity)
{
    struct particles *list = &scene->list;
    struct particle_array arrays[ATTRIBUTES];
    size_t bytes = 0;
    sorted_particles_check(&scene->host, list);
    assert_int_equal(list->capacity, capacity);
    for (uint32_t n = particles_arrays(list, arrays); n-- > 0;) {
        assert_ptr_not_equal(*arrays[n].now, *arrays[n].spare);
        assert_int_equal(buffer_bytes(*arrays[n].now), capacity * arrays[n].bytes);
        assert_int_equal(buffer_bytes(*arrays[n].spare), capacity * arrays[n].bytes);
        bytes += 2 * capacity * arrays[n].bytes;
    }
    assert_int_equal(bytes,
                     2 * (size_t)capacity *
                         ((2 + species_dimensions(&scene->species)) * precision_bytes(list->precision) +
                          (scene->species.ids ? 8 : 0)));
    assert_int_equal(device_bytes_held(device), bytes + (CELLS + 1) * sizeof(uint32_t));
}

TEST(a_list_that_grows_keeps_what_it_has)
{
    for (unsigned n = 0; n < 16; n++) {
        struct scene scene;
        scene_create(n, &scene);
        const struct particles before = scene.list;
        for (uint32_t capacity = 0; capacity <= ROOM; capacity += ROOM / 2) { /* there is room enough */
            assert_ok(particles_reserve(&scene.list, capacity));
            assert_memory_equal(&scene.list, &before, sizeof before);
        }
        check(&scene, ROOM);
        for (uint32_t capacity = ROOM + 1; capacity <= MORE; capacity += MORE - ROOM - 1) {
            assert_ok(particles_reserve(&scene.list, capacity));
            check(&scene, capacity);
            assert_ptr_equal(scene.list.cell_offsets, before.cell_offsets);
        }
        device_close(&scene.branch);
        assert_int_equal(device_bytes_held(device), 0);
    }
}

/* The device still works on the list, and on what is then destroyed. */
TEST(a_list_in_use_grows)
{
    for (unsigned n = 0; n < 20; n++) {
        struct scene scene;
        struct particle_array arrays[ATTRIBUTES];
        scene_create(n, &scene);
        for (uint32_t a = particles_arrays(&scene.list, arrays); a-- > 0;)
            assert_ok(
                buffer_copy(*arrays[a].now, 0, *arrays[a].spare, 0, COUNT * arrays[a].bytes, STAGE_OTHER));
        particles_swap(&scene.list);
        assert_ok(particles_reserve(&scene.list, MORE));
        check(&scene, MORE);
        device_close(&scene.branch);
    }
}

TEST(an_empty_list_grows)
{
    struct scene scene;
    scene_create(3, &scene);
    scene.list.count = scene.host.particles.count = 0;
    sorted_particles_write(&scene.host, &scene.list);
    assert_ok(particles_reserve(&scene.list, MORE));
    check(&scene, MORE);
    device_close(&scene.branch);
}

TEST_MAIN(open_device, close_device)
