"""Writing memories (TavernHeadless' contract, 3.5 to 3.7, 3.11 and 3.12): what a turn queues or stores (``turns.py``), the jobs
(``jobs.py``), what a model is shown and asked (``material.py``, ``prompts.py``), what it may propose (``proposals.py``,
``quotes.py``), and what is made of that (``applying.py``). Who calls the model is ``agentui.turns.remembering``."""
