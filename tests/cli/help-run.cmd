warpsafe run -h
