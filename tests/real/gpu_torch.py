"""PyTorch: its own operators; with the argument `own`, a kernel of ours beside them."""
import sys

import torch

SOURCE = """
__global__ void our_scale(float *p, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i] *= a;
}
void our_scale_all(torch::Tensor x, double a)
{
	our_scale<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), (float)a, (int)x.numel());
}
"""

x = torch.arange(1 << 16, device="cuda", dtype=torch.float32)
y = (x * 2 + 1).sum()
z = torch.ones(256, 256, device="cuda") @ torch.ones(256, 256, device="cuda")
if len(sys.argv) > 1 and sys.argv[1] == "own":
    from torch.utils.cpp_extension import load_inline

    ours = load_inline("warpsafe_test", cpp_sources="void our_scale_all(torch::Tensor x, double a);",
                       cuda_sources=SOURCE, functions=["our_scale_all"], verbose=False)
    for _ in range(4):
        ours.our_scale_all(x, 2.0)
torch.cuda.synchronize()
print(f"{y.item():.0f} {z.sum().item():.0f} {x.sum().item():.0f}")
