"""Running tools: requests of the engine and the two drivers that fulfil them, batches, outcomes, limits."""
