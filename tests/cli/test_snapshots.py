"""output.snapshots: what is chosen is in the files and nothing else, on any number of ranks, and openPMD all the
same."""


import h5py
import numpy as np

from program import MPI_ENVIRONMENT, PROGRAM, ProgramTest, sets
from radixpic import fields as meshes

FIELDS = {"E": "E", "phi": "phi", "rho": "chargeDensity"}


def is_chosen(ids, fraction):
    """By the upper 53 bits of number `id` of SplitMix64."""
    z = (ids + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(11) < np.uint64(fraction * 2**53)


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
        deposit = ["deposit.filter_passes=2", "output.moments.every=10"]
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
                self.assertEqual(len(moments), 6)
                for name, record in moments.items():
                    for part in ("/x", "/y") if isinstance(record, h5py.Group) else ("",):
                        np.testing.assert_array_equal(found[name + part], moments[name + part][...].astype("f4"))
                        self.assertEqual(found[name + part].attrs["unitSI"], moments[name + part].attrs["unitSI"])
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

    def assert_chosen(self, species, whole, choose):
        chosen = choose(whole["id"][...])
        vectors = [f"{name}/{axis}" for name in ("position", "positionOffset", "momentum") for axis in "xy"]
        for record in [*vectors, "id"]:
            np.testing.assert_array_equal(species[record], whole[record][...][chosen], record)
            self.assertEqual(species[record].dtype, whole[record].dtype)
        count, weights = np.sum(chosen), [one["weighting"].attrs["value"] for one in (species, whole)]
        self.assertEqual(species["weighting"].attrs["shape"], [count])
        self.assertAlmostEqual(weights[0] / weights[1] * max(count, 1) / (len(chosen) if count else 1), 1, delta=1e-14)

    def test_the_same_particles_on_any_ranks_and_at_all_times(self):
        ids = [
            [sorted(data[f"particles/{name}/id"]) for name in ("electrons", "ions")]
            for ranks in (1, 3)
            for data in self.snapshots("particles={fraction: 0.03}", ranks=ranks)
        ]
        for other in ids[1:]:
            self.assertEqual(ids[0], other)
        self.assertAlmostEqual(len(ids[0][0]), 0.03 * 4096, delta=6 * (0.03 * 4096) ** 0.5)

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
