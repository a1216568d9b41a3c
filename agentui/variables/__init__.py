"""Variables: five tiers of named JSON values that outlive a run; the nearest tier wins.

    page > floor > branch > chat > global

Seed 000 is the contract. What is durable stands in ``records``, what a run would like to be durable in ``staging``.
"""
