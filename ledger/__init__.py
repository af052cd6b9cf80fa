"""A durable ledger for the tool calls of LLM agents."""
