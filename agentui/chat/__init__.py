"""What every vendor means, as pure data: messages, requests, deltas and replies."""
