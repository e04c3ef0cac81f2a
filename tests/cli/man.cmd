# docs/warpsafe.1 is what the option table says
warpsafe help --man | diff "$ROOT/docs/warpsafe.1" - && echo same
