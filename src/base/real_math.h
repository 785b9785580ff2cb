// Elementary functions in double precision, our own, so that no value that decides a logit depends
// on the C library of the machine (docs/numerics.md, rule 5). Only + - * / and bit operations, no
// contraction: the same bits everywhere. Not for inner loops; kernels have float32 vector forms.
//
// Special values follow C: exp(-inf) = 0, log(0) = -inf, log of a negative number is NaN, NaN stays
// NaN. Errors below are against the exact result.
#pragma once

namespace lockstep::real_math {

double exp(double x);    // within 1 ulp, gradual underflow
double log(double x);    // within 1 ulp
double log1p(double x);  // ln(1 + x), within 2 ulp, also near 0
// x^y for x > 0, within 2 ulp where |y ln x| <= 64; otherwise as C for x = 0, NaN for x < 0.
double pow(double x, double y);

// Within 2e-16 for |x| <= 1e7; NaN beyond, where the reduction would not be exact.
double sin(double x);
double cos(double x);

}  // namespace lockstep::real_math
