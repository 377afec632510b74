"""What scripts/plot_bench.py draws: a module for each kind of file, and what they share in reading, looks and lines."""
