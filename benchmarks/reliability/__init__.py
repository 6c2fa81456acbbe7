"""Gates: what must hold on random problems, after kills and power loss, and under long use."""
