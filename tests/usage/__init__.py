"""What calls cost: the ledger, prices and budgets."""
