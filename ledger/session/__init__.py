"""What an agent loop talks to: Ledger and Session, and the engine behind them."""
