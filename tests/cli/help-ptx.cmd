warpsafe ptx --help
