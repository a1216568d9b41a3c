"""The assembly in the order of a prompt preset, as SillyTavern makes it.

card and persona (macros replaced) ─▶ the preset's prompts in the order of their track; those within the chat by depth ─▶ the
history from its end, as far as the window goes ─▶ example dialogues, as far as it goes then ─▶ what the intent adds
"""
