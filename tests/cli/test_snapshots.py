"""output.snapshots: what is chosen is in the files and nothing else, on any number of ranks, and openPMD all the
same."""

import re

import h5py
import numpy as np

from program import MPI_ENVIRONMENT, PROGRAM, ProgramTest, sets
from radixpic import fields as meshes
from radixpic.run_folder import Run

FIELDS = {"E": "E", "phi": "phi", "rho": "chargeDensity"}


def is_chosen(ids, fraction):
    """By the upper 53 bits of number `id` of SplitMix64."""
    z = (ids + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(11) < np.uint64(fraction * 2**53)


def components(meshes):
    """The names of all arrays, RECORD or RECORD/COMPONENT."""
    names = []
    meshes.visititems(lambda name, node: names.append(name) if isinstance(node, h5py.Dataset) else None)
    return names


class Snapshots(ProgramTest):
    def setUp(self):
        super().setUp()
        self.add_species("{name: ions, charge: 1, mass: 1836, density: 1, particles: 3000, ids: true}")

    def snapshots(self, *settings, folder="out", ranks=1, more=()):
        """What the files of the steps 0 and 10 hold of a run with these keys below output.snapshots."""
        command = ["run", "small.yaml", "--force", "--quiet", "--steps", "10", "--output", folder, *more]
        launcher = {"command": ("mpirun", "-n", str(ranks), PROGRAM), "environment": MPI_ENVIRONMENT}
        keys = sets(*(f"output.snapshots.{setting}" for setting in settings))
        self.run_well(*command, *keys, **(launcher if ranks > 1 else {}))
        paths = [self.folder / folder / "snapshots" / f"data_{step}.h5" for step in (0, 10)]
        checked = self.run_script("check_openpmd.py", "--quiet", *paths)
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)
        files = [h5py.File(path) for path in paths]
        for file in files:
            self.addCleanup(file.close)
        return [file["data"][step] for file, step in zip(files, ("0", "10"))]

    def snapshot(self, *settings, **options):
        return self.snapshots(*settings, **options)[1]

    def test_charge_and_moments_of_each_species(self):
        """The charge densities add up to rho to round-off; moments are those of their own files; and nothing else
        changes."""
        deposit = ["deposit.filter_passes=2", "deposit.filter_compensator=true", "output.moments.every=10"]
        deposit.append("species.electrons.velocities={kind: maxwellian, drift: [1, 0]}")
        for ranks, more in (
            (1, []),
            (3, ["fields.decomposition=slabs"]),
            (3, ["fields.decomposition=replicated", "precision=double"]),
        ):
            more = sets(*deposit, *more)
            plain = self.snapshot("fields=[rho,E,phi]", folder="plain", ranks=ranks, more=more)["fields"]
            every = "fields=[rho,E,phi,species_rho,moments]"
            found = self.snapshot(every, "precision=single", ranks=ranks, more=more)["fields"]
            smoothing = found["chargeDensity"].attrs["fieldSmoothingParameters"]
            self.assertEqual(smoothing, b"period=1;numPasses=2;compensator=true")
            parts = [found[f"{name}_chargeDensity"][...].astype(float) for name in ("electrons", "ions")]
            # of parts of about 1
            np.testing.assert_allclose(sum(parts), found["chargeDensity"][...], rtol=0, atol=4e-6)
            self.assertGreater(np.std(parts[0]), 0.01)
            self.assertLess(np.abs(np.mean(parts, axis=(1, 2)) - [-1, 1]).max(), 1e-5)
            for name in ("chargeDensity", "E/x", "phi"):
                np.testing.assert_array_equal(found[name], plain[name][...].astype("f4"))
            self.assertEqual(self.read("plain/history.csv"), self.read("out/history.csv"))
            with h5py.File(self.folder / "out" / "moments" / "moments_10.h5") as file:
                moments = file["data/10/fields"]
                self.assertEqual(len(moments), 12)
                for name in components(moments):
                    np.testing.assert_array_equal(found[name], moments[name][...].astype("f4"))
                    self.assertEqual(found[name].attrs["unitSI"], moments[name].attrs["unitSI"])
        test = sets("species.ions.charge_density=false")
        self.assertNotIn("ions_chargeDensity", self.snapshot("fields=[species_rho]", more=test)["fields"])

    def test_fields_and_species(self):
        whole = self.snapshot(folder="whole")
        self.assertEqual(sorted(whole["fields"]), sorted(FIELDS.values()))
        self.assertEqual(sorted(whole["particles"]), ["electrons", "ions"])
        for fields, species in ((["rho"], ["ions"]), (["phi", "E"], []), ([], ["electrons", "ions"]), ([], [])):
            with self.subTest(fields=fields, species=species):
                names = [f"{key}=[{', '.join(values)}]" for key, values in (("fields", fields), ("species", species))]
                data = self.snapshot(*names)
                self.assertEqual(sorted(data["fields"]), sorted(FIELDS[field] for field in fields))
                self.assertEqual(sorted(data["particles"]), species)
                for group in ("fields", "particles"):
                    for name in data[group]:
                        self.assert_same(data[group][name], whole[group][name])
        self.assertEqual(list(self.snapshot("particles=none")["particles"]), [])

    def test_the_potential_is_solved_where_it_is_written(self):
        launches = []
        for fields in ("[E, rho]", "[E, phi, rho]"):
            self.snapshot(f"fields={fields}", "every=10")
            rows = {row["stage"]: row for row in self.assert_whole_rows(self.folder / "out" / "timers.csv")}
            launches.append(int(rows["field"]["launches"]))
        self.assertLess(*launches)

    def test_chosen_particles(self):
        """They are those of the whole snapshot, in its order; their weights sum to those of all."""
        ways = (
            ("every_nth: 7", lambda ids: np.arange(len(ids)) % 7 == 0),
            ("fraction: 0.1", lambda ids: is_chosen(ids, 0.1)),
            ("every_nth: 4000", lambda ids: np.arange(len(ids)) % 4000 == 0),
            ("fraction: 1", lambda ids: ids >= 0),
            ("fraction: 0", lambda ids: ids < 0),
        )
        for ranks, more, count in ((1, sets("precision=double"), 5), (1, sets("step.method=fused"), 2), (3, [], 2)):
            wholes = self.snapshots(folder="whole", ranks=ranks, more=more)
            for setting, choose in ways[:count]:
                found = self.snapshots(f"particles={{{setting}}}", ranks=ranks, more=more)
                pairs = [(*pair, name) for pair in zip(found, wholes) for name in ("electrons", "ions")]
                for data, whole, name in pairs:
                    with self.subTest(ranks=ranks, more=more, setting=setting, name=name):
                        self.assert_chosen(data["particles"][name], whole["particles"][name], choose)

    def assert_records(self, species, whole, chosen):
        vectors = [f"{name}/{axis}" for name in ("position", "positionOffset", "momentum") for axis in "xy"]
        for record in [*vectors, "id"]:
            np.testing.assert_array_equal(species[record], whole[record][...][chosen], record)
            self.assertEqual(species[record].dtype, whole[record].dtype)
        self.assertEqual(species["weighting"].attrs["shape"], [np.sum(chosen)])

    def assert_chosen(self, species, whole, choose):
        chosen = choose(whole["id"][...])
        self.assert_records(species, whole, chosen)
        count, weights = np.sum(chosen), [one["weighting"].attrs["value"] for one in (species, whole)]
        self.assertAlmostEqual(weights[0] / weights[1] * max(count, 1) / (len(chosen) if count else 1), 1, delta=1e-14)

    CONDITION = "energy > lx/12 && x < lx/2 || charge > 0 && (y >= ly/2 ? x : 0) > 4"

    @staticmethod
    def fulfils(species):
        x, y = (
            (species[f"positionOffset/{axis}"][...] + species[f"position/{axis}"][...].astype(float)) / cells * length
            for axis, cells, length in (("x", 16, 6), ("y", 8, 4)))
        charge, mass = (species[name].attrs["value"] for name in ("charge", "mass"))
        energy = sum(momentum[...].astype(float) ** 2 for momentum in species["momentum"].values()) / (2 * mass)
        return (energy > 0.5) & (x < 3) | (charge > 0) & (y >= 2) & (x > 4)

    def test_particles_by_condition(self):
        """Those of the sample that fulfil it, each with the weight that the sample gives it."""
        ways = (
            ("", lambda ids: ids >= 0),
            (", every_nth: 7", lambda ids: np.arange(len(ids)) % 7 == 0),
            (", fraction: 0.1", lambda ids: is_chosen(ids, 0.1)),
            (", fraction: 0", lambda ids: ids < 0),
        )
        for ranks, more, count in ((1, sets("precision=double"), 4), (1, sets("step.method=fused"), 1), (3, [], 3)):
            more = [*more, *sets("species.ions.velocities=maxwellian")]
            wholes = self.snapshots(folder="whole", ranks=ranks, more=more)
            for sample, choose in ways[:count]:
                found = self.snapshots(f"particles={{where: '{self.CONDITION}'{sample}}}", ranks=ranks, more=more)
                for data, whole in zip(found, wholes):
                    for name in ("electrons", "ions"):
                        with self.subTest(ranks=ranks, more=more, sample=sample, name=name):
                            species, all_of = data[f"particles/{name}"], whole[f"particles/{name}"]
                            of_sample = choose(all_of["id"][...])
                            chosen = of_sample & self.fulfils(all_of)
                            self.assertEqual(np.any(of_sample), 0 < np.sum(chosen) < np.sum(of_sample))
                            self.assert_records(species, all_of, chosen)
                            weights = [one["weighting"].attrs["value"] for one in (species, all_of)]
                            share = np.mean(of_sample) or 1
                            self.assertAlmostEqual(weights[0] / weights[1] * share, 1, delta=1e-14)

    def test_a_condition_that_is_not_a_number_is_not_fulfilled(self):
        x = self.snapshot("particles={where: 'sqrt(x - lx/2)'}")["particles/electrons"]
        places = x["positionOffset/x"][...] + x["position/x"][...]
        self.assertTrue(0 < len(places) < 4000)
        self.assertGreater(np.min(places), 8)

    def test_a_condition_that_no_particle_fulfils(self):
        """All readers take the file."""
        data = self.snapshot("particles={where: energy > 1e9}", ranks=2)
        self.assertEqual((data["particles/ions/id"].shape, data["particles/ions/momentum/x"].shape), ((0,), (0,)))
        self.assertEqual(list(data["particles/ions/particlePatches/numParticles"]), [0, 0])
        self.assertEqual(len(Run(self.folder / "out").particles("electrons", 10).x), 0)

    def test_the_same_particles_on_any_ranks_and_at_all_times(self):
        ids = [
            [sorted(data[f"particles/{name}/id"]) for name in ("electrons", "ions")]
            for ranks in (1, 3)
            for data in self.snapshots("particles={fraction: 0.03}", ranks=ranks)
        ]
        for other in ids[1:]:
            self.assertEqual(ids[0], other)
        self.assertAlmostEqual(len(ids[0][0]), 0.03 * 4096, delta=6 * (0.03 * 4096) ** 0.5)

    def test_meshes_of_a_part_of_the_box(self):
        """Each every second or third node of a range, at the places of these nodes; a rank may have none of them."""
        fields = "fields=[E,phi,rho,species_rho,moments]"
        ways = (
            ("mesh_range=[[1.2, 4.1], [0, 4]]", "mesh_stride=[2, 3]", np.s_[4:11:2, ::3]),  # spacings 0.375 and 0.5
            ("mesh_range=[[0, 0], [1.5, 2.5]]", "mesh_stride=[1, 1]", np.s_[:, 3:6]),
            ("mesh_range=[[0, 0], [0, 0]]", "mesh_stride=[5, 1]", np.s_[::5, :]),
            ("mesh_range=[[0.375, 0.375], [0, 0]]", "mesh_stride=[1, 8]", np.s_[1:2, :1]),
        )
        of_slabs = ["fields.decomposition=slabs", "output.snapshots.average=4"]
        for ranks, more in ((1, sets("precision=double")), (3, sets(*of_slabs))):
            whole = self.snapshot(fields, folder="whole", ranks=ranks, more=more)
            for *settings, part in ways:
                found = self.snapshot(fields, *settings, "precision=single", ranks=ranks, more=more)
                names = components(whole["fields"])
                self.assertEqual(components(found["fields"]), names)
                with self.subTest(ranks=ranks, settings=settings):
                    for name in names:
                        values = whole["fields"][name][...][part].astype("f4")
                        np.testing.assert_array_equal(found["fields"][name], values, name)
                        places = []
                        for data, cut in ((found, np.s_[:, :]), (whole, part)):
                            file = meshes.Snapshot(data.file.filename)
                            read, origin, spacing = meshes.read_mesh(file, name, si=False)
                            place = [origin[n] + spacing[n] * np.arange(count) for n, count in enumerate(read.shape)]
                            places.append([along[cut[n]] for n, along in enumerate(place)])
                        for along, wanted in zip(*places):
                            np.testing.assert_allclose(along, wanted, rtol=0, atol=1e-12, err_msg=name)
                    self.assertEqual(list(found["fields/phi"].attrs["boxCells"]), [16, 8])

    def test_single_precision_of_a_double_run(self):
        run, rounded = (self.snapshot(f"precision={word}", more=sets("precision=double")) for word in ("run", "single"))
        names = [f"fields/{name}" for name in ("E/x", "E/y", "phi", "chargeDensity")]
        names += [f"particles/electrons/{name}" for name in ("position/x", "position/y", "momentum/x", "momentum/y")]
        for name in names:
            self.assertEqual((run[name].dtype, rounded[name].dtype), (np.float64, np.float32), name)
            np.testing.assert_array_equal(rounded[name], run[name][...].astype(np.float32), name)

    def test_a_fraction_needs_ids(self):
        settings = ["species.ions.ids=false", "output.snapshots.particles={fraction: 0.5}"]
        words = ["which species ions does not carry", "set species.ions.ids=true"]
        self.refuse(2, words, "run", "small.yaml", *sets(*settings))
        self.run_well("check", "small.yaml", *sets(*settings, "output.snapshots.species=[electrons]"))

    def assert_same(self, group, expected):
        """Every number of a group or array."""
        if isinstance(group, h5py.Dataset):
            np.testing.assert_array_equal(group, expected)
            return
        self.assertEqual(list(group), list(expected))
        for name in group:
            self.assert_same(group[name], expected[name])

    def test_lengths_without_a_mesh(self):
        kinds = (self.snapshot(*settings).file.filename for settings in ([], ["fields=[]"]))
        lengths = [meshes.length_unit(meshes.Snapshot(name)) for name in kinds]  # each before the next overwrites it
        self.assertAlmostEqual(lengths[0] / lengths[1], 1, delta=1e-14)


class Moments(ProgramTest):
    """Of each species in every cell, in snapshots that have all particles too."""

    size, cells = (6, 4), (16, 8)

    def run_of(self, *settings, step=10):
        keys = ["output.snapshots.fields=[rho,moments]", "output.history.every=10", *settings]
        self.run_well("run", "small.yaml", "--force", "--quiet", "--steps", "10", *sets(*keys))
        path = self.folder / "out" / "snapshots" / f"data_{step}.h5"
        checked = self.run_script("check_openpmd.py", "--quiet", path)
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)
        file = h5py.File(path)
        self.addCleanup(file.close)
        return file["data"][str(step)]

    def expected(self, states, charge, mass, c=np.inf):
        """By the definitions, of the particles of all these states together, with u = gamma v."""
        x, y = (np.concatenate([state[f"positionOffset/{axis}"][...].astype(int) for state in states]) for axis in "xy")
        u = np.hstack([[values[...].astype(float) / mass for values in state["momentum"].values()] for state in states])
        cell, count = x * self.cells[1] + y, np.prod(self.cells)
        weight = np.prod(self.size) / len(cell) / (np.prod(self.size) / count)  # of mean density 1, a cell

        def sums(values):
            return np.bincount(cell, values, count)

        def about_mean(values):
            return values - (sums(values) / number)[cell]

        number = np.maximum(np.bincount(cell, minlength=count), 1)
        gamma = np.sqrt(1 + np.sum(u**2, axis=0) / c**2)
        v = u / gamma
        flow, flux = np.array([sums(one) / number for one in v]), about_mean(np.sum(u**2, axis=0) / (1 + gamma))
        from_u, from_v = (np.array([about_mean(one) for one in values]) for values in (u, v))
        pressure = np.array([[mass * weight * sums(a * b) for b in from_v] for a in from_u])
        pressure = (pressure + pressure.swapaxes(0, 1)) / 2
        found = {"density": weight * sums(None)}
        found["temperature"] = (np.trace(pressure) / len(u) / np.maximum(found["density"], weight)
            / np.sqrt(1 - np.sum(flow**2, axis=0) / c**2))
        for a, axis in enumerate("xyz"[: len(u)]):
            found[f"velocity/{axis}"] = sums(u[a]) / number
            found[f"J/{axis}"] = charge * weight * sums(v[a])
            found[f"heatFlux/{axis}"] = mass * weight * sums(flux * from_v[a]) - np.sum(flow * pressure[a], axis=0)
            for b, other in enumerate("xyz"[: a + 1]):
                found[f"pressure/{other}{axis}"] = pressure[a, b]
        return {name: values.reshape(self.cells) for name, values in found.items()}

    def assert_expected(self, data, name, tolerance, states=None, **species):
        """states: of whose particles together; those of data itself."""
        expected = self.expected([state[f"particles/{name}"] for state in states or [data]], **species)
        names = [each for each in components(data["fields"]) if each.startswith(f"{name}_")]
        self.assertEqual({each.partition("_")[2] for each in names}, set(expected))
        for each, values in expected.items():
            found = data[f"fields/{name}_{each}"][...]
            np.testing.assert_allclose(found, values, rtol=0, atol=tolerance * np.abs(values).max(), err_msg=each)

    def test_of_particles_and_of_a_drifting_distribution(self):
        ions = "{name: ions, charge: 2, mass: 9, density: 1, particles: 700, velocities: {kind: maxwellian}}"
        self.add_species(ions)
        drifting = "{kind: maxwellian, dimensions: 3, thermal: [1, 0.5, 2], drift: [3, 0, -1]}"
        keys = [f"species.electrons.velocities={drifting}", "species.electrons.particles=65536", "time.step=0.001"]
        data = self.run_of(*keys)
        self.assert_expected(data, "electrons", 1e-5, charge=-1, mass=1)
        self.assert_expected(data, "ions", 1e-5, charge=2, mass=9)
        means = {name: np.mean(data[f"fields/electrons_{name}"]) for name in self.expected(
            [data["particles/electrons"]], charge=-1, mass=1)}
        within = 1 - 128 / 65536  # about the mean of a cell's own particles
        for name, value in {"xx": 1, "yy": 0.25, "zz": 4, "xy": 0, "xz": 0, "yz": 0}.items():
            self.assertAlmostEqual(means[f"pressure/{name}"], value * within, delta=0.02)
        for axis, drift in zip("xyz", (3, 0, -1)):
            self.assertAlmostEqual(means[f"J/{axis}"], -drift, delta=0.01)
            self.assertAlmostEqual(means[f"heatFlux/{axis}"], 0, delta=0.03)

    def test_of_relativistic_particles_and_their_current(self):
        """Long waves of J are those of the solver, but for the shape of particles: sinc^2 on nodes, sinc in cells."""
        waves = ["fields={solver: electromagnetic, speed_of_light: 6}", "time.step=0.01", "precision=double"]
        waves.append("species.electrons.velocities={kind: maxwellian, dimensions: 3, thermal: [0.3, 0.3, 0.3]}")
        waves.append('species.electrons.profile={drift: ["0.2*sin(2*pi*x/lx)", 0, "cos(2*pi*x/lx)"]}')
        data = self.run_of(*waves, "output.snapshots.fields=[rho,J,moments]", "species.electrons.particles=32768")
        self.assert_expected(data, "electrons", 1e-12, charge=-1, mass=1, c=6)
        for axis in "xz":
            nodes, cells = (data[f"fields/{name}/{axis}"][...] for name in ("J", "electrons_J"))
            wave = np.exp(-2j * np.pi / 16 * np.arange(16))
            ratio = wave @ nodes.mean(axis=1) / (wave @ cells.mean(axis=1) * np.exp(-1j * np.pi / 16))
            self.assertAlmostEqual(ratio, np.sinc(1 / 16), delta=0.01)


    def test_a_relativistic_plasma_has_its_own_temperature(self):
        """T = 1 at c = 4, where m <|u - <u>|^2>/3 is 1.163, also where the plasma drifts, and <(u - <u>)(v - <v>)> is T
        over gamma of the drift: 0.89. 512 particles a cell, of which chance draws many twice: 0.5 % of the mean."""
        juttner = "species.electrons.velocities={kind: juttner, dimensions: 3, thermal: [1, 1, 1]}"
        light = ["fields={solver: electromagnetic, speed_of_light: 4}", "time.step=0.01", "output.snapshots.every=1"]
        drift = np.array([2, 0, 0])
        self.run_of(*light, juttner, "species.electrons.particles=65536", step=0)
        with h5py.File(self.folder / "out/snapshots/data_0.h5") as file:
            data = file["data/0"]
            self.assertAlmostEqual(np.mean(data["fields/electrons_temperature"]), 1, delta=0.005)
            u = np.array([values[...] for values in data["particles/electrons/momentum"].values()]).T.astype(float)
            place = [data[f"particles/electrons/{name}"][...] for name in ("position/x", "positionOffset/x")]
            other = [data[f"particles/electrons/{name}"][...] for name in ("position/y", "positionOffset/y")]
        fast = np.sqrt(1 + np.sum(drift**2) / 16)
        moved = u + drift * (np.sqrt(1 + np.sum(u**2, axis=1) / 16) + u @ drift / 16 / (fast + 1))[:, None]
        # in the frame of the grid those that go along are more: each particle stands with gamma'/gamma
        share = np.sqrt((1 + np.sum(moved**2, axis=1) / 16) / (1 + np.sum(u**2, axis=1) / 16)) / fast
        chosen = np.random.default_rng(1).choice(len(u), 65536, p=share / share.sum())
        x, y = (6 / 16 * (place[0] + place[1])[chosen], 4 / 8 * (other[0] + other[1])[chosen])
        np.save(self.folder / "fast.npy", np.column_stack([x, y, *moved[chosen].T]))
        self.run_of(*light, "species.electrons.positions={kind: file, file: fast.npy}", "species.electrons.perturb={}",
            "species.electrons.velocities={kind: file, dimensions: 3}", "species.electrons.particles=65536", step=0)
        with h5py.File(self.folder / "out/snapshots/data_0.h5") as file:
            self.assertAlmostEqual(np.mean(file["data/0/fields/electrons_temperature"]), 1, delta=0.02)

    def test_averages_are_of_the_particles_of_all_states(self):
        """By few particles a cell, in which there is none in some states; with ions of two velocities."""
        self.add_species("{name: ions, charge: 2, mass: 9, density: 1, particles: 700, velocities: {kind: maxwellian}}")
        drifting = "{kind: maxwellian, dimensions: 3, thermal: [1, 0.5, 2], drift: [3, 0, -1]}"
        light = ["fields={solver: electromagnetic, speed_of_light: 16}", "species.ions.push=false",
            "species.ions.velocities={kind: cold}", "time.step=0.01"]
        for c, more in ((np.inf, []), (16, light)):
            self.run_of(f"species.electrons.velocities={drifting}", "species.electrons.particles=200",
                "precision=double", "output.snapshots.every=1", "output.moments={every: 5, average: 5}", *more)
            with h5py.File(self.folder / "out/moments/moments_10.h5") as file:
                files = [h5py.File(self.folder / f"out/snapshots/data_{step}.h5") for step in range(6, 11)]
                states = [each[f"data/{step}"] for step, each in zip(range(6, 11), files)]
                self.assert_expected(file["data/10"], "electrons", 1e-12, states, charge=-1, mass=1, c=c)
                self.assert_expected(file["data/10"], "ions", 1e-12, states, charge=2, mass=9)
                for each in files:
                    each.close()

    def test_averages_of_half_a_particle_a_cell(self):
        """They come with the velocity and the temperature of the plasma: the mean of the states' own would be 2.0 and
        0.05. 64 particles have a temperature within 8 % and a velocity within 3 % by chance."""
        self.run_well("run", "small.yaml", "--quiet", "--steps", "400", *sets("species.electrons.particles=64",
            "species.electrons.charge=-1.0e-6", "species.electrons.perturb={}", "species.electrons.positions=random",
            "time.step=0.1", "output.snapshots.every=0", "output.moments={every: 400, average: 400}",
            "species.electrons.velocities={kind: maxwellian, generator: random, dimensions: 3, drift: [5, 0, 0]}"))
        with h5py.File(self.folder / "out/moments/moments_400.h5") as file:
            fields = file["data/400/fields"]
            density = fields["electrons_density"][...]
            for name, right in (("velocity/x", 5), ("temperature", 1)):
                found = np.average(fields[f"electrons_{name}"], weights=density)
                self.assertAlmostEqual(found, right, delta=0.1 * right, msg=name)


class Averages(ProgramTest):
    """Of all meshes, of lines and of a probe: against the states of every step, on ranks, and across restarts."""

    keys = {  # every and average
        "snapshots": (10, 4),
        "moments": (5, 5),
        "lines.axis": (8, 6),
        "probes.place": (4, 3),
    }
    steps = 23

    def setUp(self):
        super().setUp()
        self.add_species("{name: ions, charge: 1, mass: 1836, density: 1, particles: 3000}")

    def run_of(self, folder, *settings, each=False, ranks=1, more=()):
        """`each`: every step by itself."""
        keys = ["precision=double", "output.snapshots.fields=[E,phi,rho,species_rho,moments]",
            "output.probes=[{name: place, at: [1.1, 2.3], every: 4, average: 3}]",
            "output.lines=[{name: axis, from: [0, 0], to: [3, 3], points: 7, every: 8, average: 6}]",
            "output.snapshots.particles=none", "output.checkpoints={every: 7, keep: 9}",
            "output.moments={every: 5, average: 5}", "output.snapshots.every=10", "output.snapshots.average=4",
            "species.electrons.velocities={kind: maxwellian, dimensions: 3, drift: [3, 0, 0]}",
            "species.electrons.perturb={density: [{axis: x, mode: 1, amplitude: 0.8}]}"]
        if each:
            keys += [f"output.{name}.{key}=1" for name in self.keys for key in ("every", "average")]
        launcher = {"command": ("mpirun", "-n", str(ranks), PROGRAM), "environment": MPI_ENVIRONMENT}
        self.run_well("run", "small.yaml", "--quiet", "--output", folder, *sets(*keys, *settings), *more,
            **(launcher if ranks > 1 else {}))

    def meshes(self, folder, inner, step):
        (path,) = (self.folder / folder / inner).glob(f"*_{step}.h5")
        with h5py.File(path) as file:
            data = file[f"data/{step}/fields"]
            records = {name: data[name.partition("/")[0]].attrs for name in components(data)}
            return {name: (data[name][...], dict(attributes)) for name, attributes in records.items()}

    def steps_of(self, name):
        every = self.keys[name][0]
        return [*range(0, self.steps, every), *([self.steps] if self.steps % every else [])]

    def assert_same(self, folder, other, first, tolerance=0.0):
        """The files from a step on, and the rows of the probe."""
        for name in ("snapshots", "moments", "lines.axis"):
            for step in self.steps_of(name):
                inner = name.partition(".")[0]
                if step < first:
                    continue
                found, expected = (self.meshes(each, inner, step) for each in (folder, other))
                self.assertEqual(found.keys(), expected.keys())
                for key, (values, attributes) in expected.items():
                    self.assertEqual(found[key][1].get("averagedStates"), attributes.get("averagedStates"))
                    bound = tolerance * max(np.abs(values).max(), 1)
                    np.testing.assert_allclose(found[key][0], values, rtol=0, atol=bound, err_msg=f"{step} {key}")
        rows = [np.genfromtxt(self.folder / each / "probes/place.csv", delimiter=",") for each in (folder, other)]
        rows = [row[1:][row[1:, 0] >= first] for row in rows]
        np.testing.assert_allclose(*rows, rtol=0, atol=tolerance)

    def test_means_of_the_states(self):
        self.run_of("out")
        self.run_of("each", each=True)
        self.assertEqual(self.read("out/history.csv"), self.read("each/history.csv"))
        for name in ("snapshots", "moments", "lines.axis"):
            inner, average = name.partition(".")[0], self.keys[name][1]
            for step in self.steps_of(name):
                states = range(max(0, step - average + 1), step + 1)
                every = [self.meshes("each", inner, each) for each in states]
                for key, (values, attributes) in self.meshes("out", inner, step).items():
                    expected = np.mean([state[key][0] for state in every], axis=0)
                    bound = 1e-13 * max(np.abs(expected).max(), 1)
                    if not re.search("_(velocity|temperature|pressure|heatFlux)", key):  # which Moments tests
                        np.testing.assert_allclose(values, expected, rtol=0, atol=bound, err_msg=f"{step} {key}")
                    self.assertEqual(attributes["averagedStates"], len(states))
                    offset = every[0][key][1]["timeOffset"]
                    interval = np.array([states[0], states[-1]]) * 0.1 + offset
                    np.testing.assert_allclose(attributes["averagedInterval"], interval, atol=1e-12)
                    self.assertAlmostEqual(step * 0.1 + attributes["timeOffset"], np.mean(interval), 12)
        found, each = (
            np.genfromtxt(self.folder / folder / "probes/place.csv", delimiter=",")[1:] for folder in ("out", "each"))
        for row in found:
            step = int(row[0])
            np.testing.assert_allclose(row[2:], each[max(0, step - 2) : step + 1, 2:].mean(axis=0), atol=1e-13)

    def test_restarts_lose_nothing(self):
        """From the middle of all averages, of a shorter run too, the same bits; on other numbers of ranks, with rows
        that change hands, the same to round-off. With other keys an output's average has fewer states, and says so;
        those of other outputs go on."""
        self.run_of("out")
        older = "out/checkpoints/checkpoint_7.h5"
        check = self.run_well("check", "out/config.yaml").stdout
        megabytes = float(re.search(r"(?m)^checkpoints .* each has about (\S+) MB", check)[1])
        self.assertTrue(1 <= megabytes * 1e6 / (self.folder / older).stat().st_size < 2, check)
        self.run_of("again", more=["--restart", older])
        self.assert_same("again", "out", 7)
        self.run_of("longer", more=["--steps", "14"])
        self.run_of("longer", more=["--restart", "latest"])
        self.assert_same("longer", "out", 0)
        balance = ["parallel.balance_every=3", "parallel.threshold=1"]
        self.run_of("two", *balance, ranks=2)
        self.assertRegex((self.folder / "two/log.txt").read_text(), r"step (3|9|12|18): rows change hands")
        self.assert_same("two", "out", 0, 1e-10)
        self.run_of("two_again", *balance, ranks=2, more=["--restart", "two/checkpoints/checkpoint_7.h5"])
        self.assert_same("two_again", "two", 7)
        self.run_of("three", *balance, ranks=3, more=["--restart", "two/checkpoints/checkpoint_14.h5"])
        self.assert_same("three", "out", 14, 1e-10)
        self.run_of("other", "output.snapshots.average=6", "output.snapshots.compression=1", more=["--restart", older])
        mesh = self.meshes("other", "snapshots", 10)["E/x"]
        self.assertEqual(mesh[1]["averagedStates"], 4)
        line, whole = (self.meshes(folder, "lines", 8)["axis_E/x"] for folder in ("other", "out"))
        self.assertEqual(line[1]["averagedStates"], 6)
        np.testing.assert_array_equal(line[0], whole[0])
