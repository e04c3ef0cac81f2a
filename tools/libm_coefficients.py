#!/usr/bin/env python3
"""Prints the polynomial coefficients of include/warpsafe/cuda/warpsafe_libm*.h (needs mpmath).

Each polynomial interpolates its function at Chebyshev nodes, computed with 80 digits: within a small factor of the
minimax error. Run by hand when a polynomial is changed; the output is pasted into the headers."""
from mpmath import (mp, mpf, cos, pi, asin, atan, erf, erfc, exp, sqrt, loggamma, polyval, matrix, lu_solve, inf)

mp.dps = 80


def fit(f, lo, hi, n):
    """Monomial coefficients, lowest first, of the interpolant of degree n - 1; and its largest error seen."""
    lo, hi = mpf(lo), mpf(hi)
    x = [(lo + hi) / 2 + (hi - lo) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    a = matrix(n, n)
    b = matrix(n, 1)
    for i in range(n):
        for j in range(n):
            a[i, j] = x[i] ** j
        b[i] = f(x[i])
    c = list(lu_solve(a, b))
    worst = max(abs(polyval(c[::-1], t) - f(t)) for t in [lo + (hi - lo) * (k + mpf(1) / 3) / 200 for k in range(200)])
    return c, worst


def show(name, f, lo, hi, n):
    c, worst = fit(f, lo, hi, n)
    print(f"/* {name} on [{lo}, {hi}]: error below {float(worst):.1e} */")
    print(",\n".join(f"\t{float(v).hex()}" for v in c[::-1]) + "\n")


def root_form(f):
    """(f(sqrt z) / sqrt z - 1) / z, continued to z = 0."""
    def g(z):
        r = sqrt(z)
        return (f(r) / r - 1) / z
    return g


show("ASIN", root_form(asin), 0, 0.25, 15)
show("ATAN", root_form(atan), 0, 0.0625, 9)
show("ERF (erf(x) / x - 1)", lambda z: erf(sqrt(z)) / sqrt(z) - 1, 0, 1, 14)
K = mpf(2)
def shepherd(t):
    x = K * (1 + t) / (1 - t)
    if x > 200:
        s, term = mpf(1), mpf(1)
        for k in range(1, 30):
            term *= -(2 * k - 1) / (2 * x * x)
            s += term
        return (1 + 2 * x) * s / (x * sqrt(pi))
    return (1 + 2 * x) * exp(x * x) * erfc(x)
show("ERFCX ((1 + 2 x) exp(x^2) erfc(x), t = (x - 2) / (x + 2))", shepherd, (mpf("0.5") - K) / (mpf("0.5") + K), 1, 25)
lg = lambda x: loggamma(x).real
show("LGAMMA12 (lgamma(x) / ((x - 1)(x - 2)), u = x - 1.5)", lambda u: lg(u + 1.5) / ((u + 0.5) * (u - 0.5)), -0.5, 0.5, 22)
show("LGAMMA23 (lgamma(x) / (x - 2), u = x - 2.5)", lambda u: lg(u + 2.5) / (u + 0.5), -0.5, 0.5, 18)
