"""The linear theory of the Python package against published roots and series."""

import math
import unittest

import numpy as np

__import__("program")  # it makes the package known
from radixpic import dispersion, fit  # noqa: E402


class Theory(unittest.TestCase):
    """Roots to 1e-5, the digits that the tables below carry."""

    def assert_root(self, root, gamma, omega):
        self.assertAlmostEqual(root[0], gamma, delta=1e-5)
        self.assertAlmostEqual(root[1], omega, delta=1e-5)

    def test_faddeeva(self):
        for x in (0.0, 0.3, 1.0, 2.5):  # on the imaginary axis it is the scaled complementary error function
            self.assertAlmostEqual(dispersion.faddeeva(1j * x).real, math.exp(x * x) * math.erfc(x), delta=1e-13)
        below = dispersion.faddeeva(-0.5j)
        self.assertAlmostEqual(below.real, math.exp(0.25) * math.erfc(-0.5), delta=1e-13)

    def test_landau(self):
        # J. Canosa, J. Comput. Phys. 13 (1973) 158, with the digits of later tables
        for k, gamma, omega in (
            (0.2, -5.51074e-5, 1.06398434),
            (0.3, -0.01262036, 1.15984648),
            (0.4, -0.0661280, 1.28505697),
            (0.5, -0.15335947, 1.41566189),
            (math.sqrt(0.5), -0.40208055, 1.68289327),
            (0.8, -0.534552, 1.79989932),
        ):
            self.assert_root(dispersion.landau_root(k), gamma, omega)

    def test_two_stream(self):
        for k, drift, thermal, gamma in (
            (0.2, 3, 1, 0.284510),
            (0.2, 5, 1, 0.181763),
            (0.5, math.pi / 2, 0.1, 0.318245),
        ):
            self.assert_root(dispersion.two_stream_root(k, drift, thermal), gamma, 0)
        self.assertIsNone(dispersion.two_stream_root(0.2, 0.5, 1))  # one hump: stable
        root = dispersion.roots(0.2, dispersion.two_stream_beams(3, 1))[0]
        discrete = dispersion.discrete_root(root, 0.2, dispersion.two_stream_beams(3, 1), 0.1, 1)
        self.assertEqual((str(root[1]), str(discrete[1])), ("0.0", "0.0"))  # without the rounding of Newton's method

    def test_any_set_of_maxwellians(self):
        # seen from a frame in which all move, a wave has the same rate and its frequency is shifted
        for moving in ([(1, 0.7, 1)], [(0.9, 0.7, 1), (0.1, 5.7, 0.5)]):
            at_rest = [(n, u - 0.7, s) for n, u, s in moving]
            gamma, omega = dispersion.roots(0.3, at_rest)[0]
            along = [root for root in dispersion.roots(0.3, moving) if abs(root[1] - omega - 0.3 * 0.7) < 1e-5]
            self.assertAlmostEqual(along[0][0], gamma, delta=1e-5)
        # heavy ions of the electrons' temperature: the Langmuir wave stays, an ion wave comes
        ions = dispersion.roots(0.5, [(1, 0, 1), (1 / 1836, 0, 1836**-0.5)])
        self.assertTrue(any(abs(gamma + 0.15336) < 3e-4 and abs(omega - 1.4157) < 3e-4 for gamma, omega in ions))
        self.assertLess(ions[0][1], 0.1)
        # the ion wave of cold ions, omega = k c_s / sqrt(1 + k^2): F. F. Chen, chapter 4
        gamma, omega = dispersion.roots(0.5, [(1, 0, 1), (1 / 1836, 0, 1e-4)])[0]
        self.assertAlmostEqual(omega * 1836**0.5 / (0.5 / math.sqrt(1.25)), 1, delta=0.01)

    def test_cold_beams_are_the_limit_of_thin_ones(self):
        # the cold maximum 1 / (2 sqrt 2) at k v0 = sqrt(3/8); thermal spread s changes it by order s^2
        root = dispersion.two_stream_root(math.sqrt(3 / 8), 1, 0.001)
        self.assert_root(root, 1 / (2 * math.sqrt(2)), 0)

    def test_discrete_root_and_series_agree(self):
        root = dispersion.landau_root(0.5)
        step = (0.5, [(1, 0, 1)], 0.1, dispersion.grid_factor([0.5], [4 * math.pi / 32]))  # k, beams, dt, factor
        discrete = dispersion.discrete_root(root, *step)
        self.assert_root(discrete, -0.1543344, 1.4135317)
        series = dispersion.discrete_series(200, *step)
        late = np.arange(120, 201)
        wave = fit.Wave(late * 0.1, np.stack([series.real, series.imag], axis=1)[late], 1)
        self.assert_root(fit.fit(wave), *discrete)

    def test_transverse(self):
        """Light, filamentation of cold beams, and Weibel's instability where the formulas are not relativistic; of the
        steps light alone has a formula of its own."""
        for ck in (0.5, 1, 3):
            plasma = dispersion.streams([(1, 0, 0, 0, 0)], 10)
            self.assert_root(dispersion.transverse_roots(ck / 10, 10, plasma)[0], 0, math.hypot(1, ck))
        discrete = dispersion.transverse_root((0, math.sqrt(2)), 0.1, 10, dispersion.streams([(1, 0, 0, 0, 0)], 10),
            0.02, dispersion.grid_factor([0.1], [math.tau / 0.1 / 32]))
        self.assert_root(discrete, 0, 1.4119582)
        for beta, ck, gamma in ((0.3, 1, 0.211850), (0.3, 2, 0.263725), (0.5, 2, 0.423490), (0.8, 3, 0.600724)):
            plasma = dispersion.streams([(0.5, sign * 10 * beta, 0, 0, 0) for sign in (1, -1)], 10)
            self.assert_root(dispersion.transverse_roots(ck / 10, 10, plasma)[0], gamma, 0)
        # E. S. Weibel, Phys. Rev. Lett. 2 (1959) 83: w^2 - c^2 k^2 - 1 + T (1 + xi Z) = 0
        c, ratio, k = 300, 9, 1.2 / 300
        (gamma, _), *_ = dispersion.transverse_roots(k, c, dispersion.streams([(1, 0, 1, 3, 1)], c))
        xi = 1j * gamma / (math.sqrt(2) * k)
        value = (1j * gamma) ** 2 - (c * k) ** 2 - 1 - ratio / 2 * dispersion.plasma_z_prime(xi)
        self.assertAlmostEqual(abs(value), 0, delta=2e-3)  # v^2/c^2 = 1e-4 in nine times as large a term
        self.assertEqual(len(dispersion.transverse_roots(k, c, dispersion.streams([(1, 0, 1, 1, 1)], c))), 1)  # stable

    def test_along_a_magnetic_field(self):
        """c^2 k^2 = omega^2 - omega/(omega -+ Omega), and its form of steps and grid: whistler, L, R."""
        for step, expected in (
            ((), (0.242431, 1.313099, 1.570668)),
            ((0.1, 1), (0.242512, 1.313392, 1.570776)),
            ((0.1, np.sinc(1 / 32) ** 4), (0.243266, 1.311513, 1.568143)),
        ):
            found = dispersion.along_field_roots(0.1, 10, [(1, -0.5)], *step)
            np.testing.assert_allclose(found, expected, atol=1e-6)

    def test_grid_factor(self):
        sinc = math.sin(0.3) / 0.3  # k dx = 0.6
        self.assertAlmostEqual(dispersion.grid_factor([0, 2], [1, 0.3]), sinc**4, delta=1e-15)
        self.assertAlmostEqual(dispersion.grid_factor([2, 0], [0.3, 1], "tsc"), sinc**6, delta=1e-15)
        self.assertAlmostEqual(dispersion.grid_factor([2, 0], [0.3, 1], "cubic"), sinc**8, delta=1e-15)
        filtered = dispersion.grid_factor([2], [0.3], "ngp", "centred", 3)
        self.assertAlmostEqual(filtered, sinc**2 * math.sin(0.6) / 0.6 * math.cos(0.3) ** 6, delta=1e-15)
        # the gradient of an oblique wave has a part along it, (kx sin(kx dx) / dx + ky sin(ky dy) / dy) / k^2
        oblique = dispersion.grid_factor([2, 1], [0.3, 0.2], "ngp", "centred")
        along = (2 * math.sin(0.6) / 0.3 + math.sin(0.2) / 0.2) / 5
        self.assertAlmostEqual(oblique, (sinc * math.sin(0.1) / 0.1) ** 2 * along, delta=1e-15)

    def test_series_against_the_continuum(self):
        # the integral equation of the linear problem, k = 0.5; leapfrog's error at dt = 0.01 is near 1e-5
        series = dispersion.discrete_series(1000, 0.5, [(1, 0, 1)], 0.01, 1)
        for time, value in ((1, 0.460399), (2, -0.370979), (5, 0.330347), (10, 0.0783957)):
            self.assertAlmostEqual(series[100 * time].real, value, delta=5e-5)
