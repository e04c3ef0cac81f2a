warpsafe help cc
