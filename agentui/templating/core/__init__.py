"""What every template language shares."""
