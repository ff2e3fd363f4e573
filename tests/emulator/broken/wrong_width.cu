// What the arguments must fit: see the test.  The kernel itself is right.
extern "C" __global__ void wrong_width(const float* values, float factor, int n, float* scaled) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scaled[i] = factor * values[i];
}
