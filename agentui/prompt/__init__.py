"""What a model is sent for a turn of a chat: pure functions from data to data, without a database and without HTTP.

assemble(PromptInput) -> PreparedTurn      messages, and for each of them where it came from, what it costs and why it stayed
report.py                                  what the API shows of a prepared turn
SummaryCutter                              takes ``<summary>`` blocks out of an answer while it arrives

PromptInput ─▶ sections (macros replaced) ─▶ history: visible, whole turns ─▶ structure of each message ─▶ budget: oldest
turns go ─▶ neighbours joined ─▶ delivery ─▶ PreparedTurn
"""
