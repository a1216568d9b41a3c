"""Regular expressions as JavaScript has them, and the scripts of SillyTavern that replace with them; pure."""
