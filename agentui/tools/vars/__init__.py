"""Working variables: what models keep between their calls, references to it in arguments, and rules to read on demand."""
