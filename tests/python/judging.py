"""When a result of plait is right: against eager, and eager in f64."""

import torch


def wrong(got, eager, exact, least=0.0, roundings=1):
    """What differs, or None. A result errs against f64 by at most twice what eager errs, or `least` where that is more,
    and by `roundings` to nearest, each half of eps times the largest element; in f64 by one more, which is that of what
    it is compared with."""
    if got.dtype != eager.dtype or got.shape != eager.shape:
        return f"{got.dtype}{list(got.shape)} in place of {eager.dtype}{list(eager.shape)}"
    if not got.is_floating_point():
        return None if torch.equal(got, eager) else f"{got.flatten()[:8].tolist()} in place of {eager.flatten()[:8].tolist()}"
    if not got.numel():
        return None
    rounded = exact.to(got.dtype)  # eager may overflow on the way, plait may not
    same = [torch.isclose(got, want, rtol=0, atol=0, equal_nan=True) for want in (eager, rounded)]
    special = ~(got.isfinite() & eager.isfinite() & exact.isfinite())
    if (special & ~same[0] & ~same[1]).any():
        at = (special & ~same[0] & ~same[1]).flatten().nonzero()[0].item()
        return f"{got.flatten()[at].item()} in place of {eager.flatten()[at].item()} at {at}"
    if special.all():
        return None
    got, eager, exact = (each[~special].double() for each in (got, eager, exact))
    info = torch.finfo(rounded.dtype)
    roundings += rounded.dtype == torch.float64
    rounding = info.eps / 2 * max(exact.abs().max().item(), info.tiny)
    errors = [(each - exact).abs() for each in (got, eager)]
    if errors[0].max() <= 2 * max(errors[1].max().item(), least) + roundings * rounding:
        return None
    at = errors[0].argmax()
    return f"{got[at].item()} in place of {exact[at].item()}, eager {eager[at].item()}, its error {errors[1].max().item():.3g}"
