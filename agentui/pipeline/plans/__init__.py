"""A pipeline understood once: what its file says (``spec``), what it becomes (``plan``), and how (``compile``)."""
