"""What prompts are made of beside the chat: characters, personas and the like, each made from the JSON that is kept of it.

The JSON is SillyTavern's own and is kept whole, so the nouns here are readings of it: whatever a member holds, a reading is
made, and a value that cannot be what it should is as if it were not there.
"""
