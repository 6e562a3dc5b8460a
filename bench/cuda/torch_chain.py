"""The chain of bench_cuda in PyTorch, in double on the same card, as its authors' formulas have it: the rival."""
import json
import sys
import time

import torch


def run(name, rows, inputs, features, nodes, layers, outputs, repeats):
    torch.manual_seed(1)
    x = torch.rand(rows, inputs, dtype=torch.float64, device="cuda")
    y = torch.randn(rows, outputs, dtype=torch.float64, device="cuda")
    best = float("inf")
    failed = None
    for _ in range(repeats):
        torch.cuda.synchronize()
        began = time.perf_counter()
        scale = (3 / inputs) ** 0.5
        w = (torch.rand(inputs, features, dtype=torch.float64, device="cuda") * 2 - 1) * scale
        b = torch.rand(features, dtype=torch.float64, device="cuda") * 2 - 1
        z = torch.tanh(torch.addmm(b, x, w))
        e = y.clone()
        scale = 3 * (3 / features) ** 0.5
        try:
            for layer in range(layers):
                w = (torch.rand(features, nodes, dtype=torch.float64, device="cuda") * 2 - 1) * scale
                b = (torch.rand(nodes, dtype=torch.float64, device="cuda") * 2 - 1) * 3
                k = torch.sigmoid(torch.addmm(b, z, w))
                if layer == 0:
                    k = torch.cat([z, k], 1)
                g = k.T @ k
                g.diagonal().add_(1e-8)
                weights = torch.cholesky_solve(k.T @ e, torch.linalg.cholesky(g))
                e.addmm_(k, weights, alpha=-1)
        except torch.linalg.LinAlgError as error:
            failed = str(error).split(":")[0]
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    print(json.dumps({"case": "torch-" + name, "rows": rows, "inputs": inputs, "features": features, "nodes": nodes,
                      "layers": layers, "outputs": outputs, "seconds": best, "failed": failed}), flush=True)


CASES = {
    "small": (60000, 784, 100, 100, 50, 10, 5),
    "tall": (1000000, 1000, 100, 100, 50, 10, 3),
    "wide1000": (1000000, 1000, 100, 1000, 10, 10, 2),
    "wide5000": (1000000, 1000, 100, 5000, 4, 10, 2),
}
for case in sys.argv[1:] or CASES:
    run(case, *CASES[case])
