warpsafe help rnu
