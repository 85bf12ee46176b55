/* Functions that the mathematical library of C99 lacks.

   What a program calls of these is copied into it, in this order, comments included.
   Where no source is stated, the definition is the text. */

#include <math.h>

static double sign(double x)
{
    return isnan(x) ? x : (double)((x > 0.0) - (x < 0.0));
}

static double maximum(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

static double minimum(double a, double b)
{
    return a <= b || isnan(a) ? a : b;
}

/* The remainder with the sign of b. */
static double modulo(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}

/* The quotient rounded down, from the exact remainder. */
static double floor_divide(double a, double b)
{
    const double r = fmod(a, b);
    const double q = (a - r) / b;
    if (b == 0.0) {
        return a / b;
    }
    return floor((r != 0.0 && (r < 0.0) != (b < 0.0) ? q - 1.0 : q) + 0.5);
}

static double sinc(double x)
{
    const double a = 3.141592653589793 * x;
    return a == 0.0 ? 1.0 : sin(a) / a;
}

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double logsigmoid(double x)
{
    return x < 0.0 ? x - log1p(exp(x)) : -log1p(exp(-x));
}

static double logaddexp(double a, double b)
{
    const double most = a > b ? a : b;
    return a == b ? a + log(2.0) : most + log1p(exp(-fabs(a - b)));
}

static double xlogy(double x, double y)
{
    return x == 0.0 && !isnan(y) ? 0.0 : x * log(y);
}

/* Gamma functions of numbers below 1/2 by reflection (Abramowitz and Stegun, 6.1.17),
   those of large ones by logarithms. */
static double binom(double n, double k)
{
    const double pi = 3.141592653589793, z[] = {n + 1.0, k + 1.0, n - k + 1.0};
    double x, y = 1.0, t = 0.0, p;
    int i;
    if (n < 0.0 && n == floor(n)) {
        if (k < 0.0 || k != floor(k)) {
            return k == floor(k) ? 0.0 : NAN;
        }
        return cos(pi * fmod(k, 2.0)) * binom(k - n - 1.0, k);
    }
    for (i = 0; i < 3; i++) {
        x = z[i];
        p = i ? -1.0 : 1.0;
        if (x <= 0.0 && x == floor(x)) {
            return 0.0;
        }
        if (x < 0.5) {
            y *= pow(sin(pi * (x - 2.0 * nearbyint(0.5 * x))) / pi, -p);
            x = 1.0 - x;
            p = -p;
        }
        if (x < 20.0) {
            y *= pow(tgamma(x), p);
        } else {
            t += p * lgamma(x);
        }
    }
    return y * exp(t);
}

/* Abramowitz and Stegun, 6.3.7 (reflection), 6.3.5 (recurrence), 6.3.18 (series). */
static double digamma(double x)
{
    static const double c[] = {1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0,
                               1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0};
    const double pi = 3.141592653589793;
    double s = 0.0, w, p = 1.0;
    int k;
    if (x == 0.0) {
        return copysign(INFINITY, -x);
    }
    if (x < 0.0) {
        if (x == floor(x)) {
            return NAN;
        }
        /* The cotangent has period 1. */
        return digamma(1.0 - x) - pi / tan(pi * (x - floor(x)));
    }
    for (; x < 10.0; x += 1.0) {
        s -= 1.0 / x;
    }
    w = 1.0 / (x * x);
    s += log(x) - 0.5 / x;
    for (k = 0; k < 7; k++) {
        p *= w;
        s -= c[k] * p;
    }
    return s;
}

/* Abramowitz and Stegun, 6.4.6 (recurrence), 6.4.11 (series), for n of 1 and more. */
static double polygamma_of(int n, double x)
{
    static const double b[] = {1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0,
                               5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0,
                               -3617.0 / 510.0, 43867.0 / 798.0};
    /* t: the k-th (2k + n - 1)! / ((2k)! x^(2k + n)) over (n - 1)!/x^n */
    double s, t = 1.0, f = 1.0, r = 0.0;
    int k;
    if (x <= 0.0 && x == floor(x)) {
        return n % 2 ? INFINITY : NAN;
    }
    for (; x < 15.0 + n; x += 1.0) {
        r += pow(x, -(n + 1.0));
    }
    for (k = 2; k < n; k++) {
        f *= k;
    }
    s = 1.0 + 0.5 * n / x;
    for (k = 0; k < 9; k++) {
        t *= (2.0 * k + n) * (2.0 * k + n + 1.0) /
             ((2.0 * k + 1.0) * (2.0 * k + 2.0) * x * x);
        s += b[k] * t;
    }
    s = f * pow(x, -n) * s + f * n * r;
    return n % 2 ? s : -s;
}

static double polygamma(int n, double x)
{
    return n == 0 ? digamma(x) : polygamma_of(n, x);
}

/* Halley's method from Winitzki's approximation ("A handy approximation for the error
   function and its inverse", 2008); far out on what is left to 1, so that no digits
   cancel. */
static double erfinv(double y)
{
    const double a = 0.147, m = fabs(y);
    double l, u, x;
    int k;
    if (!(m < 1.0)) {
        return m == 1.0 ? copysign(INFINITY, y) : NAN;
    }
    l = log1p(-m * m);
    u = 2.0 / (3.141592653589793 * a) + 0.5 * l;
    x = sqrt(sqrt(u * u - l / a) - u);
    for (k = 0; k < 4; k++) {
        const double e = m > 0.5 ? (1.0 - m) - erfc(x) : erf(x) - m;
        const double d = e * 0.886226925452758 * exp(x * x);
        x -= d / (1.0 + x * d);
    }
    return copysign(x, y);
}

/* The root z of erfc(z) = 2 q for the smaller tail q, found as erfinv finds its own:
   nothing is taken from 1, so that the digits of a small p are kept. */
static double ndtri(double p)
{
    const double a = 0.147, q = p < 0.5 ? p : 1.0 - p;
    double l, u, x;
    int k;
    if (!(q > 0.0)) {
        return q == 0.0 ? copysign(INFINITY, p - 0.5) : NAN;
    }
    l = log(4.0 * q) + log1p(-q);
    u = 2.0 / (3.141592653589793 * a) + 0.5 * l;
    x = sqrt(sqrt(u * u - l / a) - u);
    for (k = 0; k < 4; k++) {
        const double d = (erfc(x) - 2.0 * q) * 0.886226925452758 * exp(x * x);
        x += d / (1.0 - x * d);
    }
    return copysign(x * 1.4142135623730951, p - 0.5);
}

/* Abramowitz and Stegun, 9.6.10 (series, all terms positive), 9.7.1 (far out). */
static double bessel_ie(int n, double x)
{
    const double m = fabs(x);
    double s = 1.0, t = 1.0;
    int k;
    if (m < 20.0) {
        t = s = n ? 0.5 * x : 1.0;
        for (k = 1; k < 60; k++) {
            t *= 0.25 * x * x / (k * (double)(k + n));
            s += t;
        }
        return exp(-m) * s;
    }
    for (k = 1; k < 30; k++) {
        t *= ((2.0 * k - 1.0) * (2.0 * k - 1.0) - 4.0 * n * n) / (8.0 * k * m);
        s += t;
    }
    s /= sqrt(6.283185307179586 * m);
    return n && x < 0.0 ? -s : s;
}

static double i0e(double x)
{
    return bessel_ie(0, x);
}

static double i1e(double x)
{
    return bessel_ie(1, x);
}

/* The exponential in two halves, so that it overflows no sooner than the product. */
static double i0(double x)
{
    return exp(0.5 * fabs(x)) * bessel_ie(0, x) * exp(0.5 * fabs(x));
}

static double i1(double x)
{
    return exp(0.5 * fabs(x)) * bessel_ie(1, x) * exp(0.5 * fabs(x));
}

/* The functions of C's library, where it is that of POSIX. */
static double bessel_j0(double x)
{
    extern double j0(double);
    return j0(x);
}

static double bessel_j1(double x)
{
    extern double j1(double);
    return j1(x);
}

static double bessel_y0(double x)
{
    extern double y0(double);
    return x < 0.0 ? NAN : y0(x);
}

static double bessel_y1(double x)
{
    extern double y1(double);
    return x < 0.0 ? NAN : y1(x);
}

/* exp(x) K_n(x) by the integral DLMF 10.32.9, whose sum at equal distances converges
   faster than any power of them. */
static double bessel_ke(double n, double x)
{
    const double h = 0.25 / (1.0 + 0.25 * sqrt(x));
    double s = 0.5, t = 1.0;
    int k;
    if (!(x > 0.0)) {
        return x == 0.0 ? INFINITY : NAN;
    }
    for (k = 1; t > 1e-18 * s; k++) {
        const double u = sinh(0.5 * k * h);
        t = exp(-2.0 * x * u * u) * cosh(n * k * h);
        s += t;
    }
    return s * h;
}

static double k0e(double x)
{
    return bessel_ke(0.0, x);
}

static double k1e(double x)
{
    return bessel_ke(1.0, x);
}

static double k0(double x)
{
    return exp(-x) * bessel_ke(0.0, x);
}

static double k1(double x)
{
    return exp(-x) * bessel_ke(1.0, x);
}

/* DLMF 9.6.2 and 9.6.3; below 1 by the Taylor series of y'' = x y, in steps from 0. */
static double airy_of(int order, double x)
{
    const int steps = 1 + (int)(4.0 * fabs(x));
    const double h = x / steps;
    double y = 0.3550280538878172, d = -0.2588194037928068, a = 0.0;
    int i, k;
    if (x > 1.0) {
        const double z = x * sqrt(x) / 1.5;
        const double k = exp(-z) * bessel_ke((1.0 + order) / 3.0, z);
        return order ? -x * k / 5.441398092702653
                     : sqrt(x / 3.0) * k / 3.141592653589793;
    }
    if (!(x > -1e5)) {
        return NAN;
    }
    for (i = 0; i < steps; i++) {
        double c0 = y, c1 = d, c2 = 0.5 * a * y, p = h * h, s, v;
        s = c0 + c1 * h + c2 * p;
        v = c1 + 2.0 * c2 * h;
        for (k = 3; k < 30; k++) {
            const double c3 = (a * c1 + c0) / (k * (k - 1.0));
            v += k * c3 * p;
            p *= h;
            s += c3 * p;
            c0 = c1;
            c1 = c2;
            c2 = c3;
        }
        y = s;
        d = v;
        a += h;
    }
    return order ? d : y;
}

static double airy(double x)
{
    return airy_of(0, x);
}

static double airy_prime(double x)
{
    return airy_of(1, x);
}

/* Abramowitz and Stegun, 7.1.23 (far out). */
static double erfcx(double x)
{
    double s = 1.0, t = 1.0;
    int k;
    if (x < 20.0) {
        return exp(x * x) * erfc(x);
    }
    for (k = 1; k < 12; k++) {
        t *= -(2.0 * k - 1.0) / (2.0 * x * x);
        s += t;
    }
    return s / (1.772453850905516 * x);
}

static double entr(double x)
{
    return x < 0.0 ? -INFINITY : x == 0.0 ? 0.0 : -x * log(x);
}

static double log_ndtr(double x)
{
    const double z = 0.7071067811865476 * x;
    return x < -1.0 ? log(0.5 * erfcx(-z)) - z * z : log1p(-0.5 * erfc(z));
}

/* Abramowitz and Stegun, 6.5.29 (series) for one of the two incomplete gamma functions,
   6.5.31 (continued fraction, from its end) for the other. */
static double gamma_part(int upper, double a, double x)
{
    double s, t, y;
    int k;
    if (!(a >= 0.0 && x >= 0.0) || (a == 0.0 && x == 0.0)) {
        return NAN;
    }
    if (a == 0.0 || x == 0.0 || isinf(x)) {
        return (a == 0.0 || x > 0.0) == upper ? 0.0 : 1.0;
    }
    t = exp(a * log(x) - x - lgamma(a));
    if (x < a + 1.0) {
        s = y = 1.0 / a;
        for (k = 1; y > 1e-17 * s; k++) {
            y *= x / (a + k);
            s += y;
        }
        return upper ? 1.0 - t * s : t * s;
    }
    for (y = 0.0, k = 300 + (int)(8.0 * sqrt(a)); k > 0; k--) {
        y = k * (k - a) / (x + 2.0 * k + 1.0 - a - y);
    }
    t /= x + 1.0 - a - y;
    return upper ? t : 1.0 - t;
}

static double igamma(double a, double x)
{
    return gamma_part(0, a, x);
}

static double igammac(double a, double x)
{
    return gamma_part(1, a, x);
}

/* The formula of Euler and Maclaurin (Abramowitz and Stegun, 23.1.30), from some terms
   on. */
static double zeta(double s, double a)
{
    static const double b[] = {1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0,
                               -1.0 / 1209600.0, 1.0 / 47900160.0,
                               -691.0 / 1307674368000.0, 1.0 / 74724249600.0};
    double r = 0.0, t;
    int k;
    if (s == 1.0) {
        return INFINITY;
    }
    if (!(s > 1.0) || (a <= 0.0 && a != floor(a) && s != floor(s))) {
        return NAN;
    }
    if (a <= 0.0 && a == floor(a)) {
        return INFINITY;
    }
    for (; a < 12.0 + s; a += 1.0) {
        r += pow(a, -s);
    }
    t = pow(a, -s);
    r += t * (a / (s - 1.0) + 0.5);
    for (t *= s / a, k = 0; k < 7; k++) {
        r += b[k] * t;
        t *= (s + 2.0 * k + 1.0) * (s + 2.0 * k + 2.0) / (a * a);
    }
    return r;
}
