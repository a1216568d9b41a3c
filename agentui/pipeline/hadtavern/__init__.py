"""Pipelines of HadTavern (seed 003) become documents: what a file says (``file``), what it is here (``convert``, ``configs``),
and what could not be taken as it stood (``report``). Pure."""
