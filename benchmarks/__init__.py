"""Speed as ratios to a raw floor measured in the same run; run with `make bench`."""
