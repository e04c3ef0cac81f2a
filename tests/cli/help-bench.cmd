warpsafe help bench
