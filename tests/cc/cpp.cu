// C++ on both sides: templates, lambdas, the standard library on the host, constexpr and std:: functions on the device.
#include "check.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

template <class T, int N> struct Vec {
	T v[N];
	__host__ __device__ T dot(const Vec &o) const
	{
		T s = T();
		for (int i = 0; i < N; i++)
			s += v[i] * o.v[i];
		return s;
	}
};

template <class F> __global__ void apply(F f, int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = f(i);
}

template <class T> __global__ void dots(const Vec<T, 3> *a, T *out)
{
	out[threadIdx.x] = a[threadIdx.x].dot(a[0]);
}

constexpr int square(int x) { return x * x; }
__host__ __device__ constexpr int cube(int x) { return x * x * x; }

enum class Mode { Twice = 2, Thrice = 3 };

struct Base {
	__device__ virtual int value() const { return 1; }
	__device__ virtual ~Base() {}
};
struct Derived : Base {
	int n;
	__device__ Derived(int k) : n(k) {}
	__device__ int value() const override { return n; }
};

typedef int (*Op)(int, int);
__device__ int plus_(int a, int b) { return a + b; }
__device__ int times_(int a, int b) { return a * b; }
__device__ Op table[] = { plus_, times_ };

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void device_side(int *out)
{
	int t = threadIdx.x;
	Base *b = new Derived(40 + t);
	int *heap = (int *)malloc(4 * sizeof(int));
	heap[3] = b->value();
	out[t * 8] = heap[3];
	free(heap);
	delete b;
	out[t * 8 + 1] = table[t & 1](t, 5);
	out[t * 8 + 2] = fibonacci(t + 3);
	out[t * 8 + 3] = square(t) + cube(t);
	out[t * 8 + 4] = (int)std::max(t, 2) + (int)std::abs(-2.5f * t) + (int)std::sqrt(16.0f) + std::min(3, t);
	out[t * 8 + 5] = std::numeric_limits<int>::max() == INT_MAX;
	auto local = [=](int k) { return k + t; };
	out[t * 8 + 6] = local(100);
	std::complex<float> z(1.0f, (float)t);
	out[t * 8 + 7] = (int)(z * z).imag();
}

int main()
{
	const int n = 300;
	std::vector<int> v(n);
	Mirror<int> d(v.data(), n);
	int offset = 7;
	apply<<<3, 128>>>([=] __device__(int i) { return i * 2 + offset; }, d.device, n);
	d.fetch();
	for (int i = 0; i < n; i++)
		EXPECT(v[i] == 2 * i + 7);
	Vec<double, 3> a[4] = { { { 1, 2, 3 } }, { { 4, 5, 6 } }, { { 0, 0, 1 } }, { { 1, 1, 1 } } };
	double out[4] = {};
	Mirror<Vec<double, 3>> da(a, 4);
	Mirror<double> dout(out, 4);
	dots<double><<<1, 4>>>(da.device, dout.device);
	dout.fetch();
	for (int i = 0; i < 4; i++)
		EXPECT(out[i] == a[i].dot(a[0]));
	int w[4 * 8] = {};
	Mirror<int> dw(w, 32);
	device_side<<<1, 4>>>(dw.device);
	dw.fetch();
	static const int fib[] = { 2, 3, 5, 8 };
	for (int t = 0; t < 4; t++) {
		EXPECT(w[t * 8] == 40 + t);
		EXPECT(w[t * 8 + 1] == (t & 1 ? t * 5 : t + 5));
		EXPECT(w[t * 8 + 2] == fib[t]);
		EXPECT(w[t * 8 + 3] == square(t) + cube(t));
		EXPECT(w[t * 8 + 4] == std::max(t, 2) + (int)(2.5f * t) + 4 + std::min(3, t));
		EXPECT(w[t * 8 + 5] == 1);
		EXPECT(w[t * 8 + 6] == 100 + t);
		EXPECT(w[t * 8 + 7] == 2 * t);
	}
	/* the host's library works as ever */
	std::map<std::string, int> count;
	for (const char *s : { "a", "b", "a" })
		count[s]++;
	EXPECT(count["a"] == 2);
	auto shared = std::make_shared<std::string>("text");
	std::sort(v.begin(), v.end(), std::greater<int>());
	EXPECT(v[0] == 2 * 299 + 7 && *shared == "text");
	std::thread([&] { offset = 8; }).join();
	std::mt19937 random(1);
	EXPECT(offset == 8 && random() == 1791095845u);
	EXPECT(min(3, 4) == 3 && max(2.0f, 5.0f) == 5.0f && rsqrtf(4.0f) == 0.5f);
	return bad;
}
