"""The operation log: who changed what, and when (TavernHeadless' contract, 9)."""
