// One kernel per family of intrinsics; each thread writes one column of results, a row per intrinsic.
#define ROW(value) out[row++ * n + i] = static_cast<unsigned long long>(value)
#define COLUMN                                              \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;    \
    if (i >= n) return;                                     \
    int row = 0;

extern "C" __global__ void bits_32(const unsigned* a, const unsigned* b, int n, unsigned long long* out) {
    COLUMN
    const unsigned x = a[i], y = b[i];
    ROW(__popc(x));
    ROW(__clz(static_cast<int>(x)));
    ROW(__ffs(static_cast<int>(x)));
    ROW(__brev(x));
    ROW(__umulhi(x, y));
    ROW(static_cast<unsigned>(__mulhi(static_cast<int>(x), static_cast<int>(y))));
    ROW(__funnelshift_l(x, y, i));
    ROW(__funnelshift_r(x, y, i));
    ROW(__byte_perm(x, y, 0x7150));
    ROW(min(x, y));
    ROW(max(x, y));
    ROW(static_cast<unsigned>(min(static_cast<int>(x), static_cast<int>(y))));
    ROW(min(static_cast<int>(x), y));  // as CUDA has it: the common type is unsigned
    ROW(__float_as_uint(__uint_as_float(x)) == x || isnan(__uint_as_float(x)));
}

extern "C" __global__ void bits_64(const unsigned long long* a, const unsigned long long* b, int n,
                                   unsigned long long* out) {
    COLUMN
    const unsigned long long x = a[i], y = b[i];
    ROW(__popcll(x));
    ROW(__clzll(static_cast<long long>(x)));
    ROW(__ffsll(static_cast<long long>(x)));
    ROW(__brevll(x));
    ROW(__umul64hi(x, y));
    ROW(__mul64hi(static_cast<long long>(x), static_cast<long long>(y)));
    ROW(max(x, y));
    ROW(__double_as_longlong(__longlong_as_double(static_cast<long long>(x & 0xffefffffffffffffull))));
}

extern "C" __global__ void from_float(const float* a, int n, long long* out) {
    COLUMN
    ROW(static_cast<long long>(__float2int_rn(a[i])));
    ROW(static_cast<long long>(__float2int_rz(a[i])));
    ROW(static_cast<long long>(__float2int_ru(a[i])));
    ROW(static_cast<long long>(__float2int_rd(a[i])));
    ROW(__float2uint_rz(a[i]));
    ROW(__float2ll_rn(a[i]));
    ROW(__double2ll_rd(static_cast<double>(a[i])));
    ROW(static_cast<long long>(__double2int_ru(static_cast<double>(a[i]))));
}

extern "C" __global__ void to_float(const long long* a, int n, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = __ll2float_rn(a[i]);
    out[n + i] = __ll2float_rz(a[i]);
    out[2 * n + i] = __ll2float_ru(a[i]);
    out[3 * n + i] = __ll2float_rd(a[i]);
}

// One warp per block; `width` divides it.
extern "C" __global__ void shuffles(const unsigned long long* a, int width, int amount, unsigned long long* out) {
    const int i = threadIdx.x, n = 32;
    int row = 0;
    ROW(__shfl_sync(0xffffffffu, a[i], amount, width));
    ROW(__shfl_up_sync(0xffffffffu, a[i], amount, width));
    ROW(__shfl_down_sync(0xffffffffu, a[i], amount, width));
    ROW(__shfl_xor_sync(0xffffffffu, a[i], amount, width));
    ROW(__shfl_xor_sync(0xffffffffu, static_cast<int>(a[i]), amount, width) & 0xffffffffull);
    ROW(__shfl_down_sync(0xffffffffu, static_cast<double>(a[i] >> 40), amount, width));
}

// The lanes of `mask` alone take part.
extern "C" __global__ void votes(const unsigned* a, unsigned mask, unsigned long long* out) {
    const int i = threadIdx.x, n = 32;
    if (!(mask >> i & 1)) return;
    int row = 0;
    ROW(__ballot_sync(mask, a[i] & 1));
    ROW(__any_sync(mask, a[i] == 5));
    ROW(__all_sync(mask, a[i] < 8));
    ROW(__match_any_sync(mask, a[i]));
    ROW(__reduce_add_sync(mask, a[i]));
    ROW(__reduce_min_sync(mask, a[i]));
    ROW(__reduce_max_sync(mask, a[i]));
    ROW(__reduce_min_sync(mask, 3 - static_cast<int>(a[i])));
    ROW(__reduce_max_sync(mask, 3 - static_cast<int>(a[i])));
    ROW(__reduce_and_sync(mask, a[i] | 8));
    ROW(__reduce_or_sync(mask, a[i]));
    ROW(__reduce_xor_sync(mask, a[i]));
    int equal = 0;
    ROW(__match_all_sync(mask, a[i] >> 3, &equal));
    ROW(equal);
    ROW(__activemask() >> i & 1);
}

extern "C" __global__ void block_votes(const int* a, int* out) {
    const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int n = blockDim.x * blockDim.y * blockDim.z;
    out[t] = __syncthreads_count(a[t]);
    out[n + t] = __syncthreads_and(a[t]);
    out[2 * n + t] = __syncthreads_or(a[t]);
    out[3 * n + t] = gridDim.x * 100 + warpSize;
}

extern "C" __global__ void atomics(const int* a, int* i32, unsigned* u32, long long* i64, unsigned long long* u64,
                                   float* f32, double* f64) {
    const int value = a[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&i32[0], value);
    atomicSub(&i32[1], value);
    atomicMin(&i32[2], value);
    atomicMax(&i32[3], value);
    atomicAdd(&u32[0], 1u);
    atomicInc(&u32[1], 9u);
    atomicDec(&u32[2], 9u);
    atomicAnd(&u32[3], ~(1u << (value & 15)));
    atomicOr(&u32[4], 1u << (value & 15));
    atomicXor(&u32[5], 1u << (value & 15));
    atomicMin(&i64[0], static_cast<long long>(value) << 32);
    atomicMax(&i64[1], static_cast<long long>(value) << 32);
    atomicAdd(&u64[0], static_cast<unsigned long long>(value) << 32);
    atomicMin(&u64[1], static_cast<unsigned long long>(value));
    if (atomicCAS(&u64[2], 0ull, 7ull) == 0) atomicAdd(&u64[3], 1ull);  // one thread wins
    atomicExch(&u64[4], 3ull);
    atomicAdd(&f32[0], 0.5f);
    atomicAdd(&f64[0], 0.25);
}

struct Point {
    int x;
    double y;
};
extern "C" __global__ void parameters(signed char a, unsigned short b, float c, double d, Point p, int2* pairs,
                                      double* out) {
    pairs[0] = make_int2(a, b);
    const int4 four = make_int4(1, 2, 3, 4);
    out[0] = a + b + c + d + p.x + p.y + four.w + __ldg(&pairs[0]).x;
}

extern "C" __global__ void dynamic_shared(const int* a, int* out) {
    extern __shared__ __align__(16) int scratch[];
    scratch[threadIdx.x] = a[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = scratch[blockDim.x - 1 - threadIdx.x];
}
