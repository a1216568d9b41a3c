"""Who asks: accounts, their programs and keys, and how a request proves in whose name it is made. It knows no HTTP."""
