"""What calls to models take and cost: their prices, the ledger of all of them, and the budgets that hold."""
