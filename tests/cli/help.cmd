warpsafe help
