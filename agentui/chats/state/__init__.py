"""Session State: values that clients keep beside a chat, in namespaces of slots, on branches.

A write makes a *mutation*, which is never changed in what it says. A branch's *heads* point to the mutations that hold, and a
floor's *snapshot* to those that held when it was committed, so that forks, resets and versions of answers move pointers and
copy no values.
"""
