"""Tools of a chat: what its session allows, and the calls that its turns made."""
