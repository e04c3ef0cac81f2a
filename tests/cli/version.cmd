warpsafe --version
