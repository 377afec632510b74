"""What scripts/plot_bench.py draws: figures.py has the table of the figures; lines.py and bars.py draw them."""
