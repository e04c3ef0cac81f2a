warpsafe tm -h
