"""One walk over a plan: which nodes start when, what they see, by which ports they leave, and who answers."""
