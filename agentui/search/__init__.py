"""The words index: messages and memories, found by their words, alike on both engines.

    index.py    writing: a chat gets a *space* when somebody wants to search it; its messages and memories are put in
    query.py    reading: the texts of some spaces that hold some words, ranked by ``agentui/words``

A chat without a space costs nothing and is not in it.
"""
